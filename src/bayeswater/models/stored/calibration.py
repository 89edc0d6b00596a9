"""How a calibration stands in the document of a model file: its map, its doubt, and what it achieved."""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from bayeswater.decision.calibration_maps import FEW_PARAMETERS
from bayeswater.decision.calibration_report import CalibrationReport, Quality
from bayeswater.decision.doubt import Doubt
from bayeswater.decision.softmax_maps import ShiftedTemperature, Temperature, Unchanged
from bayeswater.files.model_file import require
from bayeswater.files.values import Form
from bayeswater.models.stored.columns import field_parts
from bayeswater.typing import Array, is_number

INFINITE = "infinite"
"""How an infinite number is written: JSON knows none."""

ROUNDING = 1e-9
"""A weighted share of all rows may be over 1, and a mean loss under 0, by the rounding of its sums."""


def require_fitting(report: CalibrationReport, n_classes: int) -> None:
    """Refuse a calibration of other classes than the model has."""
    shifted = [report.map.shift] if isinstance(report.map, ShiftedTemperature) else []
    sizes = [len(array) for array in (report.doubt.known, *shifted)]
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


def _temperature(temperature: Any) -> Temperature:
    (value,) = _numbers(temperature)
    if not value > 0:
        raise ValueError("a temperature is over 0")
    return Temperature(value)


def _shifted(slope: Any, shift: Any) -> ShiftedTemperature:
    slope, shift = _vector(slope, "f"), _vector(shift, "f")
    if not (len(slope) == len(shift) and np.isfinite(shift).all() and np.isfinite(slope).all()):
        raise ValueError("slopes and shifts are finite numbers of the same classes")
    if (slope != slope[:1]).any():
        raise ValueError("all classes have the same slope")
    return ShiftedTemperature(slope, shift)


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
    is_known = isinstance(method, str) and method in FEW_PARAMETERS
    if not is_known or type(map) is not FEW_PARAMETERS[method] or not isinstance(doubt, Doubt):
        raise TypeError("a calibration has one of the maps, that it is called by, and a doubt")
    counts = (n_used, n_left_out, n_impossible)
    if not (isinstance(scored_by, str) and all(type(count) is int and count >= 0 for count in counts)):
        raise TypeError("a calibration says how many rows were scored by what")
    if not all(quality is None or isinstance(quality, Quality) for quality in (report.before, report.after)):
        raise TypeError("a calibration says how good it is")
    losses = report.candidates
    if not (isinstance(losses, dict) and losses.keys() <= FEW_PARAMETERS.keys()):
        raise TypeError("a calibration says what it was chosen from")
    if not isinstance(report.is_stale, bool):
        raise TypeError("a calibration is stale or not")
    return replace(report, candidates=dict(zip(losses, _numbers(*losses.values()), strict=True)))


def _report_parts(report: CalibrationReport) -> list[Any]:
    losses = {name: _number(loss) for name, loss in report.candidates.items()}
    return field_parts(replace(report, candidates=losses))


CALIBRATION_FORMS = {
    "Unchanged": Form(Unchanged, field_parts, Unchanged),
    "Temperature": Form(Temperature, lambda it: [_number(it.temperature)], _temperature),
    "ShiftedTemperature": Form(ShiftedTemperature, field_parts, _shifted),
    "Doubt": Form(Doubt, field_parts, _doubt),
    "Quality": Form(Quality, lambda it: [_number(it.log_loss), *field_parts(it)[1:]], _quality),
    "CalibrationReport": Form(CalibrationReport, _report_parts, _report),
}
