"""Networks for the verbs: read from a file, their variables and states named by a person, their columns in data."""

from dataclasses import replace
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayeswater.errors import ModelFileError, ParameterError, SchemaError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bayeswater.cli.options import ReadingOptions
    from bayeswater.cli.question_text import NameAt, Term
    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.variable import Variable
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.decision_network import DecisionNetwork
    from bayeswater.models.network.graph import GraphQuestions

NetworkFile = Annotated[
    str,
    Parameter(
        help="Network file: .bif, .xml, .xdsl, .dsl, .net, .dsc, .uai, each also with .gz, or .bayes (also of a "
        "classifier that is a network, such as TAN); networks with numbers: .json, .xdsl or .bayes."
    ),
]
Tolerance = Annotated[
    float | None,
    Parameter(help="How far the sum of a table row in a file may be from 1; by default 0.01, and any sum in .net."),
]


def read_network(path: str, tolerance: float | None = None) -> "BayesianNetwork":
    """Read a network file, or the file of a classifier whose joint distribution is a network; numbers are refused."""
    found = read_any_network(path, tolerance)
    if is_mixed(found):
        raise ParameterError(
            f"{path} is a network with numbers, and this is for networks of states alone; put the numbers into bins: "
            "bayeswater learn --numbers states. Such networks are known to " + ", ".join(OF_NUMBERS)
        )
    return found


def read_any_network(path: str, tolerance: float | None = None) -> Any:
    """Read a network, of states alone or with numbers; or a classifier whose joint distribution is a network."""
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.network_files import MODEL_SUFFIX

    if has_numbers(path):
        from bayeswater.models.mixed_networks.mixed_network import MixedNetwork

        return MixedNetwork.read(path)
    if Path(path).suffix.lower() != MODEL_SUFFIX:
        return BayesianNetwork.read(path, tolerance=tolerance)
    from bayeswater.models.persistence import load

    model = load(path)
    if isinstance(model, BayesianNetwork) or is_mixed(model):
        return model
    try:
        return BayesianNetwork.from_classifier(model)
    except ParameterError as error:
        raise ModelFileError(f"{path}: {error}") from None


OF_NUMBERS = ("query", "learn", "score", "compare-structures", "sample", "draw", "impute", "inspect", "convert", "dsep")
"""Verbs that know networks with numbers."""


def has_numbers(path: str) -> bool:
    """Whether a file is of a network with numbers: our JSON, or XDSL with equations; what a .bayes holds it tells."""
    ending = Path(path).suffix.lower()
    if ending == ".xdsl" and Path(path).is_file():
        from bayeswater.models.mixed_networks.mixed_files import has_equations

        return has_equations(Path(path).read_text(encoding="utf-8", errors="replace"))
    return ending == ".json"


def is_mixed(network: Any) -> "TypeIs[MixedNetwork]":
    """Whether a network is one with numbers: known by its name, since for any other its module is not imported."""
    return any(kind.__name__ == "MixedNetwork" for kind in type(network).__mro__)


def node_named(network: "GraphQuestions | DecisionNetwork", word: "NameAt", text: str) -> int:
    """Find a variable that a person names in a text; one that is not there is shown with the nearest ones."""
    from bayeswater.errors import nearest_names
    from bayeswater.networks.class_tables import class_name
    from bayeswater.structure.notation import error_at

    if word.text not in network.names:
        near, named = nearest_names(word.text, network.names), network.names[0]
        if named == class_name(network.names[1:]):
            near += f"; what a classifier predicts is called {named!r} in its network"
        raise error_at(text, word.place, f"there is no variable {word.text!r} ({near})")
    return network.names.index(word.text)


def state_named(variable: "Variable", word: "NameAt", text: str) -> Any:
    """Find a state that a person names in a text: by its label, as text, or a bin by a number in it."""
    from bayeswater.data.reading.known_labels import known_code
    from bayeswater.errors import nearest_names
    from bayeswater.structure.notation import error_at

    of_text = {str(state): state for state in reversed(variable.states)}
    if word.text in of_text:
        return of_text[word.text]
    code = known_code(_number(word.text), variable)
    if code is None:
        near = nearest_names(word.text, [*reversed(of_text)])
        raise error_at(text, word.place, f"{variable.name!r} has no state {word.text!r} ({near})")
    return variable.states[code]


def variable_named(network: Any, word: "NameAt", text: str) -> "Variable":
    """Find the variable with states that a person names in a text."""
    from bayeswater.structure.notation import error_at

    node = node_named(network, word, text)
    if not is_mixed(network):
        variable: Variable = network.variables[node]
        return variable
    if node in network.core.numbers:
        raise error_at(text, word.place, f"{word.text!r} is a number and has no states")
    return network.core.variable(node)


def cell_named(network: Any, name: "NameAt", cell: "NameAt", text: str) -> tuple[str, Any]:
    """Find a variable that a person names in a text, and the state, or the number, that it has there."""
    from bayeswater.structure.notation import error_at

    node = node_named(network, name, text)
    if not (is_mixed(network) and node in network.core.numbers):
        return name.text, state_named(variable_named(network, name, text), cell, text)
    value = _number(cell.text)
    if not isfinite(value):
        raise error_at(text, cell.place, f"{name.text!r} is a number, and {cell.text!r} is none")
    return name.text, value


def cells_of_terms(network: Any, terms: "tuple[Term, ...]", text: str) -> dict[str, Any]:
    """Give the states and numbers that are named, by their variables."""
    cells = {}
    for term in terms:
        assert term.state is not None  # what is given has a state
        name, cell = cell_named(network, term.name, term.state, text)
        cells[name] = cell
    return cells


def _number(text: str) -> float:
    """Read a number; NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return nan


def open_evidence(
    network: Any, path: str, reading: "ReadingOptions", data: list[str], ignored: list[str]
) -> "tuple[LocalRows, list[str]]":
    """Open files of evidence as one table in the types of the states, and name its columns that are variables.

    A column that is no variable is refused, since a name with a slip in it would silently be no evidence.
    """
    from bayeswater.errors import nearest_names
    from bayeswater.models.network.network_rows import marks_besides, read_as_states

    known = network.core.states.variables if is_mixed(network) else network.variables
    if reading.missing_only is None:  # a cell that is a state is not missing
        reading = replace(reading, missing=None, missing_only=[*marks_besides(known), *(reading.missing or ())])
    rows = reading.open_rows(data)
    rows.require_columns(ignored)
    columns = [name for name in rows.schema.names if name not in ignored]
    for name in columns:
        if name not in network.dag.position:
            raise SchemaError(
                f"{rows.name}: column {name!r} is no variable of {path} ({nearest_names(name, network.names)}); "
                f"rename it, or leave it out with --ignore {name}"
            )
    read_as_states(rows, known, [*network.numbers] if is_mixed(network) else ())
    return rows, columns
