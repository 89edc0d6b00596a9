"""Generative against discriminative, as rows grow: classes with a shared covariance beside logistic regression.

Both have the same form, P(class | x) = softmax(W x + b). One reads W and b off means and a covariance, the other
searches for those under which the labels are most probable. Two worlds: one in which classes are normal with one
covariance, and one in which they are not (skewed columns), so that the first model is wrong however many rows it sees.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from bayeswater import GaussianClassifier

N_COLUMNS, N_TEST, N_SEEDS = 20, 4_000, 20
SIZES = (30, 60, 120, 250, 500, 1000, 2000)
MODELS = ("generative", "shrunk", "discriminative", "refined")

threadpool_limits(1)  # the matrices are small: threads would only wait for one another


def normal_rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes with one covariance, in which neighbouring columns are correlated."""
    y = rng.permutation(np.arange(n) % 2)
    place = np.arange(N_COLUMNS)
    covariance = 0.5 ** np.abs(place[:, None] - place)
    X = rng.standard_normal((n, N_COLUMNS)) @ np.linalg.cholesky(covariance).T
    return X + 0.45 * np.where(place % 3 == 0, 1.0, 0.0) * (2 * y[:, None] - 1), y


def skewed_rows(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Skewed columns, and labels drawn by a logistic regression: its form is right, and that of the classes is not."""
    X = rng.lognormal(0.0, 1.0, (n, N_COLUMNS))
    weights = np.where(np.arange(N_COLUMNS) % 3 == 0, 1.0, -0.4)
    log_odds = (X - np.exp(0.5)) @ weights  # exp(0.5) is the mean of the columns
    return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


def errors(world, n: int) -> np.ndarray:
    """Test errors in percent, for each seed and each of the models: (n_seeds, 4)."""
    found = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng([seed, n])
        (X, y), (X_test, y_test) = world(rng, n), world(rng, N_TEST)
        generative = GaussianClassifier(covariance="shared").fit(X, y)
        shrunk = GaussianClassifier(covariance="shared", shrinkage="oas").fit(X, y)
        discriminative = LogisticRegression(C=np.inf, max_iter=2000).fit(X, y)
        refined = generative.to_logistic_regression(X, y, C=np.inf, max_iter=2000)
        models = (generative, shrunk, discriminative, refined)
        found.append([1 - model.score(X_test, y_test) for model in models])
    return 100 * np.array(found)


for title, world in (("normal classes, one covariance", normal_rows), ("skewed columns", skewed_rows)):
    print(f"\n{title}: test error in percent, and its standard error over {N_SEEDS} seeds\n")
    print("| rows | " + " | ".join(MODELS) + " |\n|" + "---|" * (1 + len(MODELS)))
    for n in SIZES:
        found = errors(world, n)
        spread = found.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
        cells = [f"{mean:.1f} ± {error:.1f}" for mean, error in zip(found.mean(axis=0), spread, strict=True)]
        print(f"| {n} | " + " | ".join(cells) + " |")
