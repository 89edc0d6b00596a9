"""scikit-learn's classifiers on a mixed table, encoded as each of them likes it best.

Columns are read by the plan that our own models begin with: numbers, categories and flags, the parts of dates; text and
identifiers are left out. All that an encoder learns it learns from the rows of the fold.

    naive Bayes          Gaussian where all columns are numbers, else categories, numbers in ten bins of equal frequency
    logistic regression  one-hot categories, standardised numbers, the median and a flag for a missing number
    random forest        the same, 200 trees
    gradient boosting    categories and missing numbers as such; l2_regularization=1 and no early stopping, since the
                         defaults break on classes of few rows
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from bayeswater.data.cells import label_values
from bayeswater.data.reading.column_plan import COUNTS, IGNORED, TEXT, ColumnPlan
from bayeswater.data.reading.raw_table import RawTable, read_raw
from bayeswater.errors import DataError
from bayeswater.families.planning import plan_columns
from bayeswater.families.registry import OF_TEXT
from bayeswater.kernels.threads import one_blas_thread, thread_count
from bayeswater.phrases import own_reasons
from bayeswater.records import record
from bayeswater.typing import Array

own_reasons(
    {"it reads neither texts nor identifiers, and there is no other column": "它不读取文本和标识，而没有其他列"}
)

CATEGORIES = ("categorical", "bernoulli")

MOST_CATEGORIES = 254
"""Categories of a column that gradient boosting takes, one kept for all that are rare."""

FEW_ROWS = 10_000
"""Rows up to which threads cost peers more, in waiting for each other, than they save."""

N_BINS = 10
N_TREES = 200
MOST_ITERATIONS = 1000


@record
class PeerCells:
    """Rows as two blocks: numbers (n_rows, n_numbers) with NaN where they are missing, and codes of categories.

    Codes (n_rows, n_categories) are 0 where a cell is missing, 1, 2, ... for what the fold has, then one for the rest.
    """

    numbers: Array
    codes: Array

    @property
    def side_by_side(self) -> Array:
        """Numbers, then codes."""
        return np.hstack([self.numbers, self.codes])


class OnMixedTable(ClassifierMixin, BaseEstimator):
    """A classifier of scikit-learn behind an encoding of mixed columns.

    Parameters
    ----------
    build : function of the number of number columns and of the numbers of codes of all others, which gives a pipeline
    """

    def __init__(self, build: Callable[[int, list[int]], Any]) -> None:
        self.build = build

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn how to encode, and from what is encoded."""
        raw = read_raw(X, "a peer")
        if COUNTS in raw.columns:
            raise DataError("sparse columns are not encoded for peers; give a dense table")
        self.plan_ = plan_columns(raw, {}, "gaussian")
        raw = raw.with_dates(self.plan_)
        self.categories_ = {name: _distinct(raw, name) for name in _named(self.plan_, categories=True)}
        cells = self._cells(raw)
        if not cells.side_by_side.shape[1]:
            raise DataError("it reads neither texts nor identifiers, and there is no other column")
        n_codes = [len(known) + 2 for known in self.categories_.values()]
        self.pipeline_ = self.build(cells.numbers.shape[1], n_codes)
        last = self.pipeline_.steps[-1][0]
        weight = {} if sample_weight is None else {f"{last}__sample_weight": sample_weight}
        with _fair_threads(raw.n_rows):
            self.pipeline_.fit(cells.side_by_side, y, **weight)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class: (n_rows, n_classes)."""
        raw = read_raw(X, "a peer").require_columns(self.plan_.sources, "a peer").with_dates(self.plan_)
        with _fair_threads(raw.n_rows):
            return self.pipeline_.predict_proba(self._cells(raw).side_by_side)

    def predict(self, X: Any) -> Array:
        """Class of largest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _cells(self, raw: RawTable) -> PeerCells:
        n_rows = raw.n_rows
        numbers = [raw.numbers(name).astype(np.float64) for name in _named(self.plan_, categories=False)]
        codes = [_codes(raw, name, known) for name, known in self.categories_.items()]
        return PeerCells(*(np.stack(block, axis=1) if block else np.empty((n_rows, 0)) for block in (numbers, codes)))


def sklearn_peers(random_state: Any) -> dict[str, OnMixedTable]:
    """Give the peers by name."""
    forest = RandomForestClassifier(N_TREES, random_state=random_state)
    boosting = HistGradientBoostingClassifier(l2_regularization=1.0, early_stopping=False, random_state=random_state)
    linear = LogisticRegression(max_iter=MOST_ITERATIONS)
    return {
        "scikit-learn naive Bayes": OnMixedTable(_naive_bayes),
        "LogisticRegression": OnMixedTable(partial(one_hot, linear)),
        "RandomForest": OnMixedTable(partial(one_hot, forest)),
        "HistGradientBoosting": OnMixedTable(partial(native, boosting)),
    }


def _naive_bayes(n_numbers: int, n_codes: list[int]) -> Any:
    if not n_codes:
        return make_pipeline(SimpleImputer(), GaussianNB())
    bins = KBinsDiscretizer(N_BINS, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    numbers = make_pipeline(SimpleImputer(strategy="median"), bins)
    columns = _columns(numbers, "passthrough", n_numbers, n_codes)
    return make_pipeline(columns, CategoricalNB(min_categories=[N_BINS] * n_numbers + n_codes))


def one_hot(classifier: Any, n_numbers: int, n_codes: list[int]) -> Any:
    """Encode for a classifier that needs every cell as a number of its own scale."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(_columns(numbers, categories, n_numbers, n_codes), clone(classifier))


def native(classifier: Any, n_numbers: int, n_codes: list[int]) -> Any:
    """Encode for a classifier that knows categories and missing cells."""
    categories = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=MOST_CATEGORIES
    )
    columns = _columns("passthrough", categories, n_numbers, n_codes)
    is_category = np.arange(n_numbers + len(n_codes)) >= n_numbers
    return make_pipeline(columns, clone(classifier).set_params(categorical_features=is_category))


@contextmanager
def _fair_threads(n_rows: int) -> Iterator[None]:
    """Let a peer have as many threads as our models have, and one for few rows."""
    few = n_rows <= FEW_ROWS
    with threadpool_limits(1 if few else thread_count(), user_api="openmp"), one_blas_thread(inf if few else 0):
        yield


def _columns(numbers: Any, categories: Any, n_numbers: int, n_codes: list[int]) -> Any:
    """Encode numbers and categories apart; scikit-learn refuses a block without columns."""
    blocks = [(numbers, slice(0, n_numbers))] * (n_numbers > 0)
    return make_column_transformer(*blocks, *[(categories, slice(n_numbers, None))] * (len(n_codes) > 0))


def _named(plan: ColumnPlan, *, categories: bool) -> list[str]:
    text = (TEXT, *OF_TEXT, IGNORED)
    return [c.name for c in plan if c.family not in text and (c.family in CATEGORIES) is categories]


def _distinct(raw: RawTable, name: str) -> dict[Any, int]:
    found = label_values(_values(raw, name).unique(), name)
    return {value: code for code, value in enumerate((value for value in found if value is not None), start=1)}


def _codes(raw: RawTable, name: str, known: dict[Any, int]) -> Array:
    column = _values(raw, name)
    labels = column.unique()
    code_of = np.array(
        [0 if label is None else known.get(label, len(known) + 1) for label in label_values(labels, name)]
    )
    return code_of[pc.index_in(column, labels).to_numpy()].astype(np.float64)


def _values(raw: RawTable, name: str) -> Any:
    """Cells as they are, and not as places in a dictionary."""
    column = raw.arrow(name)
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
