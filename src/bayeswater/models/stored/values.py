"""The closed list of what the document of a model file may hold, and how each value is made of its parts: `CODEC`.

Parameters, priors and domains; the plan of a table and what a user says about its columns; and a calibration: its map,
its doubt, and what it achieved. What is made is checked as if a stranger had written it.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf
from reprlib import repr as shortened
from typing import Any

import numpy as np

from bayeswater.data.reading.cell_style import CellStyle
from bayeswater.data.reading.cell_styles import style_of_document
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser, word_finder
from bayeswater.data.sources.reading_options import ReadAs, read_as_of_document
from bayeswater.data.variable import Variable
from bayeswater.decision.calibration_choice import CalibrationReport, Doubt, Quality
from bayeswater.decision.calibration_maps import MAPS, BetaCalibration, IsotonicCalibration, Temperature, VectorScaling
from bayeswater.decision.likelihood_temperature import PAIRS, TRIPLES, LikelihoodTemperature
from bayeswater.decision.term_weights import TermWeights, shares_of_one
from bayeswater.decision.word_weights import COUNTS, FOLDS, MARKS, Machine, TextWeights, WordReading
from bayeswater.estimate.covariance_priors import Friedman, NormalInverseWishart
from bayeswater.estimate.dirichlet import Beta, Dirichlet, MEstimate
from bayeswater.estimate.normal_parameters import NormalInverseGamma
from bayeswater.families.family import ColumnSettings
from bayeswater.families.settings import NAMES, column_settings
from bayeswater.files.model_file import require
from bayeswater.files.values import FORMS, Codec, ValueForm
from bayeswater.records import record
from bayeswater.typing import Array, is_number, is_temperature

MISLED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, re.error)
"""What scikit-learn, and the regular expressions in it, may answer to settings of a stranger."""


def field_parts(value: Any) -> list[Any]:
    """Take a dataclass apart: its fields, in their order."""
    return [getattr(value, field.name) for field in fields(value)]


def without_vectorizers(columns: Any) -> Any:
    """Put the settings of vectorisers of scikit-learn, which read the same words, in their place.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> without_vectorizers({"note": {"analyser": CountVectorizer(binary=True)}, "age": "mdl"})
    {'note': {'analyser': TextAnalyser(n_hash=None, idf=False, binary=True, vectorizer=(), pairs=False)}, 'age': 'mdl'}
    """
    if not isinstance(columns, Mapping):
        return columns
    return {
        name: {**said, **_analyser_in(said)} if isinstance(said, Mapping) else said for name, said in columns.items()
    }


def _analyser_in(said: Mapping[str, Any]) -> dict[str, TextAnalyser]:
    given = said.get("analyser")
    is_plain = given is None or isinstance(given, TextAnalyser)
    return {} if is_plain else {"analyser": TextAnalyser.from_vectorizer(given)}


def _column(
    name: Any, source: Any, family: Any, why: Any, part: Any = None, dtype: Any = None, cuts: Any = None, *rest: Any
) -> Column:
    texts = (name, source, family, why, *(text for text in (part, dtype) if text is not None))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a column has a name, a source, a family, a reason, a part of a date and a type, all texts")
    if not (cuts is None or (isinstance(cuts, tuple) and all(map(is_number, cuts)))):
        raise TypeError("the cuts of a column are numbers")
    column = Column(name, source, family, why, part, dtype, cuts, *rest)
    if not (isinstance(column.options, tuple) and all(map(_is_option, column.options))):
        raise TypeError("the options of a column are pairs of a name and a number")
    spans = column.spans
    if not (spans is None or (isinstance(spans, tuple) and all(map(_is_pair, spans)))):
        raise TypeError("the spans of a column are pairs of numbers")
    if not (column.analyser is None or isinstance(column.analyser, TextAnalyser)):
        raise TypeError("words are found by an analyser of text")
    _require_style(column.style)
    return column


def _require_style(style: Any) -> None:
    if not (style is None or isinstance(style, CellStyle)):
        raise TypeError("the style of cells says how they are written")


def _is_option(option: Any) -> bool:
    return isinstance(option, tuple) and len(option) == 2 and isinstance(option[0], str) and is_number(option[1])


def _is_pair(span: Any) -> bool:
    return isinstance(span, tuple) and len(span) == 2 and all(map(is_number, span))


def _analyser(n_hash: Any, idf: Any, binary: Any, vectorizer: Any, pairs: Any = False) -> TextAnalyser:
    if isinstance(n_hash, bool) or not all(isinstance(flag, bool | np.bool_) for flag in (idf, binary, pairs)):
        raise TypeError("n_hash is a number, and idf, binary and pairs are true or false")
    if vectorizer is not None:
        _require_words(vectorizer)
    return TextAnalyser(n_hash, idf, binary, vectorizer, pairs)


def _require_words(settings: Any) -> None:
    """Refuse settings by which no words are found: they are tried."""
    pairs = settings if isinstance(settings, tuple) else (None,)
    if not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise TypeError("settings of words are pairs of a name and a value")
    try:
        hash(settings)  # as an analyser is compared with others
        TextAnalyser(vectorizer=settings)
        word_finder(settings)("two words")
    except MISLED as error:
        raise ValueError(f"no words are found: {error}") from None


def _plan(*columns: Any) -> ColumnPlan:
    if not all(isinstance(column, Column) for column in columns):
        raise TypeError("a plan consists of columns")
    return ColumnPlan(columns)


def _settings(*parts: Any) -> ColumnSettings:
    settings = ColumnSettings(*parts)
    if not (isinstance(settings.options, tuple) and all(map(_is_option, settings.options))):
        raise TypeError("the options of a column are pairs of a name and a number")
    said = {name: getattr(settings, name) for name in NAMES}
    column_settings({"": {**said, **dict(settings.options)}})  # refuses what could not be said
    if not isinstance(settings.dtype, str | None):
        raise TypeError("the type of a column is a text")
    _require_style(settings.style)
    return settings


COLUMN_FORMS = {
    "TextAnalyser": ValueForm(TextAnalyser, field_parts, _analyser),
    "ReadAs": ValueForm(ReadAs, lambda own: [own.document()], read_as_of_document),
    "CellStyle": ValueForm(CellStyle, lambda style: [style.document()], style_of_document),
    "Column": ValueForm(Column, field_parts, _column),
    "ColumnPlan": ValueForm(ColumnPlan, lambda plan: list(plan.columns), _plan),
    "ColumnSettings": ValueForm(ColumnSettings, field_parts, _settings),
}


WORD_WEIGHTS = "word_weights"
"""Name of what weights of words are written under."""

INFINITE = "infinite"
"""How an infinite number is written: JSON knows none."""

METHODS = ("likelihood", "unchanged", "temperature", "shifted", *MAPS)
"""How a calibration is called; those between the first and the maps of a `Calibrated` stand in older files."""

ROUNDING = 1e-9
"""A weighted share of all rows may be over 1, and a mean loss under 0, by the rounding of its sums."""


def read_report(written: Any, n_classes: int) -> CalibrationReport:
    """Read a calibration; refuse one of other classes than the model has."""
    report = CODEC.decode(written, "the calibration")
    require(isinstance(report, CalibrationReport), f"its calibration is {shortened(report)}")
    of_map = [
        getattr(report.map, name) for name in ("slope", "shift", "coefficients", "knots") if name in vars(report.map)
    ]
    sizes = [len(array) for array in (report.doubt.known, *of_map) if isinstance(array, np.ndarray | tuple)]
    require(set(sizes) == {n_classes}, f"its calibration is of {sizes} classes, and the model has {n_classes}")
    found: CalibrationReport = report
    return found


def read_calibration(written: Any, n_classes: int) -> CalibrationReport:
    """Read a calibration that a model has of itself."""
    report = read_report(written, n_classes)
    own = isinstance(report.map, LikelihoodTemperature | OldMap)
    require(own, f"its calibration is {shortened(report.map)}, which only a Calibrated has")
    return report


def read_weights(written: Any, n_classes: int) -> TermWeights:
    """Read weights of terms; refuse those of other classes than the model has."""
    weights = CODEC.decode(written, "the weights")
    require(isinstance(weights, TermWeights), f"its weights are {shortened(weights)}")
    n_own = len(weights.shift)
    require(n_own == n_classes, f"its weights are of {n_own} classes, and the model has {n_classes}")
    found: TermWeights = weights
    return found


def described_words(weights: Mapping[str, TextWeights]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Write the weights of words, by column: what a document says of them, and arrays."""
    written, arrays = {}, {}
    for place, (name, own) in enumerate(weights.items()):
        machines = (own.machine, *own.folds)
        arrays[f"{WORD_WEIGHTS}.{place}"] = np.stack([machine.weight for machine in machines])
        intercepts = [machine.intercept.tolist() for machine in machines]
        rest = [own.slope, own.shift.tolist(), own.log_prior.tolist(), own.n_used, own.log_loss, own.accuracy]
        written[name] = [list(field_parts(own.reading)), own.is_marked, intercepts, *rest, own.is_stale]
    return written, arrays


def read_words(written: Any, arrays: dict[str, Array], sizes: Mapping[str, tuple[int, ...]]) -> dict[str, TextWeights]:
    """Read the weights of words, of columns that have so many classes and words; refuse what no fit gives."""
    require(isinstance(written, dict) and set(written) <= set(sizes), "it has weights of words of unknown columns")
    found = {}
    for place, (name, document) in enumerate(written.items()):
        weight = arrays.pop(f"{WORD_WEIGHTS}.{place}", None)
        shape, what = (1 + FOLDS, *sizes[name]), f"its weights of words in column {name!r}"
        require(weight is not None and weight.shape == shape, f"{what} are not one for each word and class")
        assert weight is not None
        require(weight.dtype == np.float32 and bool(np.isfinite(weight).all()), f"{what} are no numbers")
        try:
            found[name] = _text_weights(weight, *document)
        except (TypeError, ValueError):
            require(False, f"{what} do not say how they were learned")
    return found


def _text_weights(
    weight: Array, reading: Any, is_marked: Any, intercepts: Any, slope: Any, shift: Any, log_prior: Any, *report: Any
) -> TextWeights:
    n_used, log_loss, accuracy, is_stale = report
    shift, log_prior = np.array(shift, dtype=np.float64), np.array(log_prior, dtype=np.float64)
    intercept = np.array(intercepts, dtype=np.float64)
    figures = (n_used, *(figure for figure in (log_loss, accuracy) if figure is not None))
    reading = WordReading(*([reading] if isinstance(reading, str) else reading))  # earlier files name the amount alone
    flags = (reading.by_root, reading.alone, is_marked, is_stale)
    if not (reading.amount in (MARKS, COUNTS) and all(isinstance(flag, bool) for flag in flags)):
        raise TypeError("a text is read by marks or counts")
    if not (is_number(slope) and slope >= 0 and all(map(is_number, figures)) and intercept.shape == weight.shape[:2]):
        raise TypeError("a slope is a number, 0 or more")
    if not (shift.shape == log_prior.shape == weight.shape[1:2] and np.isfinite([*shift, *intercept.ravel()]).all()):
        raise ValueError("shifts and intercepts are finite, one for each class")
    if not (log_prior <= 0).all():
        raise ValueError("a prior is a log-probability")
    first, *others = (Machine(own, b) for own, b in zip(weight, intercept, strict=True))
    learned = TextWeights(reading, first, tuple(others), float(slope), shift, log_prior, is_marked=is_marked)
    return replace(learned, n_used=n_used, log_loss=log_loss, accuracy=accuracy, is_stale=is_stale)


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


def _likelihood_temperature(
    temperature: Any, shift: Any, lapse: Any, usual: Any, together: Any = PAIRS
) -> LikelihoodTemperature:
    shift = _vector(shift, "f")
    if not (is_temperature(temperature) and np.isfinite(shift).all()):
        raise ValueError("a temperature is over 0, and shifts are finite numbers")
    if not (is_number(lapse) and 0 <= lapse < 1 and is_number(usual) and usual >= 1):
        raise ValueError("a lapse is a probability under 1, and a usual row has a known cell")
    if together not in (PAIRS, TRIPLES) or type(together) is not int:
        raise ValueError(f"columns that speak together are {PAIRS} or {TRIPLES}")
    return LikelihoodTemperature(float(temperature), shift, float(lapse), float(usual), together)


def _term_weights(
    names: Any, weight: Any, shift: Any, log_prior: Any, usual: Any, one: Any, *report: Any
) -> TermWeights:
    shift, log_prior = _vector(shift, "f"), _vector(log_prior, "f")
    if not (isinstance(names, tuple) and all(isinstance(name, str) for name in names)):
        raise TypeError("weights have the names of their columns")
    are_weights = isinstance(weight, np.ndarray) and weight.dtype.kind == "f"
    if not (are_weights and weight.shape == (len(names), len(shift)) and len(log_prior) == len(shift)):
        raise TypeError("there is a weight for each column and class, a shift and a prior for each class")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and np.isfinite(shift).all() and (log_prior <= 0).all()):
        raise ValueError("weights are finite and not under 0, shifts are finite, and a prior is a log-probability")
    if not (is_number(usual) and usual >= 1 and is_temperature(one)):
        raise ValueError("a usual row has a known cell, and a temperature is over 0")
    log_prior = shares_of_one(log_prior)  # in older files a class that was forgotten left a gap
    n_used, before, after, is_stale, doubt = report if len(report) > 4 else (*report, None)  # none in older files
    are_losses = all(loss is None or is_number(loss) for loss in (before, after))
    if not (type(n_used) is int and n_used >= 0 and are_losses and isinstance(is_stale, bool)):
        raise TypeError("weights say how many rows they were learned from, how well they do, and if they are stale")
    if doubt is not None:
        doubt = _vector(doubt, "f")
        if not (doubt.shape == (len(names),) and ((doubt >= 0) & (doubt < 1)).all()):
            raise ValueError("there is a doubt for each column, a probability under 1")
    found = names, weight, shift, log_prior, float(usual), float(one), n_used, before, after, is_stale, doubt
    return TermWeights(*found)


@record
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
    if not (is_temperature(value) or value == np.inf):
        raise ValueError("a temperature is over 0")
    return OldMap(max(1 / value, float(np.finfo(np.float64).tiny)), 0.0)


def _old_shifted(slope: Any, shift: Any) -> OldMap:
    slope, shift = _vector(slope, "f"), _vector(shift, "f")
    if not (len(slope) == len(shift) > 0 and np.isfinite(shift).all() and np.isfinite(slope).all()):
        raise ValueError("slopes and shifts are finite numbers of the same classes")
    if (slope != slope[0]).any() or not slope[0] > 0:
        raise ValueError("all classes have the same slope, over 0")
    return OldMap(float(slope[0]), shift)


def _temperature(temperature: Any) -> Temperature:
    if not is_temperature(temperature):
        raise ValueError("a temperature is over 0")
    return Temperature(float(temperature))


def _vector_scaling(slope: Any, shift: Any) -> VectorScaling:
    slope, shift = _vector(slope, "f"), _vector(shift, "f")
    if not (len(slope) == len(shift) and np.isfinite(slope).all() and np.isfinite(shift).all()):
        raise ValueError("slopes and shifts are finite numbers of the same classes")
    return VectorScaling(slope, shift)


def _beta_calibration(coefficients: Any) -> BetaCalibration:
    are_rows = isinstance(coefficients, np.ndarray) and coefficients.dtype.kind == "f" and coefficients.ndim == 2
    if not (are_rows and coefficients.shape[1] == 3 and np.isfinite(coefficients).all()):
        raise ValueError("each class has three finite coefficients")
    return BetaCalibration(coefficients)


def _isotonic_calibration(knots: Any) -> IsotonicCalibration:
    if not (isinstance(knots, tuple) and all(isinstance(own, tuple) and len(own) == 2 for own in knots)):
        raise TypeError("each class has places and the frequencies there")
    for own in knots:
        place, frequency = _vector(own[0], "f"), _vector(own[1], "f")
        are_numbers = len(place) == len(frequency) and np.isfinite(place).all()
        if not (are_numbers and (np.diff(place) > 0).all() and ((frequency > 0) & (frequency <= 1)).all()):
            raise ValueError("places rise, and frequencies are over 0")
    return IsotonicCalibration(knots)


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
    is_map = isinstance(map, (LikelihoodTemperature, OldMap, *MAPS.values()))
    if method not in METHODS or not is_map or not isinstance(doubt, Doubt):
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
    "LikelihoodTemperature": ValueForm(LikelihoodTemperature, field_parts, _likelihood_temperature),
    # What older files hold is read, and no longer written:
    "Unchanged": ValueForm(OldMap, field_parts, lambda: OldMap(1.0, 0.0)),
    "Temperature": ValueForm(OldMap, field_parts, _old_temperature),
    "ShiftedTemperature": ValueForm(OldMap, field_parts, _old_shifted),
    # Of a `Calibrated`; "Temperature" stands in older files of other models.
    "TemperatureMap": ValueForm(Temperature, field_parts, _temperature),
    "VectorScaling": ValueForm(VectorScaling, field_parts, _vector_scaling),
    "BetaCalibration": ValueForm(BetaCalibration, field_parts, _beta_calibration),
    "IsotonicCalibration": ValueForm(IsotonicCalibration, field_parts, _isotonic_calibration),
    "Doubt": ValueForm(Doubt, field_parts, _doubt),
    "Quality": ValueForm(Quality, lambda it: [_number(it.log_loss), *field_parts(it)[1:]], _quality),
    "CalibrationReport": ValueForm(CalibrationReport, _report_parts, _report),
    "TermWeights": ValueForm(TermWeights, field_parts, _term_weights),
}


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


def _dirichlet_form(kind: type[Dirichlet]) -> ValueForm:
    return ValueForm(
        kind, lambda p: [p.pseudo_counts, p.default], lambda counts, default: kind(counts, default=default)
    )


CODEC = Codec(
    FORMS
    | COLUMN_FORMS
    | CALIBRATION_FORMS
    | {
        "Variable": ValueForm(Variable, _variable_parts, _variable),
        "Dirichlet": _dirichlet_form(Dirichlet),
        "MEstimate": _dirichlet_form(MEstimate),
        "Beta": ValueForm(Beta, lambda p: [p.pseudo_counts], Beta),
        "Friedman": ValueForm(Friedman, lambda p: [p.shared, p.spherical], Friedman),
        "NormalInverseWishart": ValueForm(
            NormalInverseWishart, lambda p: [p.mean, p.strength, p.covariance, p.degrees], NormalInverseWishart
        ),
        "NormalInverseGamma": ValueForm(
            NormalInverseGamma, lambda p: [p.mean, p.strength, p.shape, p.scale], NormalInverseGamma
        ),
    }
)
"""The closed list of what a document may hold."""
