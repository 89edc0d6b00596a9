"""A report of a model as one HTML file: what was read, how good it is, what it learned, six rows, groups, warnings."""

import warnings
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.display_width import display_width, shortened
from bayeswater.data.reading.column_plan import IGNORED
from bayeswater.data.reading.dates import column_title
from bayeswater.decision.calibration_metrics import reliability_table
from bayeswater.decision.curves import Rates, cost_curve
from bayeswater.decision.intervals import Measured, mean_of, wilson
from bayeswater.decision.loss import Loss, as_loss, cost_html
from bayeswater.decision.ranking import Ranking
from bayeswater.decision.scorecard import DRAWS, Measures, Scorecard
from bayeswater.decision.scores import Scores
from bayeswater.errors import BayesError, BayesWarning, DataError, SchemaError, nearest_names
from bayeswater.explain.importance import curve_or_none, importance
from bayeswater.explain.nomogram import Scale, scale_of
from bayeswater.families.curve import ColumnCurve
from bayeswater.inference.drawing import draw_counts
from bayeswater.markup import Safe, bar, html_table, markup
from bayeswater.models.comparing.compare import compare
from bayeswater.models.streaming.answering import cell_names
from bayeswater.phrases import Language, translated
from bayeswater.records import record
from bayeswater.reports.audit import audit
from bayeswater.reports.independent import INDEPENDENT
from bayeswater.reports.page import figures, note, page, scrolled, section, shaded, subsection
from bayeswater.reports.pictures import nomogram_picture, plot, round_top
from bayeswater.reports.sentences import sentences
from bayeswater.typing import Array
from bayeswater.version import __version__

MOST_SCALES = 25
"""Columns of a nomogram: as many as a page holds."""

PAGE, HALF_PAGE, LINE, LETTERS = 222, 120, 4, 105
"""Height of a nomogram on a page of its own, and the least, and of a line of the list below it, in mm; its letters."""

MOST_CONFUSED = 30
"""Classes up to which the confusion is shown."""

OF_EACH = 2
"""Rows of each kind that are explained."""


@record
class ReportedRows:
    """Rows of an Arrow table whose class is known to a model, and what the report is to say of them.

    Parameters
    ----------
    model : fitted classifier of Bayeswater
    table : rows, with all columns that the model reads, and that of the groups
    codes : codes of their true classes (n_rows,)
    name : where they come from
    target : what is predicted
    k : code of the class that curves are drawn for
    language : of the report
    notes : what was left out before
    """

    model: Any
    table: Any
    codes: Array
    name: str
    target: str
    k: int
    language: Language
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[Any]:
        """Classes, in their order."""
        return list(np.asarray(self.model.classes_).tolist())

    @property
    def positive(self) -> str:
        """The class that curves are drawn for."""
        return repr(self.labels[self.k])

    @cached_property
    def X(self) -> Any:
        """The columns that the model reads."""
        return self.table.select([str(name) for name in cell_names(self.model)])

    @cached_property
    def scores(self) -> Scores:
        """Log-probabilities and true classes."""
        return Scores.of(self.model.predict_log_proba(self.X), self.codes)

    @cached_property
    def card(self) -> Scorecard:
        """Sums over all rows."""
        return Scorecard.of(self.scores.log_proba, self.codes)

    @cached_property
    def ranking(self) -> Ranking:
        """Rows by their probabilities."""
        return Ranking.of(self.scores.log_proba, self.codes)


def model_report(
    model: Any,
    table: Any,
    target: str,
    *,
    name: str = "",
    group: str | None = None,
    positive: Any = None,
    loss: Any = None,
    peers: bool = False,
    lang: str = "en",
    notes: tuple[str, ...] = (),
) -> str:
    """Make a report of a fitted classifier on rows whose class is known: the text of an HTML file.

    Parameters
    ----------
    model : fitted classifier of Bayeswater
    table : pyarrow Table with the columns of the model and `target`
    target : column of true classes
    name : where the rows come from
    group : column by whose values the rows are audited, optional
    positive : class that curves are drawn for; by default the last one
    loss : Loss, or anything that `Loss` reads, optional
        What decisions cost; columns of the table may hold some of it.
    peers : whether other libraries' models are compared on these rows
    lang : {"en", "zh"}
    notes : what was left out before
    """
    language = sentences(lang)
    for wanted in filter(None, (target, group)):
        if wanted not in table.column_names:
            raise SchemaError(f"the rows have no column {wanted!r}; {nearest_names(wanted, table.column_names)}")
    labels = np.asarray(model.classes_).tolist()
    if positive is not None and positive not in labels:
        raise DataError(
            f"there is no class {positive!r} in the model; {nearest_names(str(positive), [*map(str, labels)])}"
        )
    costs = None if loss is None else as_loss(loss, labels)
    code = {label: k for k, label in enumerate(labels)}
    codes = np.array([code.get(label, -1) for label in table.column(target).to_pylist()], dtype=np.int64)
    known = np.flatnonzero(codes >= 0)
    if not len(known):
        raise DataError(f"no row is of a class that the model knows, {labels[:10]}; is {target!r} the right column?")
    warned = [*notes, *([language.say("left out", n=len(codes) - len(known))] if len(known) < len(codes) else [])]
    k = len(labels) - 1 if positive is None else labels.index(positive)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BayesWarning)
        rows = ReportedRows(model, table.take(known), codes[known], name, target, k, language)
        parts = [_read(rows), _quality(rows), *([_peers(rows)] if peers else []), _confusion(rows)]
        if costs is not None:
            parts.append(cost_section(costs, rows.scores.log_proba, rows.codes, rows.table, language))
        parts.append(_curves(rows))
        parts += [*_columns(rows), _six_rows(rows)]
        if group is not None:
            fixed = costs if costs is not None and not costs.table.by_row else None
            found = audit(model, rows.table, target, group=group, positive=labels[k], loss=fixed, lang=lang)
            parts.append(section(language.say("by group"), scrolled(Safe(found._repr_html_()))))
    warned += dict.fromkeys(
        translated(str(one.message), language) for one in caught if issubclass(one.category, BayesWarning)
    )
    parts.append(_warned(rows, warned))
    title = language.say("report title", target=target)
    return page(title, parts, language.say("made by", version=__version__), lang)


def _read(rows: ReportedRows) -> Safe:
    say, n_rows = rows.language.say, len(rows.codes)
    left_out = sum(own.family == IGNORED for own in getattr(rows.model, "columns_", ()))
    facts = [
        (say("model"), type(rows.model).__name__),
        (say("file"), rows.name),
        (say("n rows"), f"{n_rows:,}"),
        (say("n columns"), f"{len(cell_names(rows.model)) - left_out:,}"),
    ]
    share = np.bincount(rows.codes, minlength=len(rows.labels)) / n_rows
    prior = np.asarray(rows.model.predict_proba({}))[0]
    balance = [
        (str(label), f"{share[i]:.1%}", bar(float(share[i])), f"{prior[i]:.1%}") for i, label in enumerate(rows.labels)
    ]
    heads = (say("class"), say("share"), "", say("expected share"))
    return section(say("read"), html_table(("", ""), facts), subsection(say("balance"), html_table(heads, balance)))


def _quality(rows: ReportedRows) -> Safe:
    say, card, base = rows.language.say, rows.card, rows.card.baseline
    n_rows, measures, drawn = card.n_rows, Measures.of(rows.scores), _drawn_figures(card)
    area = _mean_area(rows.ranking)
    lines: list[tuple[str, Measured | None, float | None]] = [
        ("accuracy", wilson(card.accuracy, n_rows), base.accuracy),
        ("AUC", area, None if area is None else 0.5),
        *((name, drawn[j], None) for j, name in enumerate(("mean precision", "mean recall", "F1"))),
        ("log-loss", measures.log_loss, base.log_loss),
        ("ECE", measures.ece, None),
        ("Brier", Measured(card.brier, np.nan, np.nan), base.brier),
    ]
    table = [(say(name), _measured(rows, own), "" if known is None else f"{known:.3f}") for name, own, known in lines]
    heads = [say(key) for key in ("class", "n rows", "AUC", "mean precision", "mean recall", "F1")]
    by_class = []
    for label, own, one in zip(rows.labels, card.by_class, rows.ranking.areas, strict=True):
        called = float(card.confusion[:, rows.labels.index(label)].sum())
        precise = None if own.precision is None else wilson(own.precision, called)
        recall = None if own.recall is None else wilson(own.recall, own.n_rows)
        figures_of = (None if one is None else Measured(*one[:3]), precise, recall)
        f1 = say("none") if own.f1 is None else f"{own.f1:.3f}"
        by_class.append((str(label), f"{own.n_rows:,.0f}", *(_measured(rows, found) for found in figures_of), f1))
    return section(
        say("quality"),
        html_table((say("figure"), say("value"), say("baseline")), table),
        note(say("quality note")),
        note(say("means")),
        scrolled(html_table(heads, by_class[:MOST_CONFUSED])),
    )


def _measured(rows: ReportedRows, found: Measured | None) -> str:
    if found is None:
        return rows.language.say("none")
    if np.isnan(found.low):
        return f"{found.value:.3f}"
    return rows.language.say("measured", **{part: f"{getattr(found, part):.3f}" for part in found._fields})


def _mean_area(ranking: Ranking) -> Measured | None:
    """Give the mean AUC; its interval is that of one class of two, and of more the mean of theirs, which is wider."""
    known = [area for area in ranking.areas if area is not None]
    if not known:
        return None
    return Measured(*(float(np.mean([getattr(area, part) for area in known])) for part in Measured._fields))


def _drawn_figures(card: Scorecard) -> list[Measured]:
    """Give mean precision, recall and F1, with quantiles over rows drawn again, about as often as they were."""
    rng = np.random.default_rng(0)
    value = card.mean_figures[1:]
    again = []
    for _ in range(DRAWS):
        confusion = draw_counts(card.confusion, rng)
        if confusion.sum():
            again.append(Scorecard(confusion, 0.0, 0.0, card.confidence, card.correct).mean_figures[1:])
    low, high = np.quantile(np.array(again, dtype=np.float64), (0.025, 0.975), axis=0)
    return [
        Measured(float(v or 0.0), min(v or 0.0, a), max(v or 0.0, b)) for v, a, b in zip(value, low, high, strict=True)
    ]


def _peers(rows: ReportedRows) -> Safe:
    say = rows.language.say
    y = rows.table.column(rows.target).to_pylist()
    found = compare(rows.X, y, models=["naive-bayes"], peers=True)
    title = say("peers rows", n=f"{found.n_rows:,}", classes=found.n_classes, folds=found.n_folds)
    table = found.html(title, say("peers heads").split("|"), say("remarks"), rows.language)
    return section(say("peers"), note(say("peers note")), scrolled(table))


def _confusion(rows: ReportedRows) -> Safe:
    say, count = rows.language.say, rows.card.confusion[:MOST_CONFUSED, :MOST_CONFUSED]
    of_class = np.maximum(count.sum(axis=1, keepdims=True), 1)
    labels = [str(label) for label in rows.labels[:MOST_CONFUSED]]
    cells = [
        (label, *(shaded(f"{n:,.0f}", float(n / of_class[i, 0])) for n in count[i])) for i, label in enumerate(labels)
    ]
    heads = (f"{say('truth')} \\ {say('decided', positive='')}".strip(), *labels)
    return section(say("confusion"), scrolled(html_table(heads, cells)))


def _curves(rows: ReportedRows) -> Safe:
    """Draw ROC, precision and recall, reliability and cost of the class against the rest."""
    say, k, proba = rows.language.say, rows.k, np.exp(rows.scores.log_proba)
    title = say("curves", positive=rows.positive)
    try:
        rates = Rates.of(proba[:, k], rows.codes == k, rows.scores.weight)
    except BayesError as error:
        return section(title, note(say("no curve", why=str(error))))
    found = rates.true_positive * rates.frequency
    called = found + rates.false_positive * (1 - rates.frequency)
    some = called > 0
    kinds = np.arange(len(rows.labels))
    bins = [
        own for own in reliability_table(rows.codes, proba, labels=kinds, n_bins=10).to_pylist() if own["class"] == k
    ]
    p, seen = ([own[name] for own in bins] for name in ("probability", "frequency"))
    cost = cost_curve(rows.codes, proba, positive=k, labels=kinds)
    ends = [0.0, 1.0]
    even = (ends, [rates.frequency] * 2, "diagonal")
    pictures: list[tuple[str, list[tuple[Any, Any, str]], str, str]] = [
        (
            "ROC",
            [(rates.false_positive, rates.true_positive, "curve"), (ends, ends, "diagonal")],
            "false alarm",
            "recall",
        ),
        (
            "PR",
            [(rates.true_positive[some], (found / np.where(some, called, 1))[some], "curve"), even],
            "recall",
            "precision",
        ),
        ("reliability", [(ends, ends, "diagonal"), (p, seen, "curve"), (p, seen, "dots")], "probability", "frequency"),
        (
            "cost curve",
            [(cost.decided_at, cost.decided_cost, "curve"), (cost.decided_at, cost.at(cost.decided_at), "beside")],
            "weight",
            "cost",
        ),
    ]
    drawn = []
    for name, lines, x, y in pictures:
        top = round_top(max(0.05, float(cost.decided_cost.max()))) if name == "cost curve" else 1.0
        x_label = say(f"{x} axis", **({"positive": rows.positive} if x == "weight" else {}))
        drawn.append((say(name), plot(lines, x_label, say(f"{y} axis"), say(name), top=top)))
    return section(title, figures(drawn))


def _columns(rows: ReportedRows) -> list[Safe]:
    """Rank the columns, and draw the nomogram."""
    say = rows.language.say
    try:
        found = importance(rows.model, rows.X)
    except (BayesError, NotImplementedError) as error:
        return [section(say("importance"), note(str(error)))]
    named = tuple(one._replace(column=column_title(one.column, rows.language)) for one in found.columns)
    table = scrolled(replace(found, columns=named).html((say("column"), say("mean log-odds"), say("bits"))))
    parts = [section(say("importance"), note(say("importance note", n=f"{found.n_rows:,}")), table)]
    ranked = sorted(found.columns, key=lambda one: -(one.bits or 0.0))
    other = 0 if rows.k else len(rows.labels) - 1
    scales = []
    for one in ranked:
        curve = _curve(rows, one.column)
        scale = None if curve is None else scale_of(curve, rows.k, other, *_ends(rows, one.column))
        if scale is not None:
            scales.append(scale._replace(column=column_title(one.column, rows.language)))
    if not scales or rows.k == other:
        return parts
    prior = np.asarray(rows.model.predict_proba({}))[0]
    with np.errstate(divide="ignore"):
        intercept = float(np.log(prior[rows.k]) - np.log(prior[other]))
    against = repr(rows.labels[other])
    notes = [say("nomogram note", positive=rows.positive)]
    if not isinstance(rows.model, INDEPENDENT):
        notes.append(say("nomogram alone"))
    if len(scales) < len(found.columns) or len(scales) > MOST_SCALES:
        notes.append(say("nomogram some", n=min(len(scales), MOST_SCALES), all=len(found.columns)))
    title = say("nomogram", positive=rows.positive, against=against)
    start = intercept if np.isfinite(intercept) else 0.0
    picture, crowded = nomogram_picture(scales[:MOST_SCALES], start, say("frequencies"), say("log-odds"), title)
    listed = " · ".join(map(_listed, crowded))
    on_paper = max(HALF_PAGE, PAGE - LINE * (display_width(listed) // LETTERS + 1))
    sheet = Safe(f'<div class="sheet" style="--tall:{on_paper}mm">{scrolled(picture)}</div>')
    return [*parts, section(title, *map(note, notes), sheet, *([note(Safe(listed))] if crowded else []))]


def _listed(scale: Scale) -> str:
    """List the cells of a scale with their log-odds."""
    named = ["–" if own is None else shortened(str(own), 40) for own in scale.at]
    cells = (f"{markup(name)}\u00a0{odds:+z.2f}" for name, odds in zip(named, scale.odds, strict=True))
    return f"<b>{markup(scale.column)}</b> {'; '.join(cells)}"


def _curve(rows: ReportedRows, name: str) -> ColumnCurve | None:
    """Give what was learned of a column, with states as the language calls them; None for a text."""
    found = curve_or_none(rows.model, name)
    if found is None or found.kind == "words":
        return None
    plan = getattr(rows.model, "columns_", None)
    return found if plan is None else found.in_language(Language.of(rows.language.code), plan[name])


def _ends(rows: ReportedRows, column: str) -> tuple[float, float]:
    """Give the range of the numbers of a column in these rows."""
    import pyarrow as pa

    if column in rows.X.column_names:
        cells = rows.X.column(column)
        if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
            values = cells.cast(pa.float64(), safe=False).drop_null().to_numpy()
            values = values[np.isfinite(values)]
            if len(values):
                return float(values.min()), float(values.max())
    return -np.inf, np.inf


def _six_rows(rows: ReportedRows) -> Safe:
    """Explain the surest rows that are right and wrong, and the most doubtful ones."""
    say, scores = rows.language.say, rows.scores
    top_two = np.sort(scores.log_proba, axis=1)[:, -2:]
    margin, right = top_two[:, -1] - top_two[:, 0], scores.log_proba.argmax(axis=1) == rows.codes
    order = np.lexsort((np.arange(len(margin)), -margin))
    kinds = {
        "surest right": [i for i in order if right[i]][:OF_EACH],
        "surest wrong": [i for i in order if not right[i]][:OF_EACH],
    }
    told = {i for places in kinds.values() for i in places}
    kinds["doubtful"] = [i for i in order[::-1] if i not in told][:OF_EACH]
    parts = []
    for kind, places in kinds.items():
        for i in places:
            truth = {} if kind == "surest right" else {"truth": repr(rows.labels[rows.codes[i]])}
            try:
                html = rows.model.explain(rows.X.take([int(i)]), lang=rows.language.code)[0]._repr_html_()
            except (AttributeError, BayesError, NotImplementedError) as error:
                return section(say("six rows"), note(str(error)))
            parts.append(subsection(say(kind, row=f"{int(i) + 1:,}", **truth), scrolled(Safe(html))))
    return section(say("six rows"), *parts)


def _warned(rows: ReportedRows, notes: list[str]) -> Safe:
    say = rows.language.say
    lines = list(notes)
    plan = getattr(rows.model, "columns_", ())
    lines += [
        say("column left out", column=own.name, why=translated(own.why, rows.language))
        for own in plan
        if own.family == IGNORED
    ]
    calibration = vars(rows.model).get("calibration_")
    if calibration is None:
        lines.append(say("not calibrated"))
    elif calibration.is_stale:
        lines.append(say("stale"))
    return section(say("warned"), *map(note, lines or [say("nothing left out")]))


def cost_section(loss: Loss, log_proba: Array, codes: Array, table: Any, language: Language) -> Safe:
    """Tell the mean cost of a row under each rule of decision, and which decisions were made.

    Parameters
    ----------
    loss : costs, of the classes of the model
    log_proba : (n_rows, n_classes)
    codes : true classes (n_rows,)
    table : the rows, of which some columns may hold costs
    """
    say, labels, actions = language.say, loss.table.classes, list(loss.table.actions)
    truth = [labels[k] for k in codes]
    weight = np.ones(len(codes))

    def realised(taken: list[Any]) -> Measured:
        return mean_of(np.asarray(loss.realised(taken, truth, X=table)), weight)

    best = np.asarray(loss.best_action(log_proba=log_proba, X=table, return_index=True))
    rules = [(say("least cost"), realised([actions[i] for i in best]))]
    if loss.table.decides_classes:
        rules.append((say("likeliest"), realised([labels[k] for k in log_proba.argmax(axis=1)])))
    constant = min(((action, realised([action] * len(truth))) for action in actions), key=lambda one: one[1].value)
    rules.append((say("always", action=repr(constant[0])), constant[1]))
    lines = [(name, say("measured", **{part: f"{x:.4g}" for part, x in own._asdict().items()})) for name, own in rules]
    expected = float(np.mean(loss.expected_loss(log_proba=log_proba, X=table)))
    shape = len(labels), len(actions)
    count = np.bincount(codes * shape[1] + best, minlength=shape[0] * shape[1]).reshape(shape)
    share = count / np.maximum(count.sum(axis=1, keepdims=True), 1)
    cells = [
        (str(label), *(shaded(f"{n:,}", float(s)) for n, s in zip(count[k], share[k], strict=True)))
        for k, label in enumerate(labels)
    ]
    heads = (f"{say('truth')} \\ {say('taken')}", *map(str, actions))
    return section(
        say("costs"),
        scrolled(Safe(cost_html(loss.table, f"{say('taken')} \\ {say('truth')}"))),
        html_table((say("rule"), say("cost")), lines),
        note(say("costs note", expected=f"{expected:.4g}")),
        subsection(say("decisions"), scrolled(html_table(heads, cells))),
    )
