"""Whatever is refused is refused in words, and leaves the model as it was, bit for bit.

Every case is one call that must not succeed, made on a new model and on one that has learned something.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from bayeswater import (
    TAN,
    BayesError,
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    DataError,
    Dirichlet,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NormalInverseGamma,
    ParameterError,
    ResourceLimitError,
    SchemaError,
    StatisticsError,
)

X = np.array([[0, 1], [1, 2], [2, 0], [1, 1], [0, 2], [2, 2]])
Y = np.array([0, 0, 0, 1, 1, 1])
FRAME = pd.DataFrame(X, columns=["a", "b"])
COLOURS = pd.DataFrame({"colour": ["red", "blue", "red", "blue"], "size": ["S", "M", "L", "S"]})
NAN, INF = float("nan"), float("inf")
MODELS = [GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
COUNTERS = [MultinomialNB, ComplementNB]
SMOOTHED = [MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]


def cell(value, row=2, column=1):
    table = X.astype(float)
    table[row, column] = value
    return table


@dataclass(frozen=True)
class Case:
    """A call that is refused: of which model, what is raised, and words that the message must hold."""

    name: str
    kind: type
    call: Any
    error: type
    message: str
    parameters: dict[str, Any] = field(default_factory=dict)
    learned: Any = None  # rows that the model has learned from, if not X and Y
    fitted_only: bool = False
    new_only: bool = False

    def __str__(self):
        return f"{self.kind.__name__}-{self.name}"


def fits(name, kinds, table, error, message, y=Y, **parameters):
    """The table is refused by fit, and by partial_fit."""
    for kind in kinds:
        yield Case(f"fit {name}", kind, lambda m: m.fit(table, y), error, message, parameters)
        yield Case(f"partial_fit {name}", kind, lambda m: m.partial_fit(table, y, [0, 1]), error, message, parameters)


def predicts(name, kinds, table, error, message, learned=None, **parameters):
    """The table is refused by what predicts: classes, and what they are chosen by."""
    for kind in kinds:
        for method in ("predict", "predict_joint_log_proba"):
            call = lambda m, method=method: getattr(m, method)(table)  # noqa: E731
            yield Case(f"{method} {name}", kind, call, error, message, parameters, learned, fitted_only=True)


def parameter(name, kinds, value, message, learned=None):
    """The value of a parameter is refused by fit, and by predict once it is set."""
    rows = (X, Y) if learned is None else learned
    for kind in kinds:
        yield Case(f"{name}={value!r}", kind, lambda m: m.fit(*rows), ParameterError, message, {name: value}, learned)


TABLES = [
    *fits("NaN", MODELS[:-1], cell(NAN), DataError, r"Input X contains NaN: nan in row 2, column 'x1'; fill it"),
    *fits("NaN", [CategoricalNB], cell(NAN), DataError, r"NaN: row 2 of column 'x1' is missing.*missing='ignore'"),
    *fits(
        "inf",
        MODELS[:-1],
        cell(INF),
        DataError,
        r"contains infinity: inf in row 2, column 'x1'; replace it by a finite",
    ),
    *fits("-inf", [GaussianNB, BernoulliNB], cell(-INF), DataError, r"contains infinity: -inf in row 2, column 'x1'"),
    *fits("inf", [CategoricalNB], cell(INF), DataError, r"contains infinity: column 'x1'; a category must be"),
    *fits("inf ignoring NaN", [GaussianNB], cell(INF), DataError, r"or by NaN if it is missing", missing="ignore"),
    *fits(
        "negative", COUNTERS, cell(-3.0), DataError, r"Negative values .*-3.0 in row 2, column 'x1'; counts start at 0"
    ),
    *fits(
        "negative",
        [CategoricalNB],
        cell(-3.0),
        DataError,
        r"-3.0 in row 2, column 'x1'; codes of categories start at 0",
    ),
    *fits(
        "no rows", MODELS, np.zeros((0, 2)), DataError, r"0 sample\(s\) \(shape=\(0, 2\)\)", y=np.zeros(0, dtype=int)
    ),
    *fits("no columns", MODELS, np.zeros((6, 0)), DataError, r"0 feature\(s\) \(shape=\(6, 0\)\)"),
    *fits("one dimension", MODELS, X[:, 0], DataError, r"Expected 2D array, got 1D array instead"),
    *fits("three dimensions", MODELS, X[None], DataError, r"Found array with dim 3"),
    *fits("ragged", MODELS, [[1, 2], [3]], DataError, r"X is ragged: row 1 has 1 cell\(s\), and row 0 has 2"),
    *fits(
        "strings",
        MODELS[:-1],
        np.array([["a", "b"]] * 6),
        DataError,
        r"column 'x0' holds .*'a' in row 0.*use NaiveBayes",
    ),
    *fits("times", MODELS[:-1], X.astype("M8[D]"), DataError, r"X holds datetime64\[D\], not numbers; convert it"),
    *fits("a dict", MODELS, {"a": [1], "b": [2]}, DataError, r"X is a dict.*give pandas.DataFrame\(X\)"),
    *fits("a lazy frame", MODELS, pl.LazyFrame({"a": [1]}), DataError, r"LazyFrame.*give X.collect\(\)"),
    *fits("NaN without a rule", COUNTERS, cell(NAN), DataError, r"column 'x1'; fill it, or leave the row out$"),
    *fits(
        "sparse NaN ignoring it",
        [BernoulliNB],
        sparse.csr_array(cell(NAN)),
        DataError,
        r"use .toarray\(\): only a dense X",
        missing="ignore",
    ),
    *fits(
        "a sparse frame",
        [GaussianNB],
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X)),
        TypeError,
        r"use '.sparse.to_dense\(\)'",
    ),
    *fits("complex", MODELS, X * 1j, DataError, r"Complex data not supported"),
    *fits("fewer rows than labels", MODELS, X[:4], DataError, r"X has 4 rows, y has 6; give one label for each row"),
    *fits("sparse", [GaussianNB, CategoricalNB], sparse.csr_array(X), TypeError, r"Sparse data was passed for X"),
    *fits("np.matrix", MODELS, np.matrix(X), TypeError, r"np.matrix is not supported"),
    *fits("sparse NaN", SMOOTHED[:-1], sparse.csr_array(cell(NAN)), DataError, r"NaN: nan in row 2, column 'x1'"),
    *fits("text", MODELS[:-1], COLOURS, DataError, r"column 'colour' holds .*string.*; convert it, or use NaiveBayes"),
    *fits(
        "two types",
        MODELS,
        pd.DataFrame({"u": [1, 2], "v": ["x", 1]}),
        DataError,
        r"'v' mixes values of types \['int', 'str'\]",
    ),
    *fits("two types", [CategoricalNB], [["x", 1], [1, 1]], DataError, r"'x0' mixes values of types \['int', 'str'\]"),
    *fits(
        "lists",
        [CategoricalNB],
        pd.DataFrame({"u": [1, 2], "v": [[1], [2]]}),
        DataError,
        r"column 'v' holds list<.*>; a category",
    ),
    *fits(
        "one name twice",
        MODELS,
        FRAME.set_axis(["a", "a"], axis=1),
        SchemaError,
        r"'a' (occurs more than once|2 times)",
    ),
    *fits(
        "identifiers", [CategoricalNB], X * 10**9, ResourceLimitError, r"column 'x0' would take .* GiB.*an identifier"
    ),
    *fits(
        "not 0 and 1",
        [BernoulliNB],
        X,
        DataError,
        r"X holds 2.0 in row 1, column 'x1', but binarize=None",
        binarize=None,
    ),
    *fits("far apart", [GaussianNB], cell(1e200), DataError, r"squares of column 'x1' overflow.*divide the column"),
]

LABELS = [
    *fits("y=None", MODELS, X, DataError, r"requires y to be passed, but the target y is None", y=None),
    *fits("no labels", MODELS, X, DataError, r"X has 6 rows, y has 0|0 labels", y=[]),
    *fits(
        "a label missing",
        MODELS,
        X,
        DataError,
        r"label of row 1 is missing .* leave these rows out",
        y=[0, NAN, 0, 1, 1, 1],
    ),
    *fits(
        "None",
        MODELS,
        X,
        DataError,
        r"label of row 5 is missing \(None; 1 missing in all\)",
        y=["a", "b", "a", "b", "a", None],
    ),
    *fits(
        "two types", MODELS, X, DataError, r"y mixes labels of types \['int', 'str'\]; give", y=["a", 1, "a", 1, "a", 1]
    ),
    *fits(
        "continuous", MODELS, X, DataError, r"label type: continuous. The label of row 3 is 0.5", y=[0, 1, 0, 0.5, 1, 0]
    ),
    *fits("infinite", MODELS, X, DataError, r"y contains infinity: the label of row 0", y=[INF, 1, 0, 0, 1, 0]),
    *fits("two columns", MODELS, X, DataError, r"y should be a 1d array, got an array of shape \(6, 2\)", y=X),
    *fits("too many", MODELS, X, DataError, r"X has 6 rows, y has 7", y=[0, 1] * 3 + [0]),
]


def weighted(name, weight, message, error=DataError):
    for kind in MODELS:
        yield Case(f"weight {name}", kind, lambda m: m.fit(X, Y, sample_weight=weight), error, message)


WEIGHTS = [
    *weighted(
        "negative", [1, 1, -2, 1, 1, 1], r"sample_weight is -2 in row 2; weights must be finite and not negative"
    ),
    *weighted("NaN", [1, 1, 1, 1, 1, NAN], r"sample_weight is nan in row 5"),
    *weighted("infinite", [1, INF, 1, 1, 1, 1], r"sample_weight is inf in row 1"),
    *weighted("zero", [0] * 6, r"sample_weight is zero for every row; at least one"),
    *weighted("short", [1, 2], r"sample_weight.shape == \(2,\), expected \(6,\)"),
    *weighted("two columns", [[1, 1]] * 6, r"Sample weights must be 1D array or scalar"),
    *weighted("text", ["a"] * 6, r"sample_weight must hold numbers"),
]

PRIOR = {"prior": NormalInverseGamma()}
COLOUR_ROWS = (COLOURS, [0, 0, 1, 1])
PARAMETERS = [
    *[
        c
        for v in (-1.0, NAN, INF, [1, -1], 1e308, [1, 1e308])
        for c in parameter("alpha", SMOOTHED, v, r"All values in alpha must be greater than 0. Got")
    ],
    *parameter("alpha", SMOOTHED, "much", r"alpha is 'much'; give a number, or one number for each feature"),
    *parameter("alpha", SMOOTHED, [1.0, 2.0, 3.0], r"Got 3 elements instead of 2"),
    *parameter("alpha", SMOOTHED, [[1.0, 2.0]], r"Got \(1, 2\) elements instead of 2"),
    *parameter("class_alpha", MODELS[:1], -0.5, r"class_alpha is -0.5; it must be a number from 0 to"),
    *parameter("class_alpha", MODELS[:1], 1e308, r"class_alpha is 1e\+308; it must be a number from 0 to 1e\+300"),
    *parameter("class_alpha", [MultinomialNB, BernoulliNB, CategoricalNB], "one", r"class_alpha is 'one'"),
    *parameter("var_smoothing", [GaussianNB], -1e-9, r"var_smoothing is -1e-09; it must be a finite number, 0 or more"),
    *parameter("var_smoothing", [GaussianNB], NAN, r"var_smoothing is nan"),
    *parameter("var_smoothing", [GaussianNB], "tiny", r"var_smoothing is 'tiny'"),
    *parameter(
        "priors", [GaussianNB], [0.5, 0.4], r"sum of the priors should be 1: priors is \[0.5, 0.4\], with sum 0.9"
    ),
    *parameter("priors", [GaussianNB], [1.5, -0.5], r"Priors must be non-negative: priors is \[1.5, -0.5\]"),
    *parameter("class_prior", SMOOTHED, [5, -1], r"Priors must be non-negative: class_prior is"),
    *parameter("class_prior", SMOOTHED, [5, 5], r"The sum of the priors should be 1: class_prior is"),
    *parameter(
        "class_prior", SMOOTHED, [1.0], r"Number of priors must match number of classes: class_prior has shape \(1,\)"
    ),
    *parameter("class_prior", SMOOTHED, "uniform", r"class_prior is 'uniform'; give one probability for each class"),
    *parameter("fit_prior", SMOOTHED, "no", r"fit_prior is 'no'; it must be True or False"),
    *parameter("force_alpha", SMOOTHED, None, r"force_alpha is None; it must be True or False"),
    *parameter("norm", [ComplementNB], "l1", r"norm is 'l1'; it must be True or False"),
    *parameter("missing", [GaussianNB, BernoulliNB], "state", r"missing is 'state'; it can be 'error' or 'ignore'"),
    *parameter("missing", [CategoricalNB], "drop", r"missing is 'drop'; it can be 'error' or 'ignore' or 'state'"),
    *parameter("unseen", [CategoricalNB], "warn", r"unseen is 'warn'; it can be 'ignore' or 'error'"),
    *[
        c
        for v in (-1, NAN, INF, "half")
        for c in parameter("binarize", [BernoulliNB], v, r"binarize is .*; it must be None or a finite")
    ],
    *parameter(
        "min_categories", [CategoricalNB], 2.5, r"'min_categories' should have integral type. Got float64 instead"
    ),
    *parameter(
        "min_categories", [CategoricalNB], [3], r"'min_categories' should have shape \(2,\) .* Got \(1,\) instead"
    ),
    *parameter("min_categories", [CategoricalNB], 0, r"min_categories is 0; every column has 1 category or more"),
    *parameter("columns", [GaussianNB, BernoulliNB, CategoricalNB], "a", r"columns is 'a'; give a dict"),
    *parameter("columns", [GaussianNB], {"height": PRIOR}, r"columns names 'height', but .* there are \['x0', 'x1'\]"),
    *parameter("columns", [GaussianNB], {2: PRIOR}, r"columns names 2, but there is no such column"),
    *parameter("columns", [GaussianNB], {0: {}}, r"columns\[0\] is {}; give {'prior': NormalInverseGamma\(...\)}"),
    *parameter("columns", [GaussianNB], {0: {"smoothing": 1}}, r"columns\[0\] is {'smoothing': 1}; give {'prior'"),
    *parameter(
        "columns", [GaussianNB], {0: {"prior": Beta(1, 1)}}, r"prior of column 0 is .*; here it must be a NormalInv"
    ),
    *parameter("columns", [BernoulliNB], {0: {"prior": Dirichlet(1)}}, r"here it must be a Beta"),
    *parameter("columns", [BernoulliNB], {0: {"prior": Beta({"a": 1, "b": 1})}}, r"name its states True and False"),
    *parameter("columns", [CategoricalNB], {0: {"prior": 3}}, r"prior of column 0 is 3; here it must be a Dirichlet"),
    *parameter(
        "columns", [CategoricalNB], {0: {"prior": Dirichlet([1])}}, r"has 1 pseudo-counts for 3 states \[0, 1, 2\]"
    ),
    *parameter(
        "columns", [CategoricalNB], {0: {"prior": Dirichlet({0: 1})}}, r"'x0' has no pseudo-count for state 1; name"
    ),
    *parameter(
        "columns", [CategoricalNB], {0: {"prior": Dirichlet({"a": 1}, default=1)}}, r"names 'a', but the column holds"
    ),
    *parameter(
        "columns",
        [CategoricalNB],
        {"colour": {"prior": Dirichlet({"red": 1})}},
        r"the prior of column 'colour' has no pseudo-count for state 'blue'",
        COLOUR_ROWS,
    ),
    Case(
        "min_categories of two thousand million",
        CategoricalNB,
        lambda m: m.fit(X, Y),
        ResourceLimitError,
        r"2000000000 codes of column 'x0' would take",
        {"min_categories": 2_000_000_000},
    ),
]

FIRST_PARTIAL_FIT = [
    Case(
        f"classes={classes!r}", kind, lambda m, c=classes: m.partial_fit(X, Y, classes=c), error, message, new_only=True
    )
    for kind in MODELS
    for classes, error, message in [
        (None, ParameterError, r"classes must be passed on the first call to partial_fit"),
        ([0], DataError, r"label\(s\) \[1\] in y do not exist in the initial classes \[0\]"),
        ([], ParameterError, r"classes is \[\]; give all labels there will be"),
        (2, ParameterError, r"classes is 2; give all labels there will be"),
        ("01", ParameterError, r"classes is '01'; give all labels there will be"),
        ([0, None], ParameterError, r"classes is \[0, None\]; give all labels"),
        ([0, "1"], ParameterError, r"classes is \[0, '1'\]; give all labels"),
    ]
]

LATER_PARTIAL_FIT = [
    Case(name, kind, call, error, message, fitted_only=True)
    for kind in MODELS
    for name, call, error, message in [
        ("other classes", lambda m: m.partial_fit(X, Y, [0, 1, 2]), ParameterError, r"is not the same as on last call"),
        ("bad classes", lambda m: m.partial_fit(X, Y, 5), ParameterError, r"classes is 5; give all labels"),
        (
            "a new label",
            lambda m: m.partial_fit(X, Y + 1),
            DataError,
            r"label\(s\) \[2\] in y do not exist in the initial",
        ),
        ("another width", lambda m: m.partial_fit(X[:, :1], Y), SchemaError, r"X has 1 features, but .* expecting 2"),
        ("a bad cell", lambda m: m.partial_fit(cell(INF), Y), DataError, r"Input X contains infinity"),
        ("a bad weight", lambda m: m.partial_fit(X, Y, sample_weight=-1), DataError, r"sample_weight is -1 in row 0"),
    ]
]

PREDICTIONS = [
    *predicts("another width", MODELS, X[:, :1], SchemaError, r"X has 1 features, but \w+ is expecting 2 features"),
    *predicts("wider", MODELS, np.c_[X, X], SchemaError, r"X has 4 features, but \w+ is expecting 2 features"),
    *predicts("one dimension", MODELS, X[0], DataError, r"Expected 2D array, got 1D array instead"),
    *predicts("no rows", MODELS, X[:0], DataError, r"0 sample\(s\)"),
    *predicts("NaN", MODELS[:-1], cell(NAN), DataError, r"Input X contains NaN: nan in row 2, column 'x1'"),
    *predicts("NaN", [CategoricalNB], cell(NAN), DataError, r"row 2 of column 'x1' is missing"),
    *predicts("infinity", MODELS, cell(INF), DataError, r"Input X contains infinity"),
    *predicts(
        "negative", [*COUNTERS, CategoricalNB], cell(-1.0), DataError, r"Negative values .*-1.0 in row 2, column 'x1'"
    ),
    *predicts("text", MODELS[:-1], [["a", "b"]], DataError, r"column 'x0' holds .*'a' in row 0.*use NaiveBayes"),
    *predicts("a column missing", MODELS, FRAME[["a"]], SchemaError, r"yet now missing:\n- b", learned=(FRAME, Y)),
    *predicts(
        "a column unknown", MODELS, FRAME.assign(c=1), SchemaError, r"unseen at fit time:\n- c", learned=(FRAME, Y)
    ),
    *predicts("another order", MODELS, FRAME[["b", "a"]], SchemaError, r"in the same order", learned=(FRAME, Y)),
    *predicts(
        "a polars column missing",
        MODELS,
        pl.DataFrame(FRAME[["b"]]),
        SchemaError,
        r"now missing:\n- a",
        learned=(FRAME, Y),
    ),
    *predicts(
        "unseen", [CategoricalNB], X + 1, DataError, r"never counted: column 'x0' = 3 in 2 of 6 rows", unseen="error"
    ),
    *predicts(
        "an unseen label",
        [CategoricalNB],
        COLOURS.replace("L", "XL"),
        DataError,
        r"never counted: column 'size' = 'XL' in 1 of 4 rows; use unseen='ignore'",
        learned=COLOUR_ROWS,
        unseen="error",
    ),
    *predicts("sparse", [GaussianNB, CategoricalNB], sparse.csr_array(X), TypeError, r"Sparse data was passed for X"),
]

FORGETTING = [
    *[
        Case(f"forget {name}", kind, call, error, message, fitted_only=True)
        for kind in MODELS
        for name, call, error, message in [
            ("an unknown class", lambda m: m.forget(X[:1], [7]), DataError, r"class 7 was never counted"),
            ("all rows", lambda m: m.forget(X, Y), StatisticsError, r"no row would remain; make a new model instead"),
            (
                "more rows",
                lambda m: m.forget(X[[0] * 4], [0] * 4),
                StatisticsError,
                r"count of class 0 would become -1",
            ),
            ("another width", lambda m: m.forget(X[:1, :1], [0]), SchemaError, r"X has 1 features"),
            (
                "half a pair",
                lambda m: m.forget(X[:1], [0], remaining=X),
                ParameterError,
                r"remaining must be \(X, y\) or",
            ),
            ("too much", lambda m: m.forget(X[:1], [0], remaining=(X,)), ParameterError, r"remaining must be \(X, y\)"),
            (
                "bad rest",
                lambda m: m.forget(X[:1], [0], remaining=(X, [9] * 6)),
                DataError,
                r"class 9 was never counted",
            ),
            ("a bad weight", lambda m: m.forget(X[:1], [0], sample_weight=[NAN]), DataError, r"sample_weight is nan"),
        ]
    ],
    Case(
        "forget an unknown category",
        CategoricalNB,
        lambda m: m.forget([[9, 0]], [0]),
        StatisticsError,
        r"rows that were never counted: the count of 'x0' = 9 in class 0 would become -1",
        fitted_only=True,
    ),
    Case(
        "forget an unknown label",
        CategoricalNB,
        lambda m: m.forget(pd.DataFrame({"colour": ["green"], "size": ["S"]}), [0]),
        StatisticsError,
        r"the count of 'colour' = 'green' in class 0 would become -1",
        learned=COLOUR_ROWS,
        fitted_only=True,
    ),
    *[
        Case(
            "forget rows never counted",
            kind,
            lambda m: m.forget([[9, 9]], [0]),
            StatisticsError,
            r"never counted: feature_sum of column 'x0' in class 0 would become -6",
            fitted_only=True,
        )
        for kind in COUNTERS
    ],
    Case(
        "forget marks never counted",
        BernoulliNB,
        lambda m: m.forget([[1, 1], [1, 1], [1, 1]], [1, 1, 1]),
        StatisticsError,
        r"never counted: present of column 'x0' in class 1 would become -1",
        fitted_only=True,
    ),
    Case(
        "forget an outlier",
        GaussianNB,
        lambda m: m.forget([[1e9, 0.0]], [0]),
        StatisticsError,
        r"column 'x0' of class 0 .* fewer than 8 digits .*forget\(X, y, remaining=",
        learned=(np.array([[1e9, 0.0], [1, 1], [2, 0], [3, 2], [0, 1]]), [0, 0, 0, 0, 1]),
        fitted_only=True,
    ),
]


def other(kind, table=X, y=Y, **parameters):
    return kind(**parameters).fit(table, y)


MERGING = [
    *[
        Case(name, kind, lambda m, k=kind, make=make: m + make(k), error, message, fitted_only=True)
        for kind in MODELS
        for name, make, error, message in [
            ("merge another width", lambda k: other(k, X[:, :1]), BayesError, r"2 columns here, 1 there"),
            ("merge other columns", lambda k: other(k, FRAME), BayesError, r"'x0' here stands where the other has 'a'"),
            ("merge one not fitted", lambda k: k(), NotFittedError, r"not fitted yet"),
            ("merge a number", lambda k: 3, TypeError, r"unsupported operand"),
        ]
    ],
    *[
        Case(name, kind, lambda m, k=kind, make=make: m - make(k), error, message, fitted_only=True)
        for kind in MODELS
        for name, make, error, message in [
            (
                "subtract an unknown class",
                lambda k: other(k, X, Y + 1),
                StatisticsError,
                r"class 2 was never counted here",
            ),
            ("subtract itself", lambda k: other(k), StatisticsError, r"no row would remain"),
            ("subtract None", lambda k: None, TypeError, r"unsupported operand"),
        ]
    ],
    Case(
        "merge another threshold",
        BernoulliNB,
        lambda m: m + other(BernoulliNB, binarize=1.0),
        StatisticsError,
        r"cannot combine models with binarize=0.0 and binarize=1.0: they mark different cells",
        fitted_only=True,
    ),
    Case(
        "merge another rule for missing cells",
        CategoricalNB,
        lambda m: m + other(CategoricalNB, missing="state"),
        StatisticsError,
        r"cannot combine a model that takes missing as a state with one that does not",
        fitted_only=True,
    ),
    Case(
        "merge labels with codes",
        CategoricalNB,
        lambda m: m + other(CategoricalNB, [["a", "b"]], [0]),
        SchemaError,
        r"column 'x0' holds integer codes in one table and labels in the other",
        fitted_only=True,
    ),
    Case(
        "merge classes of which there is a prior",
        GaussianNB,
        lambda m: m + other(GaussianNB, X, Y + 1),
        ParameterError,
        r"priors has shape \(2,\), and there are 3 classes",
        {"priors": [0.5, 0.5]},
        fitted_only=True,
    ),
    *[
        Case("merge another model", kind, lambda m: m + object(), TypeError, r"unsupported", fitted_only=True)
        for kind in MODELS
    ],
]

ASKING = [
    *[
        Case(f"leave one out {name}", kind, call, error, message, fitted_only=True)
        for kind in MODELS
        for name, call, error, message in [
            (
                "of an unknown class",
                lambda m: m.loo_predict_log_proba(X, Y + 1),
                DataError,
                r"class 2 was never counted",
            ),
            ("without labels", lambda m: m.loo_predict_log_proba(X, None), DataError, r"the target y is None"),
            ("of fewer rows", lambda m: m.loo_predict_log_proba(X[:2], Y), DataError, r"X has 2 rows, y has 6"),
            ("with a bad weight", lambda m: m.loo_predict_log_proba(X, Y, -1), DataError, r"sample_weight is -1"),
            ("of another width", lambda m: m.loo_predict_log_proba(X[:, :1], Y), SchemaError, r"X has 1 features"),
        ]
    ],
    *[
        Case(
            f"sample n={n!r}",
            kind,
            lambda m, n=n: m.sample(n),
            ParameterError,
            rf"n is {n!r}; give the number of rows to draw",
            fitted_only=True,
        )
        for kind in (GaussianNB, BernoulliNB, CategoricalNB)
        for n in (0, -1, 2.5, "ten", None, True)
    ],
    *[
        Case(
            "sample random_state",
            kind,
            lambda m: m.sample(1, random_state="dice"),
            ParameterError,
            r"random_state is 'dice'; give a seed",
            fitted_only=True,
        )
        for kind in (GaussianNB, BernoulliNB, CategoricalNB)
    ],
    *[
        Case(
            f"sample length={n!r}",
            MultinomialNB,
            lambda m, n=n: m.sample(3, length=n),
            ParameterError,
            r"length",
            fitted_only=True,
        )
        for n in (None, -1, 2.5, "long", [1, 2])
    ],
    Case(
        "sample",
        ComplementNB,
        lambda m: m.sample(3),
        ParameterError,
        r"no generative model.*cannot draw rows; use Multi",
    ),
    Case(
        "evidence",
        ComplementNB,
        lambda m: m.log_evidence(X),
        ParameterError,
        r"no generative model.*cannot tell P\(row\)",
    ),
]

CASES = [
    *TABLES,
    *LABELS,
    *WEIGHTS,
    *PARAMETERS,
    *FIRST_PARTIAL_FIT,
    *LATER_PARTIAL_FIT,
    *PREDICTIONS,
    *FORGETTING,
    *MERGING,
    *ASKING,
]


def state(model):
    """Everything a model is: its parameters, what it has learned, and what it predicts from it."""
    return {name: value for name, value in model.__dict__.items() if name not in model._not_sent}


def assert_refused(case, model):
    """The call is refused in its words, and nothing of the model has changed."""
    before, names = state(model), set(model.__dict__)
    with pytest.raises(case.error, match=case.message) as refusal:
        case.call(model)
    assert isinstance(refusal.value, BayesError | TypeError | NotFittedError)
    assert set(model.__dict__) == names
    for name, value in before.items():
        now = model.__dict__[name]
        if isinstance(value, np.ndarray):
            assert now.dtype == value.dtype
            assert now.tolist() == value.tolist(), name
        else:
            assert now is value or now == value, name


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.filterwarnings("ignore:X (has|does not have) :UserWarning")  # scikit-learn says so before we refuse
def test_a_model_that_refuses_is_as_before_bit_for_bit(case):
    if not case.fitted_only:
        assert_refused(case, model := case.kind(**case.parameters))
        with pytest.raises(NotFittedError):
            model.predict(X)
    if not case.new_only:
        rows, y = (X, Y) if case.learned is None else case.learned
        needed = {name: value for name, value in case.parameters.items() if case.fitted_only}
        model = case.kind(**needed).fit(rows, y)
        answer = model.predict_joint_log_proba(rows)
        statistics = copy.deepcopy(model.statistics_)
        assert_refused(case, model.set_params(**case.parameters))
        assert model.statistics_ == statistics
        model.set_params(**{name: getattr(case.kind(**needed), name) for name in case.parameters})
        np.testing.assert_array_equal(model.predict_joint_log_proba(rows), answer)


# `min_categories` declares states when rows are counted: predict does not read it.
READ_BY_PREDICT = [case for case in PARAMETERS if "min_categories" not in case.parameters]


@pytest.mark.parametrize("case", READ_BY_PREDICT, ids=str)
def test_a_parameter_out_of_range_is_refused_by_predict_too(case):
    rows, y = (X, Y) if case.learned is None else case.learned
    model = case.kind().fit(rows, y)
    answer = model.predict_proba(rows)
    model.set_params(**case.parameters)
    with pytest.raises(ParameterError):
        model.predict_proba(rows)
    model.set_params(**{name: getattr(case.kind(), name) for name in case.parameters})
    np.testing.assert_array_equal(model.predict_proba(rows), answer)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "method",
    [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_joint_log_proba",
        "forget",
        "loo_predict_log_proba",
        "tables",
    ],
)
def test_a_new_model_says_that_it_is_not_fitted(kind, method):
    arguments = {"tables": (), "forget": (X, Y), "loo_predict_log_proba": (X, Y)}.get(method, (X,))
    with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
        getattr(kind(), method)(*arguments)


def test_more_than_sixty_ways_to_be_wrong_are_tried():
    assert len({case.name for case in CASES}) > 60


# ---------------------------------------------------------------------- what is unusual, but right


@pytest.mark.parametrize("kind", MODELS)
def test_one_class_is_certain(kind):
    model = kind().fit(X, ["only"] * 6)
    assert model.predict(X).tolist() == ["only"] * 6
    assert model.predict_proba(X).tolist() == [[1.0]] * 6


@pytest.mark.parametrize("kind", MODELS)
def test_one_row_is_enough(kind):
    model = kind().fit(X[:1], [3])
    assert model.predict(X[:1]).tolist() == [3]


@pytest.mark.parametrize("kind", MODELS)
def test_a_refused_first_call_does_not_spoil_the_next(kind):
    model = kind()
    with pytest.raises(BayesError):
        model.fit(cell(INF), Y)
    assert model.fit(X, Y).statistics_ == kind().fit(X, Y).statistics_


@pytest.mark.parametrize("kind", [*MODELS[:-1], NaiveBayes, GaussianClassifier, TAN])
def test_the_row_that_is_named_is_counted_among_all_also_those_of_weight_zero(kind):
    weight = [0, 2, 0, 1, 1, 1]
    for table in (cell(INF, row=4), pd.DataFrame(cell(INF, row=4))):
        with pytest.raises(DataError, match="inf in row 4, column 'x1'"):
            kind().fit(table, Y, weight)
    with pytest.raises(DataError, match="the label of row 4 is missing"):
        kind().fit(X, [0, 0, 0, 1, None, 1], weight)
    with pytest.raises(DataError, match="sample_weight is -1 in row 3"):
        kind().fit(X, Y, [0, 2, 0, -1, 1, 1])


@pytest.mark.parametrize("kind", [*MODELS[:-1], NaiveBayes, GaussianClassifier, TAN])
def test_the_row_that_is_named_is_counted_among_all_also_of_further_rows_and_of_those_to_forget(kind):
    model, bad, weight = kind().fit(X, Y), cell(INF, row=4), [0, 2, 0, 1, 1, 1]
    for further in (model.partial_fit, model.forget):
        with pytest.raises(DataError, match="inf in row 4, column 'x1'"):
            further(bad, Y, sample_weight=weight)


@pytest.mark.parametrize("kind", [*MODELS[:-1], NaiveBayes, GaussianClassifier, TAN])
def test_the_row_that_is_named_is_counted_among_all_also_of_the_first_rows(kind):
    with pytest.raises(DataError, match="inf in row 4, column 'x1'"):
        kind().partial_fit(cell(INF, row=4), Y, classes=np.unique(Y), sample_weight=[0, 2, 0, 1, 1, 1])
