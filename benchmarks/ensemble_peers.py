"""The peers of `BayesEnsemble`, each with its defaults, on the same cells, on one thread.

    random forest         200 trees, one-hot; votes are smoothed, (200 p + 1/K) / 201
    logistic regression   one-hot categories, standardised numbers, up to 1000 iterations
    boosting              HistGradientBoostingClassifier of scikit-learn, categories as such; its defaults break on
                          classes of few rows, so it comes with l2_regularization=1 and no early stopping, too
    LightGBM, XGBoost     categories as such
    CatBoost              categories as such
    EBM                   the explainable boosting machine of InterpretML, categories as such

Those that are not installed are left out.

Beside each is the same one with a temperature, from rows out of three folds of what it learns from; of more than 300
rows one of the folds is judged, which is enough for one number.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from bayeswater.decision.calibration_maps import Temperature
from bayeswater.models.comparing.peers import MOST_ITERATIONS, N_TREES, OnMixedTable, native, one_hot

FOREST, LOGISTIC, CATBOOST, EBM = "random forest", "logistic regression", "CatBoost", "EBM"
BOOSTING, STEADY = "boosting", "boosting, l2=1"
INSTALLED_AS = {"LightGBM": "lightgbm", "XGBoost": "xgboost", CATBOOST: "catboost", EBM: "interpret"}
ALL_PEERS = (FOREST, LOGISTIC, BOOSTING, STEADY, *INSTALLED_AS)
ABSENT = tuple(name for name, module in INSTALLED_AS.items() if find_spec(module) is None)
PEERS = tuple(name for name in ALL_PEERS if name not in ABSENT)
COOLED = ", temperature"

LEAST_PROBABILITY = 1e-6
N_FOLDS, FEW_ROWS, N_SETTINGS = 3, 300, 20


class OfCells(ClassifierMixin, BaseEstimator):
    """A classifier that knows categories, on numbers and then codes side by side."""

    def __init__(self, name: str, n_numbers: int, settings: dict[str, Any]) -> None:
        self.name, self.n_numbers, self.settings = name, n_numbers, settings

    def fit(self, X: Any, y: Any) -> "OfCells":
        """Learn."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        categories = list(range(self.n_numbers, X.shape[1]))
        self.most_ = X[:, categories].max(axis=0)
        how: dict[str, Any] = {}
        if self.name == "LightGBM":
            from lightgbm import LGBMClassifier

            self.model_ = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)
            how = {"categorical_feature": categories}
        elif self.name == "XGBoost":
            from xgboost import XGBClassifier

            types = ["q"] * self.n_numbers + ["c"] * len(categories)
            self.model_ = XGBClassifier(n_jobs=1, random_state=0, feature_types=types, enable_categorical=True)
        elif self.name == CATBOOST:
            from catboost import CatBoostClassifier

            kept = {"thread_count": 1, "random_seed": 0, "verbose": False, "allow_writing_files": False}
            self.model_ = CatBoostClassifier(cat_features=categories, **kept, **self.settings)
        else:
            from interpret.glassbox import ExplainableBoostingClassifier

            kinds = ["continuous"] * self.n_numbers + ["nominal"] * len(categories)
            self.model_ = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1, random_state=0)
        self.model_.fit(self._taken(X), codes, **how)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class: (n_rows, n_classes)."""
        return np.asarray(self.model_.predict_proba(self._taken(X)), dtype=np.float64)

    def _taken(self, X: np.ndarray) -> Any:
        """Cells in the form that it takes: new codes are missing for XGBoost, and codes are no floats for CatBoost."""
        X = X.copy()
        codes = X[:, self.n_numbers :]
        if self.name == "XGBoost":
            codes[codes > self.most_] = np.nan
        if self.name == CATBOOST and codes.shape[1]:
            cells = X.astype(object)
            cells[:, self.n_numbers :] = codes.astype(np.int64)
            return cells
        return X


def peer(name: str, **settings: Any) -> OnMixedTable:
    """Give a peer that has not learned yet."""
    if name == FOREST:
        forest = RandomForestClassifier(N_TREES, n_jobs=1, random_state=0)
        return OnMixedTable(partial(one_hot, forest))
    if name == LOGISTIC:
        return OnMixedTable(partial(one_hot, LogisticRegression(max_iter=MOST_ITERATIONS)))
    if name in (BOOSTING, STEADY):
        steady = {"l2_regularization": 1.0, "early_stopping": False} if name == STEADY else {}
        return OnMixedTable(partial(native, HistGradientBoostingClassifier(random_state=0, **steady)))
    return OnMixedTable(lambda n_numbers, n_codes: make_pipeline(OfCells(name, n_numbers, settings)))


def log_proba(name: str, proba: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities; votes of a forest are smoothed."""
    if name == FOREST:
        proba = (N_TREES * proba + 1 / proba.shape[1]) / (N_TREES + 1)
    return np.log(np.maximum(proba, LEAST_PROBABILITY))


def temperature(name: str, classes: np.ndarray, rows: Any, labels: np.ndarray) -> Temperature:
    """Fit a temperature to rows that were not learned from; as ours, not to rows alone in their class."""
    codes = np.searchsorted(classes, labels)
    honest = out_of_fold(lambda: peer(name), rows, codes, len(classes))
    judged = np.isfinite(honest).all(axis=1) & (np.bincount(codes)[codes] > 1)
    return Temperature.fit(log_proba(name, honest[judged]), codes[judged])


def out_of_fold(
    build: Callable[[], Any], rows: Any, codes: np.ndarray, n_classes: int, n_judged: int | None = None
) -> np.ndarray:
    """Probabilities of rows by models that have not seen them; NaN where a fold is not judged."""
    n_judged = n_judged or (1 if len(codes) > FEW_ROWS else N_FOLDS)
    honest = np.full((len(codes), n_classes), np.nan)
    splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(codes, codes)
    for learn, judge in islice(splits, n_judged):
        model = build().fit(rows.iloc[learn], codes[learn])
        proba = np.zeros((len(judge), n_classes))
        proba[:, model.classes_] = model.predict_proba(rows.iloc[judge])
        honest[judge] = proba
    return honest


def tuned(rows: Any, labels: np.ndarray) -> OnMixedTable:
    """Give a CatBoost with the best of some random settings, by the log-loss out of folds."""
    classes, codes = np.unique(labels, return_inverse=True)
    rng = np.random.default_rng(0)
    best: tuple[float, dict[str, Any]] = (np.inf, {})
    for _ in range(N_SETTINGS):
        settings = {
            "iterations": int(rng.choice([100, 200, 400, 800])),
            "learning_rate": float(np.exp(rng.uniform(np.log(0.02), np.log(0.3)))),
            "depth": int(rng.integers(3, 9)),
            "l2_leaf_reg": float(np.exp(rng.uniform(0, np.log(30)))),
            "random_strength": float(rng.uniform(0, 3)),
            "bagging_temperature": float(rng.uniform(0, 2)),
        }
        build = partial(peer, CATBOOST, **settings)
        honest = out_of_fold(build, rows, codes, len(classes), n_judged=N_FOLDS)
        loss = -np.log(np.maximum(honest[np.arange(len(codes)), codes], LEAST_PROBABILITY)).mean()
        best = min(best, (float(loss), settings), key=lambda found: found[0])
    return peer(CATBOOST, **best[1]).fit(rows, labels)
