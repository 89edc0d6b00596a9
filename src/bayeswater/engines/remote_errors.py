"""Errors on their way: from the rows of a piece, which get its name, to the caller, who gets the error itself back."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from bayeswater.errors import BayesError, DataError

RAISED = re.compile(r"^bayeswater\.errors\.(\w+): (.*?)(?=\n SQLSTATE|\n\n|\Z)", re.MULTILINE | re.DOTALL)
"""An error of ours in the text of a traceback, which is all that comes back from the workers of some engines."""


@contextmanager
def errors_named(where: str) -> Iterator[None]:
    """Give what goes wrong in a piece the name of the piece."""
    try:
        yield
    except MemoryError:
        raise  # not the fault of the rows: an engine may have a larger worker
    except BayesError as error:
        raise type(error)(f"{where}: {error}") from error
    except Exception as error:
        raise DataError(f"{where}: {type(error).__name__}: {error}") from error


@contextmanager
def errors_found() -> Iterator[None]:
    """Raise again what one of our functions raised on a worker; what an engine says of its own troubles stays."""
    try:
        yield
    except BayesError:
        raise
    except Exception as error:
        raised = RAISED.findall(str(error))
        if not raised:
            raise
        name, message = raised[-1]
        kinds = {kind.__name__: kind for kind in BayesError.__subclasses__()}
        raise kinds.get(name, BayesError)(message.strip()) from error
