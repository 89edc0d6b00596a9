"""`form_of`: a fitted classifier as a `ScoringForm`, whatever it has learned.

Laws say themselves what their cells add (`families/family.py`); here they are put together, with what models of
dependent columns look up.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np

from bayeswater.data.reading.column_plan import COUNTS, Column, ColumnPlan
from bayeswater.data.reading.dates import MONTHS, WEEKDAYS
from bayeswater.data.reading.original_types import arrow_type
from bayeswater.data.variable import Variable
from bayeswater.decision.likelihood_temperature import PAIRS, LikelihoodTemperature, known_shares
from bayeswater.decision.loss import as_loss
from bayeswater.decision.term_weights import TermWeights
from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.exports.form import (
    AverageTerm,
    CalibrationForm,
    Cell,
    ColumnTerm,
    DecisionForm,
    FeaturesTerm,
    GaussianTerm,
    GraphTerm,
    ScoredField,
    ScoringForm,
    Term,
    TextForm,
    TreeTerm,
    Weighing,
    WeightedTerm,
)
from bayeswater.families.family import MixedJoint
from bayeswater.families.gaussian import normal_formula
from bayeswater.families.numbers import IN_SECONDS
from bayeswater.families.registry import families_of
from bayeswater.families.states import state_form
from bayeswater.families.words.weighed_words import WeighedWordBlock
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.forest import Forest
from bayeswater.inference.formula import (
    BinForm,
    CellForm,
    Formula,
    LabelForm,
    Lookup,
    NumberForm,
    Weights,
    WordForm,
    WordWeights,
)
from bayeswater.inference.gaussian_full import FullJoint
from bayeswater.inference.gaussian_line import line_joint
from bayeswater.inference.linear import CategoryJoint, LinearJoint
from bayeswater.inference.normal_joint import GaussianJoint, IndependentJoint
from bayeswater.inference.parent_weights import implied_states
from bayeswater.inference.super_parents import SuperParents
from bayeswater.models.calibrating import Calibration
from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.classifier import scored_by
from bayeswater.models.feature_classifier import FEATURES, FeatureClassifier
from bayeswater.models.feature_nb import BernoulliNB
from bayeswater.models.gaussian_classifier import GaussianClassifier
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.on_sums import OnSums
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.weighing import weighed_words_of, weights_of
from bayeswater.structure.mutual_information import mutual_information
from bayeswater.typing import Array

CLOCKS = {"weekday": WEEKDAYS, "month": MONTHS}
"""Labels of parts of a date, in the order of the calendar."""

LEAST_WEIGHT, LEAST_SHARE = 1e-100, 1e-300
"""What stands for a weight of 0, which counts as 1 in a row of one cell."""


def form_of(model: Any, loss: Any = None) -> ScoringForm:
    """Give a fitted classifier as plain data, with the decision by a loss if one is given.

    Raises
    ------
    ParameterError
        Where a model, or something that it has learned, has no such form.
    """
    maker = next((make for kind, make in MAKERS.items() if isinstance(model, kind)), None)
    if maker is None:
        raise ParameterError(
            f"a {type(model).__name__} cannot be exported; give a NaiveBayes, GaussianNB, MultinomialNB, ComplementNB, "
            "BernoulliNB, CategoricalNB, SPODE, TAN, AODE, KDB, SKDB or GaussianClassifier"
        )
    joint, calibration = scored_by(model)
    form: ScoringForm = maker(model, joint)
    _require_plain(form.classes, "class")
    for cell in form.cells:
        if isinstance(cell.form, LabelForm):
            _require_plain(cell.form.labels, f"state of column {form.fields[cell.field].name!r}")
    return replace(
        form,
        calibration=None if calibration is None else _calibration_form(calibration),
        decision=None if loss is None else _decision_form(loss, model.classes_.tolist()),
    )


def _form(
    model: OnSums, joint: Any, columns: Sequence[tuple[ScoredField, Cell]], terms: Sequence[Term], **more: Any
) -> ScoringForm:
    fields = tuple(dict.fromkeys(field for field, _ in columns))
    cells = tuple(replace(cell, field=fields.index(field)) for field, cell in columns)
    return ScoringForm(
        model=type(model).__name__,
        fields=fields,
        cells=cells,
        classes=tuple(model.statistics_.classes.labels.tolist()),
        log_prior=more.pop("log_prior", joint.log_prior),
        fallback=joint.log_prior,
        terms=tuple(terms),
        **more,
    )


def _of_naive_bayes(model: NaiveBayes, joint: MixedJoint) -> ScoringForm:
    """Put the laws of all columns together."""
    plan, sums = model.columns_, model.statistics_.columns
    groups = dict(joint.groups) | weighed_words_of(model)
    found: list[tuple[ScoredField, Cell, Formula, str]] = []
    for key, family in families_of(plan).items():
        for j, column in enumerate(family.columns):
            formula, form = groups[key].formula(j), family.cell_form(sums.groups[key], j)
            if isinstance(form, WordForm) and isinstance(groups[key], WeighedWordBlock):
                form = groups[key].known_form(form)
            found.append((*_read_off(column, form, formula), formula, column.name))
    order = {name: place for place, name in enumerate(plan.sources)}
    found.sort(key=lambda one: order[one[0].name])
    terms = [ColumnTerm(place, _laid_out(one[2])) for place, one in enumerate(found)]
    weighted = _weighted(model, terms, tuple(one[3] for one in found))
    return _form(model, joint, [one[:2] for one in found], weighted, **_refusals(model))


def _weighted(model: Any, terms: Sequence[ColumnTerm], names: tuple[str, ...]) -> Sequence[Term]:
    """Put the weights of columns with some names on their terms, where there are any."""
    weights = weights_of(model)
    return terms if weights is None else [WeightedTerm(tuple(terms), weighing_of(weights.for_terms(names)))]


def weighing_of(weights: TermWeights) -> Weighing:
    """Give weights as plain data."""
    known = np.arange(len(weights.weight) + 1)
    low, high = (known_shares(known, weights.usual, together) for together in (None, PAIRS))
    slope = 1 / np.maximum(weights.weight, LEAST_WEIGHT) - 1
    doubt = np.zeros(len(slope)) if weights.doubt is None else weights.doubt
    return Weighing(slope, weights.shifts(known), weights.log_prior, low, high, doubt, np.clip(low, LEAST_SHARE, 1))


def _refusals(model: Any) -> dict[str, bool]:
    return {"refuses_missing": model.missing == "error", "refuses_unseen": vars(model).get("unseen") == "error"}


def _read_off(
    column: Column, form: CellForm, formula: Formula | None, states: int | None = None
) -> tuple[ScoredField, Cell]:
    """Say which field a column is read off, and how; `states` counts them, missing ones where they are one."""
    if column.name == COUNTS:
        raise ParameterError("a block of sparse columns cannot be exported; fit on columns with names")
    if isinstance(form, WordForm):
        return ScoredField(column.source, "text"), Cell(0, _text_form(form, column.name))
    dtype = column.dtype or ""
    if column.part is not None:
        zone = getattr(arrow_type(dtype), "tz", None)
        field = ScoredField(column.source, "date", zone)
        if column.part in CLOCKS and isinstance(form, LabelForm):
            first = {"weekday": 0, "month": 1}[column.part]
            form = LabelForm(tuple(first + CLOCKS[column.part].index(str(label)) for label in form.labels))
    elif isinstance(form, LabelForm):
        field = ScoredField(column.source, "label")
        if "bool" not in dtype and {bool} == {type(label) for label in form.labels}:
            form = LabelForm(tuple(map(int, form.labels)))
    else:
        is_time = dtype.startswith(IN_SECONDS) and not dtype.startswith("timestamp")
        field = ScoredField(column.source, "seconds" if is_time else "number")
    if isinstance(form, LabelForm | BinForm):
        if states is None:
            states = form.n_states + (isinstance(formula, Lookup) and formula.missing_is_state)
        return field, Cell(0, form, column.part, int(states), form.n_states)
    return field, Cell(0, form, column.part)


def _text_form(form: WordForm, name: str) -> TextForm:
    """Say how words are found, where every language can."""
    analyser = form.analyser
    if form.words is None or analyser is None:
        raise ParameterError(f"the words of column {name!r} are hashed, and cannot be exported; fit without n_hash")
    if analyser.vectorizer is None:
        return TextForm(form.words, analyser.binary, pairs=analyser.pairs)
    settings = dict(analyser.vectorizer)
    beyond = settings.keys() - {"lowercase", "ngram_range", "stop_words"}
    if beyond:
        raise ParameterError(
            f"words of column {name!r} are found with {sorted(beyond)}, which cannot be exported; a vectoriser may "
            "have lowercase, ngram_range and stop_words"
        )
    stop_words = settings.get("stop_words") or ()
    if isinstance(stop_words, str):
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        stop_words = tuple(sorted(ENGLISH_STOP_WORDS))
    ngrams, lowercase = settings.get("ngram_range", (1, 1)), bool(settings.get("lowercase", True))
    return TextForm(form.words, analyser.binary, tuple(ngrams), lowercase, tuple(stop_words))


def _laid_out(formula: Formula) -> Formula:
    """Give a lookup a last row for cells that are not there; refuse what no language can add."""
    if isinstance(formula, Lookup):
        log_likelihood = formula.log_likelihood if formula.missing_is_state else formula.log_likelihood[:-1]
        none = np.zeros((1, log_likelihood.shape[1]))
        return Lookup(np.concatenate([log_likelihood, none]), formula.missing_is_state)
    if isinstance(formula, WordWeights) and formula.certain and np.isinf(formula.weights).any():
        raise ParameterError("a word has an infinite complement weight; fit with an alpha over 0")
    return formula


def _numbers(names: Sequence[str], form: NumberForm) -> list[tuple[ScoredField, Cell]]:
    return [(ScoredField(name, "number"), Cell(0, form)) for name in names]


def _of_gaussian_nb(model: GaussianNB, joint: GaussianJoint) -> ScoringForm:
    p, names = joint.parameters, _names(model)
    terms = [ColumnTerm(j, normal_formula(p, j)) for j in range(len(names))]
    log_prior = np.where(p.seen, joint.log_prior, -np.inf)
    weighted = _weighted(model, terms, tuple(names))
    return _form(model, joint, _numbers(names, NumberForm()), weighted, log_prior=log_prior, **_refusals(model))


def _of_gaussian_classifier(model: GaussianClassifier, joint: FullJoint | IndependentJoint) -> ScoringForm:
    names = _names(model)
    if isinstance(joint, IndependentJoint):
        columns = joint.columns
        terms: list[Term] = [ColumnTerm(j, normal_formula(columns.parameters, j)) for j in range(len(names))]
        log_prior = np.where(columns.parameters.seen, joint.log_prior, -np.inf)
    else:
        p, cells, log_prior = joint.densities, tuple(range(len(names))), joint.log_prior
        lines = line_joint(log_prior, p, joint)
        if lines is not None and not lines.from_classes:
            line, none = lines.line, np.zeros(p.n_classes)
            center = np.broadcast_to(line.center, (p.n_classes, len(names)))
            terms = [GaussianTerm(cells, center, line.weight.T[:, :, None], none, p.degrees, is_line=True)]
            log_prior = line.intercept + log_prior
        else:
            mean = np.where(p.blend.has_density[:, None], p.mean, 0.0)
            terms = [GaussianTerm(cells, mean, joint.whitening, joint.constant, p.degrees)]
    return _form(model, joint, _numbers(names, NumberForm()), terms, log_prior=log_prior, **_refusals(model))


def _of_categorical_nb(model: CategoricalNB, joint: CategoryJoint) -> ScoringForm:
    is_state = model.missing == "state"
    columns, terms = [], []
    for j, variable in enumerate(model.statistics_.columns.schema):
        formula = joint.formula(j, missing_is_state=is_state)
        columns.append(_read_off(Column(variable.name, variable.name, "categorical"), _labels(variable), formula))
        terms.append(ColumnTerm(j, _laid_out(formula)))
    names = tuple(variable.name for variable in model.statistics_.columns.schema)
    return _form(model, joint, columns, _weighted(model, terms, names), **_refusals(model))


def _labels(variable: Variable) -> LabelForm:
    return LabelForm(tuple(variable.states))


def _of_features(model: FeatureClassifier, joint: LinearJoint) -> ScoringForm:
    """Counted features are a line; marked ones are states, cut at the threshold."""
    names = _names(model)
    if isinstance(model, BernoulliNB):
        return _of_marks(model, joint, names)
    columns = _numbers(names, NumberForm(low=0.0, is_closed=True))
    # A count is a number from 0 on: the model refuses all else, and so do those who speak for it.
    counted: dict[str, Any] = {"refuses_missing": True, "refuses_unseen": True, "counts_nonzero": True}
    if FEATURES in (weighed := weighed_words_of(model)):
        learned = FeaturesTerm(tuple(range(len(names))), weighed[FEATURES].formula(0))
        return _form(model, joint, columns, [learned], **counted)
    weight = joint.weight
    if joint.infinite_weight is not None:
        if joint.certain:
            raise ParameterError("a feature has an infinite complement weight; fit with an alpha over 0")
        weight = np.where(joint.infinite_weight > 0, -np.inf, weight)
    none = np.zeros(weight.shape[1])
    terms = [ColumnTerm(j, Weights(("x",), weight[j][None], none)) for j in range(len(names))]
    return _form(model, joint, columns, terms, **counted)


def _of_marks(model: BernoulliNB, joint: LinearJoint, names: Sequence[str]) -> ScoringForm:
    if joint.infinite_weight is not None:
        raise ParameterError("a feature is impossible in a class; fit BernoulliNB with an alpha over 0 to export it")
    assert joint.threshold is not None
    present = model.feature_log_prob_.T
    absent = present - joint.weight
    table = np.stack([absent, present, np.zeros_like(present)], axis=1)  # (n_features, 3, n_classes)
    cell = Cell(0, BinForm((joint.threshold,), above=True), None, 2, 2)
    columns = [(ScoredField(name, "number"), cell) for name in names]
    terms = [ColumnTerm(j, Lookup(own, missing_is_state=False)) for j, own in enumerate(table)]
    return _form(model, joint, columns, terms, **_refusals(model))


def _of_states(model: StateClassifier, joint: Any) -> ScoringForm:
    """Put columns of states that depend on each other together."""
    plan: ColumnPlan = model.columns_
    estimate = joint.estimate
    columns = [
        _read_off(column, state_form(column, variable), None, n_states)
        for column, variable, n_states in zip(
            plan.used, estimate.counts.schema, estimate.n_states.tolist(), strict=True
        )
    ]
    terms, log_prior = terms_of_states(joint)
    weights = weights_of(model)
    if weights is not None:  # of AODE, whose members are the terms
        terms = [replace(term, weighing=weighing_of(weights)) for term in terms if isinstance(term, AverageTerm)]
    return _form(model, joint, columns, terms, log_prior=log_prior, **_refusals(model))


MAKERS: dict[type, Callable[[Any, Any], ScoringForm]] = {
    NaiveBayes: _of_naive_bayes,
    GaussianNB: _of_gaussian_nb,
    CategoricalNB: _of_categorical_nb,
    FeatureClassifier: _of_features,
    GaussianClassifier: _of_gaussian_classifier,
    StateClassifier: _of_states,
}
"""What can be exported, and how its form is made."""


def _names(model: Any) -> list[str]:
    """Names of the columns of a table of numbers."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _require_plain(labels: Sequence[Any], what: str) -> None:
    """Refuse labels that not every language has."""
    for label in labels:
        if not isinstance(label, str | bool | int | float):
            raise ParameterError(
                f"the {what} {label!r} is a {type(label).__name__}; only texts, numbers and truths can be exported"
            )
    if not _are_alike(labels):
        raise ParameterError(f"some labels of the {what} are texts and some are not; give all of them one type")


def _are_alike(labels: Sequence[Any]) -> bool:
    """Tell whether labels are all texts, all truths or all numbers."""
    return len({str if isinstance(label, str) else isinstance(label, bool) for label in labels}) <= 1


def _calibration_form(calibration: Calibration) -> CalibrationForm:
    found, priors, doubt = calibration.report.map, calibration.priors, calibration.report.doubt
    assert isinstance(found, LikelihoodTemperature)
    return CalibrationForm(
        temperature=float(found.temperature),
        shift=found.shift,
        lapse=float(found.lapse),
        usual=float(found.usual),
        others=found.others,
        prior=np.where(np.isfinite(priors.counted), priors.counted, 0.0),
        to_counted=priors.to_counted,
        is_given=priors.counted is not priors.scored,
        impossible=np.isneginf(priors.scored),
        doubt=float(doubt.probability),
        doubted=np.asarray(doubt.known, dtype=bool),
    )


def _decision_form(loss: Any, classes: list[Any]) -> DecisionForm:
    table = as_loss(loss, classes).table
    if table.row_columns:
        raise ParameterError("a loss whose costs differ from row to row cannot be exported; give fixed costs")
    actions = tuple(table.action_labels.tolist())
    if not _are_alike(actions):  # "reject" beside numbers: a column has one type
        actions = tuple(map(str, actions))
    _require_plain(actions, "action")
    return DecisionForm(actions, table.regret)


MOST_NUMBERS = 2**22
"""Numbers of all tables together, at most: some forty megabytes of text."""


@singledispatch
def terms_of_states(joint: Any) -> tuple[list[Term], Array]:
    """Give the terms of a joint, and what they are added to (n_classes,)."""
    raise ParameterError(
        f"a model that scores by {type(joint).__name__} cannot be exported; give an AODE, SPODE, TAN, KDB or SKDB"
    )


@terms_of_states.register
def _of_forest(joint: Forest) -> tuple[list[Term], Array]:
    tables = tuple(joint.log_conditional(j) for j in range(len(joint.parents)))
    _require_size(sum(table.size for table in tables))
    # A column that never had a value has no states: it adds nothing, and nobody depends on it.
    used = [j for j, table in enumerate(tables) if table.shape[1]]
    place = {j: at for at, j in enumerate(used)} | {-1: -1}
    parents = tuple(place[joint.parents[j]] for j in used)
    return [TreeTerm(tuple(used), parents, tuple(tables[j] for j in used))] if used else [], joint.log_prior


@terms_of_states.register
def _of_dependence(joint: Dependence) -> tuple[list[Term], Array]:
    used = sorted(joint.used)
    widths = {j: tuple((joint.n_states[[*joint.parents[j], j]] + 1).tolist()) for j in used}
    _require_size(sum(prod(width) for width in widths.values()) * joint.estimate.n_classes)
    place = {j: at for at, j in enumerate(used)}
    tables = []
    for j in used:
        slots = np.indices(widths[j]).reshape(len(widths[j]), -1).T
        states = np.zeros((len(slots), len(joint.parents)), dtype=np.int64)
        states[:, [*joint.parents[j], j]] = slots
        with np.errstate(divide="ignore"):
            found = np.log(joint.terms(j, states, use_loop=False)[0])
        tables.append(found.reshape(*widths[j], -1))
    parents = tuple(tuple(place[parent] for parent in joint.parents[j]) for j in used)
    return [GraphTerm(tuple(used), parents, tuple(tables))] if used else [], joint.log_prior


@terms_of_states.register
def _of_super_parents(joint: SuperParents) -> tuple[list[Term], Array]:
    estimate, n = joint.estimate, joint.estimate.n_columns
    _require_size(estimate.n_slots**2 * estimate.n_classes)
    first = estimate.start
    own = [slice(first[j], first[j + 1]) for j in range(n)]
    slots = estimate.slots(np.arange(int(estimate.n_states.max(initial=0)) + 1)[:, None] + np.zeros((1, n), dtype=int))
    can_be, log_conditional = np.zeros((n, len(slots))), np.zeros((estimate.n_slots, *joint.log_conditional.shape[1:]))
    can_be[joint.heads] = replace(joint, weighted=False).weight(slots).T
    log_conditional[joint.head_slots] = joint.log_conditional
    even = [part[: estimate.n_states[j] + 1] for j, part in enumerate(can_be)]
    told = mutual_information(estimate.states) if joint.weighted else np.ones(n)
    naive = joint.naive.terms(slots).swapaxes(0, 1)  # (n_columns, n_slots, n_classes)
    implied = None
    if joint.implying is not None:
        pairs = implied_states(estimate, joint.implying)
        implied = tuple(tuple(pairs[own[i], own[j]] for j in range(n)) for i in range(n))
    term = AverageTerm(
        cells=tuple(range(n)),
        weights=tuple(part * told[j] for j, part in enumerate(even)),
        even=tuple(even),
        joints=tuple(estimate.log_joint[part] for part in own),
        marginals=tuple(naive[j][: estimate.n_states[j] + 1] for j in range(n)),
        log_prior=joint.prior.counted,
        given=tuple(tuple(log_conditional[own[i], own[j]] for j in range(n)) for i in range(n)),
        implied=implied,
    )
    return [term], np.zeros(estimate.n_classes) if joint.prior.shift is None else joint.prior.shift


def _require_size(n_numbers: int) -> None:
    if n_numbers > MOST_NUMBERS:
        raise ResourceLimitError(
            f"the tables of the model hold {n_numbers:,} numbers, over the {MOST_NUMBERS:,} that can be exported; bin "
            "columns of many states, leave them out, or take fewer parents"
        )
