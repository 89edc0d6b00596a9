"""`save` and `load`: a model as a file, and back.

A file holds the sums, so a model that was loaded goes on learning, merging and forgetting where the saved one stood. It
is data alone: its kind is looked up in the closed list `KINDS`, and all that it says is checked before it is believed.
"""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from reprlib import repr as shortened
from textwrap import shorten
from typing import Any

import numpy as np

from bayeswater.data.schema import Schema
from bayeswater.data.variable import Variable
from bayeswater.errors import BayesError, ModelFileError
from bayeswater.files.model_file import Document, read_model_file, require, write_model_file
from bayeswater.models.bernoulli_nb import BernoulliNB
from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.classifier import CountingClassifier
from bayeswater.models.complement_nb import ComplementNB
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.multinomial_nb import MultinomialNB
from bayeswater.models.stored_values import CODEC
from bayeswater.statistics.binary_counts import BinaryCounts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.class_counts import ClassCounts
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.feature_sums import FeatureSums
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.statistic import Statistic
from bayeswater.statistics.sums import Sums
from bayeswater.typing import Array
from bayeswater.version import __version__


@dataclass(frozen=True)
class Kind:
    """A kind of model: its class, and that of the sums of its columns."""

    model: type[CountingClassifier]
    columns: type[Statistic]


KINDS = {
    "GaussianNB": Kind(GaussianNB, Moments),
    "MultinomialNB": Kind(MultinomialNB, FeatureSums),
    "ComplementNB": Kind(ComplementNB, FeatureSums),
    "BernoulliNB": Kind(BernoulliNB, BinaryCounts),
    "CategoricalNB": Kind(CategoricalNB, CategoryCounts),
}
"""All that a file may hold; a new model joins by a line here."""

FIELDS = {"library", "kind", "parameters", "classes", "columns", "feature_names", "frame"}
"""What every document says."""

FRAMES = (None, "pandas", "polars", "pyarrow")
"""Libraries whose frames a model gives back, or None for arrays."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, in the place of the one that is there.

    The file is whole at every moment: a process that is killed leaves the old one or the new one.

    Parameters
    ----------
    model : a fitted classifier of Bayeswater
    path : str or path of the file; ``.bayes`` is the usual ending

    Raises
    ------
    ModelFileError
        Where the file cannot be written, or the model holds something that a file cannot, such as a function.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayeswater.models.gaussian_nb import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [9.0], [8.0]], ["low", "low", "high", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "level.bayes")
    ...     again = load(Path(folder) / "level.bayes")
    >>> again.partial_fit([[3.0]], ["low"]).class_count_
    array([2., 3.])
    """
    path = Path(path)
    kind = next((name for name, kind in KINDS.items() if type(model) is kind.model), None)
    if kind is None:
        raise ModelFileError(f"cannot save {shortened(model)}: it is none of {', '.join(KINDS)}")
    model._require_fitted()
    try:
        document, arrays = _described(model, kind)
        _restored(document, arrays)  # what could not be read is not written
        write_model_file(path, document, arrays)
    except OSError as error:
        raise ModelFileError(f"cannot write the model file {str(path)!r}: {error.strerror or error}") from error
    except BayesError as error:
        raise ModelFileError(f"cannot save the model to {str(path)!r}: {_in_brief(error)}") from None


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that `save` wrote: equal to the saved one, to the bit.

    Nothing in a file is ever run or imported, whoever made it.

    Raises
    ------
    ModelFileError
        Where there is no such file, or it is damaged, of another kind or of an unknown version.
    """
    path = Path(path)
    try:
        return _restored(*read_model_file(path))
    except OSError as error:
        raise ModelFileError(f"cannot read the model file {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, TypeError, OverflowError) as error:  # whatever a stranger's numbers and labels lead to
        raise ModelFileError(f"{str(path)!r} cannot be loaded as a model: {_in_brief(error)}") from None


# ---------------------------------------------------------------------- between a model and its document


def _described(model: CountingClassifier, kind: str) -> tuple[Document, dict[str, Array]]:
    sums: Sums[Any] = model.statistics_
    columns, names = sums.columns, getattr(model, "feature_names_in_", None)
    if isinstance(columns, CategoryCounts):
        written = [CODEC.encode(variable, f"a state of column {variable.name!r}") for variable in columns.schema]
    else:
        written = columns.names and list(columns.names)
    parameters = model.get_params(deep=False)
    document = {
        "library": f"bayeswater {__version__}",
        "kind": kind,
        "parameters": {name: CODEC.encode(value, f"parameter {name!r}") for name, value in parameters.items()},
        "classes": CODEC.encode(sums.classes, "a class"),
        "columns": written,
        "feature_names": None if names is None else names.tolist(),
        "frame": model._library,
    }
    arrays = {f"columns.{name}": array for name, array in columns.to_arrays().items()}
    return document, {"class_count": sums.class_count.count, **arrays}


def _restored(document: Document, arrays: dict[str, Array]) -> CountingClassifier:
    require(document.keys() == FIELDS, f"its document holds {sorted(document)}, and not {sorted(FIELDS)}")
    name, library = document["kind"], document["frame"]
    require(isinstance(name, str) and name in KINDS, f"it holds a {shortened(name)}, which is none of {[*KINDS]}")
    require(library in FRAMES, f"its frame is of {shortened(library)}, which is none of {[*FRAMES]}")
    sums = _restored_sums(KINDS[name].columns, document, arrays)
    model = _with_parameters(KINDS[name].model, document["parameters"])
    model._require_parameters(sums)
    model.n_features_in_ = _n_columns(sums.columns)
    names = _names(document["feature_names"], model.n_features_in_)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model._library = library
    return model._adopt(sums)


def _with_parameters(model: type[CountingClassifier], written: Any) -> CountingClassifier:
    known = model().get_params(deep=False)
    require(isinstance(written, dict), "its parameters are no JSON object")
    unknown = sorted(written.keys() - known.keys())
    require(not unknown, f"its parameters {unknown} are none of those of {model.__name__}: {sorted(known)}")
    return model(**{name: CODEC.decode(value, f"parameter {name!r}") for name, value in written.items()})


def _restored_sums(kind: type[Statistic], document: Document, arrays: dict[str, Array]) -> Sums[Any]:
    needed = {field.name for field in fields(kind)} - {"classes", "names", "schema"}
    keys = {"class_count"} | {f"columns.{name}" for name in needed}
    require(arrays.keys() == keys, f"its arrays are {sorted(arrays)}, and not {sorted(keys)}")
    classes = CODEC.decode(document["classes"], "a class")
    require(isinstance(classes, Variable) and not classes.is_coded, "its classes are no list of labels")
    parts = {name: arrays[f"columns.{name}"] for name in needed}
    if kind is CategoryCounts:
        domain: dict[str, Any] = {"schema": _schema(document["columns"])}
    else:
        domain = {"names": _names(document["columns"], max(array.shape[-1] for array in parts.values()))}
    columns = kind.from_arrays(parts, classes=classes, **domain)
    sums = Sums(ClassCounts(classes, arrays["class_count"]), columns)
    require_consistent(sums)
    return sums


def _schema(written: Any) -> Schema:
    variables = CODEC.decode(written, "a state of a column")
    variables = tuple(variables) if isinstance(variables, list) else ()
    require(len(variables) > 0 and all(isinstance(v, Variable) for v in variables), "it has no columns with states")
    return Schema(variables)


def _names(written: Any, n_columns: int) -> tuple[str, ...] | None:
    if written is None:
        return None
    are_names = isinstance(written, list) and all(isinstance(name, str) for name in written)
    require(are_names and len(written) == n_columns, f"its columns {shortened(written)} are not {n_columns} names")
    return tuple(written)


def _n_columns(columns: Any) -> int:
    return len(columns.schema) if isinstance(columns, CategoryCounts) else columns.n_columns


def _in_brief(error: Exception) -> str:
    """One line of a message that may quote all of a file."""
    return shorten(str(error), 500, placeholder=" ...")
