"""How a calibration stands in the document of a model file: its map, its doubt, and what it achieved."""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from bayeswater.decision.calibration_choice import CalibrationReport, Doubt, Quality
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.files.model_file import require
from bayeswater.files.values import Form
from bayeswater.models.stored.columns import field_parts
from bayeswater.typing import Array, is_number

INFINITE = "infinite"
"""How an infinite number is written: JSON knows none."""

METHODS = ("likelihood", "unchanged", "temperature", "shifted")
"""How a calibration is called; all but the first stand in older files."""

ROUNDING = 1e-9
"""A weighted share of all rows may be over 1, and a mean loss under 0, by the rounding of its sums."""


def require_fitting(report: CalibrationReport, n_classes: int) -> None:
    """Refuse a calibration of other classes than the model has."""
    sizes = [len(array) for array in (report.doubt.known, report.map.shift) if np.ndim(array)]
    require(set(sizes) == {n_classes}, f"its calibration is of {sizes} classes, and the model has {n_classes}")


def _number(number: float) -> Any:
    return INFINITE if number == inf else number


def _numbers(*numbers: Any) -> list[float]:
    read = [inf if isinstance(number, str) and number == INFINITE else number for number in numbers]
    if not all(number == inf or is_number(number) for number in read):
        raise TypeError("numbers are expected")
    return read


def _vector(array: Any, kinds: str) -> Array:
    if not (isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in kinds):
        raise TypeError("one number for each class is expected")
    return array


def _likelihood_temperature(temperature: Any, shift: Any, lapse: Any, usual: Any) -> LikelihoodTemperature:
    shift = _vector(shift, "f")
    if not (is_number(temperature) and temperature > 0 and np.isfinite(shift).all()):
        raise ValueError("a temperature is over 0, and shifts are finite numbers")
    if not (is_number(lapse) and 0 <= lapse < 1 and is_number(usual) and usual >= 1):
        raise ValueError("a lapse is a probability under 1, and a usual row has a known cell")
    return LikelihoodTemperature(float(temperature), shift, float(lapse), float(usual))


@dataclass(frozen=True)
class OldMap:
    """A map of older files: softmax(slope * log p + shift) of every row, whatever is known of it."""

    slope: float
    shift: Array | float

    def of_likelihood(self, log_prior: Array) -> LikelihoodTemperature:
        """The same map, with the class prior (n_classes,) and the likelihood apart."""
        prior = np.where(np.isfinite(log_prior), log_prior, 0.0)
        return LikelihoodTemperature(1 / self.slope, self.shift + (self.slope - 1) * prior, 0.0, 1.0)


def _old_temperature(temperature: Any) -> OldMap:
    (value,) = _numbers(temperature)
    if not value > 0:
        raise ValueError("a temperature is over 0")
    return OldMap(max(1 / value, float(np.finfo(np.float64).tiny)), 0.0)


def _old_shifted(slope: Any, shift: Any) -> OldMap:
    slope, shift = _vector(slope, "f"), _vector(shift, "f")
    if not (len(slope) == len(shift) > 0 and np.isfinite(shift).all() and np.isfinite(slope).all()):
        raise ValueError("slopes and shifts are finite numbers of the same classes")
    if (slope != slope[0]).any() or not slope[0] > 0:
        raise ValueError("all classes have the same slope, over 0")
    return OldMap(float(slope[0]), shift)


def _doubt(probability: Any, known: Any) -> Doubt:
    if not (is_number(probability) and 0 <= probability < 1):
        raise ValueError("a doubt is a probability under 1")
    return Doubt(probability, _vector(known, "b"))


def _quality(log_loss: Any, *shares: Any) -> Quality:
    (loss,) = _numbers(log_loss)
    if not (loss >= -ROUNDING and all(is_number(share) and 0 <= share <= 1 + ROUNDING for share in shares)):
        raise ValueError("a log-loss is not under 0, and the other figures are shares")
    return Quality(loss, *shares)


def _report(
    method: Any, map: Any, doubt: Any, scored_by: Any, n_used: Any, n_left_out: Any, n_impossible: Any, *rest: Any
) -> CalibrationReport:
    report = CalibrationReport(method, map, doubt, scored_by, n_used, n_left_out, n_impossible, *rest)
    if method not in METHODS or not isinstance(map, LikelihoodTemperature | OldMap) or not isinstance(doubt, Doubt):
        raise TypeError("a calibration has a method, a map and a doubt")
    counts = (n_used, n_left_out, n_impossible)
    if not (isinstance(scored_by, str) and all(type(count) is int and count >= 0 for count in counts)):
        raise TypeError("a calibration says how many rows were scored by what")
    if not all(quality is None or isinstance(quality, Quality) for quality in (report.before, report.after)):
        raise TypeError("a calibration says how good it is")
    losses = report.candidates
    if not (isinstance(losses, dict) and losses.keys() <= {*METHODS}):
        raise TypeError("a calibration says what it was chosen from")
    if not isinstance(report.is_stale, bool):
        raise TypeError("a calibration is stale or not")
    return replace(report, candidates=dict(zip(losses, _numbers(*losses.values()), strict=True)))


def _report_parts(report: CalibrationReport) -> list[Any]:
    losses = {name: _number(loss) for name, loss in report.candidates.items()}
    return field_parts(replace(report, candidates=losses))


CALIBRATION_FORMS = {
    "LikelihoodTemperature": Form(LikelihoodTemperature, field_parts, _likelihood_temperature),
    # What older files hold is read, and no longer written:
    "Unchanged": Form(OldMap, field_parts, lambda: OldMap(1.0, 0.0)),
    "Temperature": Form(OldMap, field_parts, _old_temperature),
    "ShiftedTemperature": Form(OldMap, field_parts, _old_shifted),
    "Doubt": Form(Doubt, field_parts, _doubt),
    "Quality": Form(Quality, lambda it: [_number(it.log_loss), *field_parts(it)[1:]], _quality),
    "CalibrationReport": Form(CalibrationReport, _report_parts, _report),
}
