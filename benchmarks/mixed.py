"""A mixed table of numbers, categories and a text, beside the nearest thing that is built by hand today.

By hand: a naive Bayes of scikit-learn for each kind of column (GaussianNB; OrdinalEncoder and CategoricalNB;
CountVectorizer and MultinomialNB), and their joint log-probabilities added up, the class prior once. The package
mixed-naive-bayes, where it is installed, knows numbers and coded categories, and no text.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from scipy.special import softmax
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder

from bayeswater import NaiveBayes
from benchmarks.data import SEED
from benchmarks.timing import medians_in_turns

N_ROWS = 1_000_000
N_NUMBERS, N_CATEGORIES, N_WORDS, N_CLASSES = 10, 10, 8, 3
VOCABULARY = 20_000
DECODING_AT_MOST = 2.0
"""Times the decoding of the same columns that a fit from Parquet may take."""


def mixed(repeats: int, share: float) -> Iterator[dict[str, Any]]:
    """Time fit and predict on a frame of pandas, ours and by hand, and a fit from Parquet beside its decoding."""
    table = mixed_table(int(N_ROWS * share))
    frame, y = table.drop_columns(["class"]).to_pandas(), np.asarray(table["class"])
    columns = {
        "numbers": [name for name in frame if name.startswith("number")],
        "categories": [name for name in frame if name.startswith("category")],
    }
    plain = [*columns["numbers"], *columns["categories"]]
    for what, names, peers in (
        ("10 numbers, 10 categories, a text of 8 words", list(frame), {"by hand": ByHand}),
        ("10 numbers, 10 categories", plain, {"by hand": ByHand, **mixed_naive_bayes()}),
    ):
        X = frame[names]
        models: dict[str, Callable[[], Any]] = {"ours": NaiveBayes, **peers}
        fits = {name: (lambda make=make, X=X: make().fit(X, y)) for name, make in models.items()}
        yield from _compared(f"fit, {len(X):,} rows, {what}", medians_in_turns(fits, repeats))
        fitted = {name: make().fit(X, y) for name, make in models.items()}
        predictions = {name: (lambda model=model, X=X: model.predict_proba(X)) for name, model in fitted.items()}
        yield from _compared(f"predict_proba, {len(X):,} rows, {what}", medians_in_turns(predictions, repeats))
    yield _from_parquet(table.select([*plain, "class"]), repeats)


def _compared(job: str, seconds: dict[str, float]) -> Iterator[dict[str, Any]]:
    for peer, time in seconds.items():
        if peer != "ours":
            yield {
                "job": job,
                "ours ms": 1e3 * seconds["ours"],
                "beside": peer,
                "beside ms": 1e3 * time,
                "ratio": time / seconds["ours"],
            }


def _from_parquet(table: pa.Table, repeats: int) -> dict[str, Any]:
    from bayeswater.data.sources.recognising import open_source

    with TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.parquet"
        pa.parquet.write_table(table, path)

        def fit() -> None:
            source = open_source(str(path))
            source.keeps_dictionaries = True
            batches = source.batches()
            NaiveBayes().fit_batches((batch.drop_columns(["class"]), batch["class"]) for batch in batches)

        seconds = medians_in_turns({"fit": fit, "decode": lambda: pa.parquet.read_table(path)}, repeats)
    times = seconds["fit"] / seconds["decode"]
    return {
        "job": f"fit from Parquet, {table.num_rows:,} rows, 10 numbers, 10 categories",
        "ours ms": 1e3 * seconds["fit"],
        "beside": "pyarrow decodes",
        "beside ms": 1e3 * seconds["decode"],
        "ratio": 1 / times,
        "times": times,
        "at most": DECODING_AT_MOST,
        "reached": times <= DECODING_AT_MOST,
    }


class ByHand:
    """What is built with scikit-learn today: three classifiers, whose joint log-probabilities are added."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "ByHand":
        self.numbers = [name for name in X if name.startswith("number")]
        self.categories = [name for name in X if name.startswith("category")]
        self.gaussian = GaussianNB().fit(X[self.numbers], y)
        self.encoder = OrdinalEncoder().fit(X[self.categories])
        self.categorical = CategoricalNB().fit(self.encoder.transform(X[self.categories]), y)
        self.multinomial = None
        if "text" in X:
            self.vectorizer = CountVectorizer()
            self.multinomial = MultinomialNB().fit(self.vectorizer.fit_transform(X["text"]), y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        joint = self.gaussian.predict_joint_log_proba(X[self.numbers])
        joint += self.categorical.predict_joint_log_proba(self.encoder.transform(X[self.categories]))
        joint -= self.categorical.class_log_prior_
        if self.multinomial is not None:
            joint += self.multinomial.predict_joint_log_proba(self.vectorizer.transform(X["text"]))
            joint -= self.multinomial.class_log_prior_
        return softmax(joint, axis=1)


def mixed_naive_bayes() -> dict[str, Callable[[], Any]]:
    """The package of that name, where it is installed."""
    if find_spec("mixed_naive_bayes") is None:
        return {}
    from mixed_naive_bayes import MixedNB

    class Mixed:
        def fit(self, X: pd.DataFrame, y: np.ndarray) -> "Mixed":
            self.categories = [name for name in X if name.startswith("category")]
            self.encoder = OrdinalEncoder().fit(X[self.categories])
            _, codes = np.unique(y, return_inverse=True)
            self.model = MixedNB(categorical_features=range(N_NUMBERS, X.shape[1])).fit(self._coded(X), codes)
            return self

        def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
            return self.model.predict_proba(self._coded(X))

        def _coded(self, X: pd.DataFrame) -> np.ndarray:
            numbers = X.drop(columns=self.categories).to_numpy()
            return np.hstack([numbers, self.encoder.transform(X[self.categories])])

    return {"mixed-naive-bayes": Mixed}


def mixed_table(n_rows: int) -> pa.Table:
    """Normal, log-normal and Poisson numbers, categories of 4 to 31 states, and texts of 8 words by Zipf's law."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, N_CLASSES, n_rows)
    columns: dict[str, Any] = {}
    for j in range(N_NUMBERS):
        x = rng.standard_normal(n_rows) + 0.3 * y
        columns[f"number {j}"] = (x, 100 * np.exp(0.5 * x), rng.poisson(3 + y).astype(np.float64))[j % 3]
    for j in range(N_CATEGORIES):
        n_states = 4 + 3 * j
        code = (rng.integers(0, n_states, n_rows) + y * (rng.random(n_rows) < 0.2)) % n_states
        columns[f"category {j}"] = np.array([f"state {code}" for code in range(n_states)])[code]
    words = np.array([f"word{rank}" for rank in range(VOCABULARY)])
    rank = np.minimum(rng.zipf(1.3, (n_rows, N_WORDS)) + 5 * y[:, None], VOCABULARY - 1)
    columns["text"] = [" ".join(row) for row in words[rank]]
    return pa.table({**columns, "class": np.array(["first", "second", "third"])[y]})
