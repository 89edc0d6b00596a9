"""States as people name them: by their label, or by a number where the states are bins of numbers."""

from typing import Any

from bayeswater.data.reading.known_labels import known_code
from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError


def state_code(variable: Variable, state: Any) -> int:
    """Find the code of a state by its label, of a bin by a number in it; what is none is refused with those there are.

    >>> state_code(Variable("smoke", ("yes", "no")), "no"), state_code(Variable("age", ("under 30", "from 30 on")), 42)
    (1, 1)
    """
    code = known_code(state, variable)
    if code is None:
        raise ParameterError(f"{state!r} is no state of {variable.name!r}; its states are {list(variable.states)[:10]}")
    return code
