"""A tour in half a minute: what a model has seen, how sure it is, how it forgets, and how fast it counts.

All data come with scikit-learn or are made here.
"""

import time
import warnings

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.naive_bayes import GaussianNB as ScikitLearnGaussianNB

from bayeswater import BernoulliNB, Beta, CategoricalNB, GaussianNB

SHADES = np.array(list(" .:-=+*#%@"))


def main() -> None:
    """Show the parts of the tour, one after the other."""
    digits_that_it_has_learned()
    a_table_of_words()
    leave_one_out_without_refits()
    merging_and_forgetting()
    counting_fast()


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{text}\033[0m")


def digits_that_it_has_learned() -> None:
    """Draw P(pixel is on | digit), then rows that the model makes up itself."""
    X, y = load_digits(return_X_y=True)
    model = BernoulliNB(binarize=7).fit(X, y)
    title("1. A model is its counts: P(pixel is on | digit), from 1797 handwritten digits")
    show_images(np.exp(model.feature_log_prob_))
    drawn, labels = model.sample(10, random_state=3)
    title("   ... and ten digits that the model draws from them: " + " ".join(map(str, labels)))
    show_images(drawn)


def show_images(images: np.ndarray) -> None:
    """Print images of 8 x 8 pixels, each between 0 and 1, side by side."""
    shades = SHADES[(np.asarray(images) * (len(SHADES) - 1)).round().astype(int)].reshape(-1, 8, 8)
    for row in range(8):
        print("   " + "  ".join("".join(image[row]) for image in shades))


def a_table_of_words() -> None:
    """Fit categories as they are, with a missing cell, an unseen one and a prior from earlier throws."""
    title("2. Categories as they come: strings, holes, values never seen, and what you knew before")
    X = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", "cool"], ["cloudy", "hot"], ["cloudy", None]]
    y = ["stay", "stay", "go", "stay", "go", "go"]
    model = CategoricalNB(missing="ignore").fit(X, y)
    for name, table in model.tables().items():
        print_table(f"   {name}", table)
    rows = [["cloudy", "mild"], [None, "hot"], ["snow", "hot"]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        probabilities = model.predict_proba(rows)
    for row, probability in zip(rows, probabilities, strict=True):
        told = ", ".join(f"{label} {p:.2f}" for label, p in zip(model.classes_, probability, strict=True))
        print(f"   {row!s:22} -> {told}")
    print(f"   warning: {caught[0].message}")
    coin = CategoricalNB(columns={0: {"prior": Beta({"heads": 500, "tails": 500})}})
    coin.fit([["heads"]] * 20 + [["tails"]] * 80, ["coin"] * 100)
    heads = np.exp(coin.feature_log_prob_[0][0, 0])
    print(f"   a coin seen 1000 times before, then 20 heads in 100 throws: P(heads) = {heads:.4f} = 520/1100")


def print_table(name: str, table: object) -> None:
    """Print an Arrow table with aligned columns."""
    columns = table.to_pydict()
    print(f"{name:<14}" + "".join(f"{title:>16}" for title in list(columns)[1:]))
    for row in zip(*columns.values(), strict=True):
        print(f"     {row[0]:<9}" + "".join(f"{value:>16.3f}" for value in row[1:]))


def leave_one_out_without_refits() -> None:
    """Score every row against the model without it, and compare with as many refits."""
    title("3. Honest accuracy at the price of one prediction: exact leave-one-out")
    X, y = load_wine(return_X_y=True)
    start = time.perf_counter()
    model = GaussianNB().fit(X, y)
    log_proba = model.loo_predict_log_proba(X, y)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    rows = np.arange(len(y))
    refits = np.array([GaussianNB().fit(X[rows != i], y[rows != i]).predict_log_proba(X[i : i + 1])[0] for i in rows])
    theirs = time.perf_counter() - start
    print(
        f"   accuracy on the rows themselves {model.score(X, y):.3f}, left out {np.mean(log_proba.argmax(1) == y):.3f}"
    )
    print(f"   log-loss left out {-log_proba[rows, y].mean():.4f}; by {len(y)} refits {-refits[rows, y].mean():.4f}")
    print(f"   {1e3 * ours:.1f} ms against {1e3 * theirs:.0f} ms for {len(y)} refits")


def merging_and_forgetting() -> None:
    """Add and subtract models."""
    title("4. Models add and subtract")
    X, y = load_digits(return_X_y=True)
    whole = BernoulliNB(binarize=7).fit(X, y)
    merged = BernoulliNB(binarize=7).fit(X[:900], y[:900]) + BernoulliNB(binarize=7).fit(X[900:], y[900:])
    print(f"   half + half == whole, to the last bit: {merged.statistics_ == whole.statistics_}")
    whole.forget(X[:100], y[:100])
    never = BernoulliNB(binarize=7).fit(X[100:], y[100:])
    print(f"   100 rows forgotten == never having seen them: {whole.statistics_ == never.statistics_}")


def counting_fast() -> None:
    """Fit a million rows beside scikit-learn."""
    title("5. One reading of the data: a million rows of twenty numbers")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000_000, 20)), rng.integers(0, 5, 1_000_000)
    GaussianNB().fit(X[:50_000], y[:50_000]).predict(X[:50_000])  # compiles the loops, or loads them
    for name, model in (("bayeswater", GaussianNB()), ("scikit-learn", ScikitLearnGaussianNB())):
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        model.predict_proba(X)
        done = time.perf_counter()
        print(f"   {name:<13} fit {1e3 * (fitted - start):7.0f} ms   predict_proba {1e3 * (done - fitted):7.0f} ms")


if __name__ == "__main__":
    main()
