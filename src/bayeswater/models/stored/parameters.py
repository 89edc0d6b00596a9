"""The parameters of a model in the document of a model file: each value by the closed list of what may stand there."""

from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from bayeswater.files.model_file import Document, require
from bayeswater.models.stored.columns import without_vectorizers
from bayeswater.models.stored.values import CODEC

Model = TypeVar("Model", bound=BaseEstimator)


def described_parameters(model: BaseEstimator) -> Document:
    """Give all parameters; vectorisers of scikit-learn by their settings."""
    parameters = model.get_params(deep=False)
    if "columns" in parameters:
        parameters["columns"] = without_vectorizers(parameters["columns"])
    return {name: CODEC.encode(value, f"parameter {name!r}") for name, value in parameters.items()}


def with_parameters(model: type[Model], written: Any) -> Model:
    """Make a model that has learned nothing; what a file does not say has its default."""
    known = model().get_params(deep=False)
    require(isinstance(written, dict), "its parameters are no JSON object")
    unknown = sorted(written.keys() - known.keys())
    require(not unknown, f"its parameters {unknown} are none of those of {model.__name__}: {sorted(known)}")
    return model(**{name: CODEC.decode(value, f"parameter {name!r}") for name, value in written.items()})
