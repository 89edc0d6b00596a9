"""`drift`: what changed between the rows of two models, or between those of a model and new ones, from sums alone."""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.explain.drift import Drift, drift_of
from bayeswater.families.two_laws import two_laws
from bayeswater.models.on_sums import OnSums, sums_of, sums_read_alike


def drift(a: OnSums, b: Any, y: Any = None) -> Drift:
    """Tell which columns follow another law than before, class by class, and whether the classes are as frequent.

    For each column and class this is the log Bayes factor of two laws against one, read off the sums:
    log E(a) + log E(b) - log E(a + b), with E the evidence. No row is needed of a model that was fitted.

    Parameters
    ----------
    a : fitted classifier on sums
        What was before.
    b : classifier fitted as `a`, or rows of shape (n_rows, n_columns)
        What is now. A model reads its columns as `a` does: fit it with ``columns=a.columns_``. Rows are read so.
    y : labels of the rows, of shape (n_rows,)

    Returns
    -------
    Drift
        Made to be printed; `columns` are sorted, the most certain change first, and `changed` are those that changed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeswater import GaussianNB, drift
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(2000, 3)), rng.integers(2, size=2000)
    >>> X[1000:, 2] += 0.5
    >>> found = drift(GaussianNB().fit(X[:1000], y[:1000]), GaussianNB().fit(X[1000:], y[1000:]))
    >>> [column.name for column in found.changed]
    ['x2']
    """
    if not isinstance(a, OnSums):
        raise ParameterError(f"a {type(a).__name__} keeps no sums that could be compared; give a classifier that does")
    if isinstance(b, OnSums):
        if type(b) is not type(a):
            raise ParameterError(
                f"a {type(a).__name__} and a {type(b).__name__} keep different sums; give two models of one kind"
            )
        before, after = sums_read_alike(a, b)
    elif y is None:
        raise ParameterError("rows are compared class by class; give their labels as drift(model, X, y)")
    else:
        after, before = sums_of(a, b, y), a.statistics_
    class_count, new_count = before.class_count.aligned(after.class_count)
    classes = class_count.classes
    rows = class_count.count, new_count.count
    columns = two_laws(before.columns.onto(classes), after.columns.onto(classes), rows)
    return drift_of(np.asarray(classes.labels).tolist(), rows, columns)
