"""Gaussian classes learned from rows that are read in pieces.

One pass sums the rows. ``shrinkage="auto"`` takes another, to leave every row out under each candidate, and so does
``calibrate=True``.
"""

from typing import TYPE_CHECKING, TypeVar

from sklearn.base import clone

from bayeswater.errors import ParameterError
from bayeswater.models.gaussian.choosing_shrinkage import Losses
from bayeswater.models.gaussian.reading import warn_of_singular
from bayeswater.models.gaussian.settings import AUTO, is_named, refuse_em
from bayeswater.models.streaming.counting import Counting
from bayeswater.models.streaming.examples import Batches, Examples
from bayeswater.models.streaming.reviewing import reviewed
from bayeswater.models.streaming.walking import Pass, Walk

if TYPE_CHECKING:
    from bayeswater.models.gaussian.gaussian_classifier import GaussianClassifier

Model = TypeVar("Model", bound="GaussianClassifier")


def walk_over_numbers(model: Model, examples: Examples) -> Walk[Model]:
    """Learn Gaussian classes: sum the rows, choose the shrinkage, calibrate."""
    model._reading_of(None)  # refuse what cannot be read before anything is summed
    is_auto = is_named(model.shrinkage, AUTO)
    if is_auto:
        why = "shrinkage='auto' cannot leave rows out of them to choose; give a number or Friedman(...)"
        refuse_em(model.missing, why)
    if model.missing == "em" and not isinstance(examples, Batches):
        raise ParameterError(
            f"missing='em' looks at all rows again and again, and {examples.name} is read in pieces; fit rows that "
            "are in memory, or take missing='ignore'"
        )
    again = "shrinkage='auto' reads the rows twice" if is_auto else ""
    again = "calibrate=True reads the rows twice" if model.calibrate else again
    sums = yield Pass(Counting(clone(model)), then=again)
    model._keep(sums, examples.columns_of_X, first=True)
    if is_auto:
        losses = yield Pass(Losses(model), "choosing the shrinkage", then=again if model.calibrate else "")
        model._keep_shrinkage(losses.best())
    warn_of_singular(model._densities, sums)
    return model.calibrate_with((yield from reviewed(model, examples))) if model.calibrate else model
