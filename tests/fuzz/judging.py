"""How a case may end: in an answer, or in an error of ours. Anything else is a finding."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bayeswater.errors import BayesError, BayesWarning

KEPT_TYPE_ERRORS = ("Sparse data was passed", "np.matrix is not supported", "pandas.DataFrame with sparse columns")
"""Beginnings of the TypeErrors that scikit-learn's own checks ask for."""


class Refused(Exception):
    """A call that ended in an error of ours: the case is over, and well."""


@contextmanager
def ours() -> Iterator[None]:
    """Let warnings of ours pass, and make all others errors; an error of ours becomes `Refused`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BayesWarning)
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # scikit-learn's, of forged names
        try:
            yield
        except BayesError as error:
            assert str(error).strip(), "an error without words"
            raise Refused(str(error)) from error
        except TypeError as error:
            if str(error).startswith(KEPT_TYPE_ERRORS):
                raise Refused(str(error)) from error
            raise


def asked(call: Callable[[], Any]) -> Any:
    """The answer of a call, or None where it is refused."""
    try:
        with ours():
            return call()
    except Refused:
        return None


@contextmanager
def noted(what: str) -> Iterator[None]:
    """Say of a finding what case it was."""
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise
