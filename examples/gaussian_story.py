"""From full covariance to naive Bayes: three pictures of the same points, and what more columns are worth.

Tumours, benign and malignant, by two of their measures. Every class is taken for a normal density; the three models
differ only in its covariance, and all are read from the same sums. Give a folder to have the pictures written there:

    python examples/gaussian_story.py docs/images
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from bayeswater import GaussianClassifier

TWO = ["mean compactness", "mean fractal dimension"]
FORMS = {"full": "a covariance for each class", "shared": "one for both", "diagonal": "none: naive Bayes"}
N_SPLITS = 40

threadpool_limits(1)  # the matrices are small: threads would only wait for one another

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]


def errors_in_percent(columns: list[str], n_learned: int) -> dict[str, np.ndarray]:
    """Errors on the rows learned from and on all others, for each form and split: (n_splits, 2)."""
    table = X[columns].to_numpy()
    errors: dict[str, list[list[float]]] = {form: [] for form in FORMS}
    for seed in range(N_SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(
            table, y, train_size=n_learned, stratify=y, random_state=seed
        )
        model = GaussianClassifier().fit(X_train, y_train)
        for form in FORMS:
            other = model.with_covariance(form)
            errors[form].append([1 - other.score(X_train, y_train), 1 - other.score(X_test, y_test)])
    return {form: 100 * np.array(found) for form, found in errors.items()}


def write_pictures(folder: Path) -> None:
    """Draw the three models, and the first one once more with costs."""
    import matplotlib
    from PIL import Image

    matplotlib.use("agg")
    from bayeswater.plots import GaussianDisplay

    model = GaussianClassifier().fit(X[TWO], y)
    pictures: dict[str, dict[str, object]] = {form: {} for form in FORMS}
    pictures["loss"] = {"loss": {"benign": {"malignant": 10}, "malignant": {"benign": 1}}}
    for name, options in pictures.items():
        other = model.with_covariance(name if name in FORMS else "full")
        display = GaussianDisplay.from_estimator(other, X[TWO], y, **options)
        path = folder / f"gaussian_{name}.png"
        display.figure_.savefig(path, dpi=110)
        Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)  # a third of the bytes


print(f"{len(y)} tumours by {' and '.join(TWO)}; errors of every row by a model without it")
model = GaussianClassifier().fit(X[TWO], y)
for form, words in FORMS.items():
    other = model.with_covariance(form)
    wrong = other.classes_[other.loo_predict_log_proba(X[TWO], y).argmax(axis=1)] != y
    print(f"  {form:9} {words:28} {other.n_parameters:3} parameters   {100 * wrong.mean():4.1f} %")

print(f"\nErrors on the tumours learned from, and on all others, with the standard error over {N_SPLITS} splits")
for n_learned in (100, 300):
    for columns in (TWO, list(X)):
        errors = errors_in_percent(columns, n_learned)
        for form, found in errors.items():
            (seen, unseen), error = found.mean(axis=0), found[:, 1].std(ddof=1) / np.sqrt(N_SPLITS)
            print(
                f"  {n_learned} rows, {len(columns):2} columns, {form:9} {seen:4.1f} %  {unseen:4.1f} +- {error:.1f} %"
            )
        more = errors["full"][:, 1] - errors["shared"][:, 1]
        print(f"    full over shared, split by split: {more.mean():+.1f} +- {more.std(ddof=1) / np.sqrt(N_SPLITS):.1f}")

if len(sys.argv) > 1:
    write_pictures(Path(sys.argv[1]))
