"""What the documents of models have in common: parameters, classes, how a table is read, and its columns.

A model of a table says in its document how it reads one (`described_table`): parameters, classes, plan and states, and
the columns of X. What a file says of these is read back once for all kinds of models (`TableDocument`).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from reprlib import repr as shortened
from textwrap import shorten
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.sources.reading_options import AS_FOUND, ReadAs
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import BayesError, ModelFileError
from bayeswater.families.plan_consistency import is_block, require_sound_plan
from bayeswater.families.registry import FAMILIES
from bayeswater.files.model_file import Document, read_model_file, require, write_model_file
from bayeswater.models.stored.values import CODEC, without_vectorizers
from bayeswater.records import record
from bayeswater.typing import Array
from bayeswater.version import __version__

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

FIELDS = frozenset({"library", "kind", "parameters", "classes", "columns", "feature_names", "frame"})
"""What every document of a classifier says."""

TABLE_FIELDS = FIELDS | {"states", "n_features"}
"""What the document of a table that is read by a plan says: its columns may be less than those of X."""

READ_AS = "read_as"
"""What a document may say of files that were read in another way than all are."""

EARLIER = {"super_parents": "all"}
"""Parameters that files of earlier versions do not say, and that meant something else then than by default now."""

FRAMES = (None, "pandas", "polars", "pyarrow")
"""Libraries whose frames a model gives back, or None for arrays."""

Columns = tuple[int, tuple[str, ...] | None, str | None, ReadAs]
"""Number of the columns that a model was fitted on, their names, and the library of the frames it gives back."""

Restoring = Callable[[Document, dict[str, Array]], Any]
"""Makes a model of a document and its arrays."""


def write_document(path: Path, describe: Callable[[], tuple[Document, dict[str, Array]]], restore: Restoring) -> None:
    """Write a model to a file; what could not be read is not written."""
    try:
        document, arrays = describe()
        restore(document, arrays)
        write_model_file(path, document, arrays)
    except OSError as error:
        raise ModelFileError(f"cannot write the model file {str(path)!r}: {error.strerror or error}") from error
    except BayesError as error:
        raise ModelFileError(f"cannot save the model to {str(path)!r}: {_in_brief(error)}") from None


def read_document(path: Path, restore: Restoring) -> Any:
    """Read a model from a file."""
    try:
        return restore(*read_model_file(path))
    except OSError as error:
        raise ModelFileError(f"cannot read the model file {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, TypeError, OverflowError) as error:  # whatever a stranger's numbers and labels lead to
        raise ModelFileError(f"{str(path)!r} cannot be loaded as a model: {_in_brief(error)}") from None


def _in_brief(error: Exception) -> str:
    """One line of a message that may quote all of a file."""
    return shorten(str(error), 500, placeholder=" ...")


def require_fields(document: Document, fields: Collection[str], optional: Collection[str] = ()) -> None:
    """Refuse a document that says more or less than it should or may, or that is of frames nobody knows."""
    said = document.keys() - {READ_AS if "feature_names" in fields else "", *optional}
    require(said == set(fields), f"its document holds {sorted(document)}, and not {sorted(fields)}")
    library = document.get("frame")
    require(library in FRAMES, f"its frame is of {shortened(library)}, which is none of {[*FRAMES]}")


def require_arrays(found: Collection[str], needed: Collection[str]) -> None:
    """Refuse arrays that are not those needed."""
    require(set(found) == set(needed), f"its arrays are {sorted(found)}, and not {sorted(needed)}")


def written_states(variables: Iterable[Variable]) -> list[Any]:
    """Write the states of columns."""
    return [CODEC.encode(variable, f"a state of column {variable.name!r}") for variable in variables]


def read_states(written: Any) -> Schema:
    """Read the states of columns; of those that have none there is an empty list."""
    variables = CODEC.decode(written, "a state of a column")
    are_states = isinstance(variables, list) and all(isinstance(variable, Variable) for variable in variables)
    require(are_states, "it has no columns with states")
    return Schema(tuple(variables))


def read_parents(written: Any) -> tuple[tuple[int, ...], ...]:
    """Read the parents of every variable, by their numbers."""
    are_lists = isinstance(written, list) and all(isinstance(own, list) for own in written)
    require(are_lists and all(type(parent) is int for own in written for parent in own), "its parents are no numbers")
    return tuple(tuple(own) for own in written)


def read_names(written: Any, n_columns: int) -> tuple[str, ...] | None:
    """Read the names of columns, where they have any."""
    if written is None:
        return None
    are_names = isinstance(written, list) and all(isinstance(name, str) for name in written)
    require(are_names and len(written) == n_columns, f"its columns {shortened(written)} are not {n_columns} names")
    return tuple(written)


Model = TypeVar("Model", bound="BaseEstimator")


def described_parameters(model: "BaseEstimator") -> Document:
    """Give all parameters; vectorisers of scikit-learn by their settings."""
    parameters = model.get_params(deep=False)
    if "columns" in parameters:
        parameters["columns"] = without_vectorizers(parameters["columns"])
    return {name: CODEC.encode(value, f"parameter {name!r}") for name, value in parameters.items()}


def with_parameters(model: type[Model], written: Any) -> Model:
    """Make a model that has learned nothing; what a file does not say has its default, or is as it was before that."""
    known = model().get_params(deep=False)
    require(isinstance(written, dict), "its parameters are no JSON object")
    unknown = sorted(written.keys() - known.keys())
    require(not unknown, f"its parameters {unknown} are none of those of {model.__name__}: {sorted(known)}")
    said = {name: CODEC.decode(value, f"parameter {name!r}") for name, value in written.items()}
    return model(**{name: value for name, value in EARLIER.items() if name in known} | said)


def read_plan(written: Any, families: tuple[str, ...] = FAMILIES) -> ColumnPlan:
    """Read how the columns of a table are read, each in one of some families."""
    columns = CODEC.decode(written, "a column")
    are_columns = isinstance(columns, list) and all(isinstance(column, Column) for column in columns)
    require(are_columns, "its columns are no plan")
    plan = ColumnPlan(tuple(columns))
    require_sound_plan(plan, families)
    return plan


def require_source_names(names: Sequence[str], plan: ColumnPlan) -> None:
    """Refuse names of the columns of X that are not those the plan is read from, in its order."""
    sources = [column.source for column in plan if column.name == column.source and not is_block(column)]
    known = set(sources)
    require(
        [name for name in names if name in known] == sources,
        f"its columns {shortened(names)} are not those of the plan, {shortened(sources)}",
    )


# ---------------------------------------------------------------------- the table of a model


def described_head(model: Any, kind: str, library: str | None) -> Document:
    """Give what a document says of any classifier but its classes and columns."""
    names = getattr(model, "feature_names_in_", None)
    read_as = {} if model.read_as_ == AS_FOUND else {READ_AS: CODEC.encode(model.read_as_, "how its files are read")}
    return {
        **read_as,
        "library": f"bayeswater {__version__}",
        "kind": kind,
        "parameters": described_parameters(model),
        "feature_names": None if names is None else names.tolist(),
        "frame": library,
    }


def described_table(
    model: Any, kind: str, library: str | None, classes: Variable, plan: ColumnPlan, schema: Schema
) -> Document:
    """Give what the document of a model of a table says, whose columns are read by a plan."""
    return {
        **described_head(model, kind, library),
        "classes": CODEC.encode(classes, "a class"),
        "columns": written_plan(plan),
        "states": written_states(schema),
        "n_features": int(model.n_features_in_),
    }


def written_plan(plan: Iterable[Column]) -> list[Any]:
    """Write how the columns of a table are read."""
    return [CODEC.encode(column, f"the reading of column {column.name!r}") for column in plan]


@record
class TableDocument:
    """What a document says of a table: classes, plan and states."""

    document: Document
    classes: Variable
    plan: ColumnPlan
    schema: Schema

    @classmethod
    def of(cls, document: Document, families: tuple[str, ...], of_states: tuple[str, ...]) -> "TableDocument":
        """Read it, with columns of some families, of which those `of_states` have states."""
        classes = CODEC.decode(document["classes"], "a class")
        require(isinstance(classes, Variable) and not classes.is_coded and classes.n_states > 0, "it has no classes")
        plan, schema = read_plan(document["columns"], families), read_states(document["states"])
        require_states(schema, [column.name for column in plan.of_families(*of_states)])
        return cls(document, classes, plan, schema)

    @property
    def columns(self) -> Columns:
        """The columns that the model was fitted on."""
        n_features, n_sources = self.document["n_features"], len(self.plan.sources)
        are_all = type(n_features) is int and n_features == n_sources
        require(are_all, f"it was fitted on {shortened(n_features)} columns, and not on {n_sources}")
        return read_columns(self.document, n_features, self.plan)


def require_states(schema: Schema, names: Sequence[str]) -> None:
    """Refuse states of other columns than those named."""
    found = schema.names
    require(list(found) == list(names), f"it has states of {shortened(found)}, and not of {shortened(names)}")


def read_columns(document: Document, n_features: int, plan: ColumnPlan | None = None) -> Columns:
    """Read the number of columns of a model, their names and the frames it gives back."""
    names = read_names(document["feature_names"], n_features)
    if names is not None and plan is not None:
        require_source_names(names, plan)
    read_as = CODEC.decode(document[READ_AS], "how its files are read") if READ_AS in document else AS_FOUND
    require(isinstance(read_as, ReadAs), f"how its files are read is {shortened(read_as)}")
    return n_features, names, document["frame"], read_as
