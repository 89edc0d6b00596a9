"""How variables and priors stand in the document of a model file, and the closed list of all that may stand there.

Beside them there are the plain values of `files/values.py`, columns (`stored_columns`) and calibrations.
"""

from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.estimate.dirichlet import Beta, Dirichlet, MEstimate
from bayeswater.estimate.gaussian import NormalInverseGamma
from bayeswater.estimate.shrinkage import Friedman
from bayeswater.estimate.wishart import NormalInverseWishart
from bayeswater.files.values import FORMS, Codec, Form
from bayeswater.models.stored.calibration import CALIBRATION_FORMS
from bayeswater.models.stored.columns import COLUMN_FORMS


def _variable_parts(variable: Variable) -> list[Any]:
    """Take a variable apart: name, states, codes of those that are declared, dtype."""
    declared = sorted(int(s) if variable.is_coded else variable.code_of[s] for s in variable.declared)
    # Strings of variable width have no name to be written by, and the labels come out the same without.
    dtype = None if variable.dtype is None or np.dtype(variable.dtype).kind == "T" else np.dtype(variable.dtype)
    return [variable.name, variable.states, declared, dtype]


def _variable(name: Any, states: Any, declared: Any, dtype: Any) -> Variable:
    """Make a variable whose states are distinct labels, such as its dtype can hold, or the codes 0 .. n-1."""
    if not isinstance(name, str) or not (dtype is None or isinstance(dtype, np.dtype)):
        raise TypeError("a variable has a name and a dtype")
    if not isinstance(states, tuple) and states != range(len(states)):
        raise TypeError("its states are neither labels nor the codes 0 .. n-1")
    if any(type(code) is not int or code < 0 for code in declared):
        raise TypeError("declared states are given by their codes")
    variable = Variable(name, states, frozenset(states[code] for code in declared), dtype)
    with np.errstate(over="ignore"):  # what a dtype cannot hold is not equal afterwards
        if not variable.is_coded and (len(variable.code_of) < len(states) or variable.labels.tolist() != list(states)):
            raise ValueError(f"its states are not distinct, or no {dtype}")
    return variable


def _dirichlet_form(kind: type[Dirichlet]) -> Form:
    return Form(kind, lambda p: [p.pseudo_counts, p.default], lambda counts, default: kind(counts, default=default))


CODEC = Codec(
    FORMS
    | COLUMN_FORMS
    | CALIBRATION_FORMS
    | {
        "Variable": Form(Variable, _variable_parts, _variable),
        "Dirichlet": _dirichlet_form(Dirichlet),
        "MEstimate": _dirichlet_form(MEstimate),
        "Beta": Form(Beta, lambda p: [p.pseudo_counts], Beta),
        "Friedman": Form(Friedman, lambda p: [p.shared, p.spherical], Friedman),
        "NormalInverseWishart": Form(
            NormalInverseWishart, lambda p: [p.mean, p.strength, p.covariance, p.degrees], NormalInverseWishart
        ),
        "NormalInverseGamma": Form(
            NormalInverseGamma, lambda p: [p.mean, p.strength, p.shape, p.scale], NormalInverseGamma
        ),
    }
)
"""The closed list of what a document may hold."""
