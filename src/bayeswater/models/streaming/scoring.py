"""`score(source, target=...)`: the share of rows whose class is predicted, added up piece by piece."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswater.data.labels import one_dimensional
from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.models.streaming.cell_types import column_names, column_types, label_type
from bayeswater.models.streaming.examples import Piece
from bayeswater.models.streaming.finding import is_in_memory
from bayeswater.models.streaming.fitting import labelled_rows, parted, require_target, warn_of_unlabelled


def score_source(model: Any, source: Any, y: Any, sample_weight: Any, target: Any) -> float:
    """Give the accuracy of a model on a source, of which one column holds the labels."""
    require_target(target, y)
    if is_in_memory(source):
        share: float = model.score(*parted(source, target, sample_weight))
        return share
    examples = labelled_rows(source, target, sample_weight)
    if hasattr(model, "feature_names_in_"):
        examples.columns = column_names(model)
        examples.rows.require_columns(examples.columns)
        if isinstance(examples.rows, LocalRows):
            examples.rows.declare({**column_types(model), target: label_type(model)})
    found: Hits = examples.sum(Predicting(model))
    if examples.n_unlabelled:
        warn_of_unlabelled(examples.n_unlabelled, target)
    return found.right / found.total


@dataclass(frozen=True)
class Hits:
    """Weights of the rows whose class was predicted, and of all."""

    right: float
    total: float

    def __add__(self, other: "Hits") -> "Hits":
        return Hits(self.right + other.right, self.total + other.total)


@dataclass(frozen=True)
class Predicting:
    """A function of a piece: how often the class of its rows is predicted."""

    model: Any

    def __call__(self, piece: Piece) -> Hits:
        """Predict all rows of a piece."""
        hit = np.asarray(self.model.predict(piece.X) == one_dimensional(piece.y))
        weight = np.ones(len(hit)) if piece.weight is None else piece.weight
        return Hits(float(weight[hit].sum()), float(weight.sum()))
