"""The family of errors and warnings, all ``ValueError`` or ``UserWarning``.

Every message says what happened, the value, where, and how to put it right.
"""


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


class ModelFileError(BayesError):
    """A model file that cannot be written, or cannot be read for what it is: it names the file and what is wrong."""


class BayesWarning(UserWarning):
    """Base of all warnings of Bayeswater."""


class UnseenCategoryWarning(BayesWarning):
    """Categories met at prediction that were never counted; their factor is left out."""


class ImpossibleEvidenceWarning(BayesWarning):
    """Rows to which every class gives probability zero; their posterior is the prior."""


class PrecisionWarning(BayesWarning):
    """A subtraction lost so many digits that the result is not to be trusted."""
