"""The family of errors and warnings, all ``ValueError`` or ``UserWarning``.

Every message says what happened, the value, where, and how to put it right.
"""

import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches

SHOWN_NAMES = 10
"""Names that a message lists."""


class BayesError(ValueError):
    """Base of all errors raised on purpose by Bayeswater."""


class DataError(BayesError):
    """A value in the data cannot be used: it names row, column and value."""


class SchemaError(BayesError):
    """Columns or classes do not fit those the model knows."""


class ParameterError(BayesError):
    """A parameter of a model or of a prior is out of its range."""


class StatisticsError(BayesError):
    """Sums that cannot be merged or subtracted."""


class ResourceLimitError(BayesError):
    """A table would be too large; raised before it is allocated."""


class ImpossibleEvidence(BayesError):
    """Evidence of probability zero."""


class SamplingError(BayesError):
    """A question that sampling cannot answer with a known error: the message says why, and what to do instead."""


class ModelFileError(BayesError):
    """A model file that cannot be written or read: the message names the file and what is wrong."""


class NetworkFileError(BayesError):
    """A network file that cannot be written, or read: it names file:line:column and shows the line with a caret."""


class BayesWarning(UserWarning):
    """Base of all warnings of Bayeswater."""


class UnseenCategoryWarning(BayesWarning):
    """Categories at prediction that were never counted; they are left out."""


class ImpossibleEvidenceWarning(BayesWarning):
    """Rows to which every class gives probability zero; their posterior is the prior."""


class PrecisionWarning(BayesWarning):
    """Digits were lost, by a subtraction or by rounding, so that the result is not to be trusted."""


class SingularCovarianceWarning(BayesWarning):
    """A class whose rows do not vary in some direction, so that its covariance has no inverse."""


class DominatedActionWarning(BayesWarning):
    """An action of a loss that is never the best: another one never costs more."""


class ConvergenceWarning(BayesWarning):
    """An iteration stopped before it converged."""


class ReadingWarning(BayesWarning):
    """How a file is read if it is unusual: its encoding, its header, odd rows."""


class NetworkFileWarning(BayesWarning):
    """What was changed in reading a network file, or left out in writing it."""


class RoundedTableWarning(NetworkFileWarning):
    """Table rows of a network file that sum to one only within rounding, and were divided by their sum."""


class NormalisedTableWarning(BayesWarning):
    """Rows of probability tables whose sums had drifted from one, and which were divided by them."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the program that asked, however deep inside this package we are."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(
        ("bayeswater.", "functools", "contextlib")
    ):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def nearest_names(name: str, names: Sequence[str]) -> str:
    """Say which names are meant maybe.

    >>> nearest_names("Incom", ["age", "income"])
    "did you mean 'income'?"
    >>> nearest_names("y", ["age", "income"])
    "there are 'age', 'income'"
    """
    folded = {known.casefold().strip(): known for known in names}
    near = [folded[match] for match in get_close_matches(name.casefold().strip(), folded, n=3)]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"there are {', '.join(map(repr, names[:SHOWN_NAMES]))}{more}"
