"""`audit`: how a classifier does in each group of rows, and which columns carry the difference.

Each figure of a group stands beside its interval, and is compared with the same figure of all other rows. What columns
carry is exact for the model: with c the contributions of columns to the log-odds of the class against its strongest
rival, as `explain` gives them,

    mean log-odds of the group - that of the others = sum over columns of (mean of c in the group - mean in the others)

It tells how the model comes to treat groups differently, and neither why they differ nor that they should not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswater.data.cells import is_missing
from bayeswater.data.column_types import without_views
from bayeswater.data.display_width import display_width, on_one_line, padded
from bayeswater.data.frames import (
    frame_names,
    is_frame,
    library_of,
    materialised,
    read_frame,
    take_columns,
    write_frame,
)
from bayeswater.decision.calibration_metrics import Truth
from bayeswater.decision.curves import positive_class
from bayeswater.decision.intervals import Measured, difference, mean_of, wilson
from bayeswater.decision.loss import as_loss
from bayeswater.decision.probabilities import ROUNDING
from bayeswater.decision.scorecard import Measures
from bayeswater.decision.scores import Scores, row_weight
from bayeswater.errors import BayesError, DataError, ParameterError, SchemaError, nearest_names
from bayeswater.kernels.class_scores import first_of_largest
from bayeswater.markup import Safe, html_table, markup, paragraphs
from bayeswater.phrases import Language
from bayeswater.records import record
from bayeswater.reports.sentences import sentences
from bayeswater.typing import Array

MOST_GROUPS = 50
"""Groups at most: more are no groups but values."""

FEW_ROWS = 30
"""Rows under which a group is named as too small."""

MOST_EXPLAINED = 5_000
"""Rows from which the parts of columns are estimated."""

SHOWN_PARTS = 5
SIDE_BY_SIDE = 4
"""Columns that a sentence names, and groups that stand beside each other in text."""


@record
class GroupAudit:
    """One group.

    Attributes
    ----------
    label : what its rows have in common
    n_rows : how many they are; with weights, their sum
    figures : figure by name, with its interval; None where the group has no row to tell it by
    differences : the same minus that of all other rows; None of the ECE, which is larger by chance where rows are fewer
    log_odds : mean log-odds of the class in the group minus those of the others; None where the model gives no reasons
    parts : what each column adds to that difference, the largest first; with `prior_part` they sum to it
    prior_part : what class frequencies add to it: 0 for two classes
    """

    label: Any
    n_rows: float
    figures: Mapping[str, Measured | None]
    differences: Mapping[str, Measured | None]
    log_odds: Measured | None = None
    parts: Mapping[str, Measured] = field(default_factory=dict)
    prior_part: float = 0.0


@record(repr=False)
class Audit:
    """How a classifier does in each group of rows; it can be printed.

    Attributes
    ----------
    group : name of the column of groups
    positive : class whose rates are given
    groups : a `GroupAudit` for each group
    n_rows : number of rows
    notes : what else is to be known
    lang : language in which it is printed
    """

    group: str
    positive: Any
    groups: tuple[GroupAudit, ...]
    n_rows: float
    notes: tuple[str, ...] = ()
    lang: str = "en"
    library: str | None = None

    def __getitem__(self, label: Any) -> GroupAudit:
        for one in self.groups:
            if one.label == label:
                return one
        raise KeyError(f"there is no group {label!r}; there are {[one.label for one in self.groups]}")

    def to_frame(self) -> Any:
        """Give a line for each figure of each group, in the library of the frame that was audited."""
        lines = [
            (one.label, name, one.figures[name], one.differences[name]) for one in self.groups for name in one.figures
        ]
        columns: dict[str, Any] = {
            "group": [str(label) for label, *_ in lines],
            "figure": [name for _, name, *_ in lines],
        }
        for prefix, place in (("", 2), ("difference_", 3)):
            for part in Measured._fields:
                columns[prefix + part] = [None if line[place] is None else getattr(line[place], part) for line in lines]
        return write_frame(columns, self.library)

    # ------------------------------------------------------------------ in words

    @property
    def _language(self) -> Language:
        return sentences(self.lang)

    @property
    def title(self) -> str:
        """What was audited."""
        n = f"{self.n_rows:,.6g}"
        values = {"group": self.group, "n": n, "k": len(self.groups), "positive": repr(self.positive)}
        return on_one_line(self._language.say("audit title", **values))

    def cells(self) -> list[list[str]]:
        """Give a line for each figure: its name, and what it is in each group."""
        say = self._language.say
        lines = [[say("rows"), *(f"{one.n_rows:,.6g}" for one in self.groups)]]
        for name in self.groups[0].figures:
            lines.append([self._named(name), *(self._measured(one.figures[name]) for one in self.groups)])
        return lines

    def heads(self) -> list[str]:
        """Give the labels of the groups, behind the name of what groups them."""
        return [on_one_line(text) for text in (self.group, *(self._label(one) for one in self.groups))]

    def sentences(self) -> list[str]:
        """Say which figures differ, which columns carry that, and what all this does not say."""
        say, lines, n_looks = self._language.say, [], 0
        compared = self.groups[:1] if len(self.groups) == 2 else self.groups  # of two, each is the rest of the other
        for one in compared:
            for name, found in one.differences.items():
                n_looks += found is not None
                if found is not None and not found.includes_zero:
                    size = self._measured(_size(found))
                    way = "more than" if found.value > 0 else "less than"
                    lines.append(say(way, figure=self._named(name), value=size, a=self._label(one)))
        if not lines:
            lines.append(say("no difference"))
        lines.append(say("many looks", n=n_looks, k=f"{0.05 * n_looks:.2g}"))
        carried = [self._carried(one) for one in compared if one.log_odds is not None]
        if carried:
            lines += [*carried, say("no cause")]
        return [on_one_line(line) for line in (*lines, *self.notes)]

    def _carried(self, one: GroupAudit) -> str:
        """Say how far the log-odds of a group are from those of the others, and which columns have a part in it."""
        assert one.log_odds is not None
        say = self._language.say
        way = "alike" if one.log_odds.includes_zero else "more" if one.log_odds.value > 0 else "less"
        value = self._measured(_size(one.log_odds))
        head = say(f"carried {way}", positive=repr(self.positive), a=self._label(one), value=value)
        sure = [(name, part) for name, part in one.parts.items() if not part.includes_zero][:SHOWN_PARTS]
        if not sure:
            return head + say("carried by none")
        parts = [say("part", column=name, value=self._measured(part, "+.3g")) for name, part in sure]
        return head + say("carried by", parts=say("parts end").join(parts))

    def _label(self, one: GroupAudit) -> str:
        return self._language.say("missing group") if one.label is None else str(one.label)

    def _named(self, figure: str) -> str:
        return self._language.say(figure, **({"positive": repr(self.positive)} if figure in OF_CLASS else {}))

    def _measured(self, found: Measured | None, form: str = ".3g") -> str:
        if found is None:
            return self._language.say("none")
        return self._language.say("measured", **{part: format(getattr(found, part), form) for part in found._fields})

    def __str__(self) -> str:
        heads, cells, lines = self.heads(), self.cells(), [self.title]
        for start in range(1, len(heads), SIDE_BY_SIDE):
            places = [0, *range(start, min(start + SIDE_BY_SIDE, len(heads)))]
            table = [[row[j] for j in places] for row in (heads, *cells)]
            width = [max(display_width(row[j]) for row in table) for j in range(len(places))]
            lines += ["  ".join(map(padded, row, width)).rstrip() for row in table]
        return "\n".join([*lines, *(f"- {line}" for line in self.sentences())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self.sentences())
        table = [self.heads(), *self.cells()]
        if len(self.groups) > SIDE_BY_SIDE:  # many groups are lines: side by side no page is as wide as they are
            table = [list(line) for line in zip(*table, strict=True)]
        return paragraphs([self.title]) + html_table(table[0], table[1:]) + Safe(f"<ul>{items}</ul>")


OF_CLASS = ("frequency", "decided")
"""Figures whose name names the class."""


def audit(
    model: Any,
    X: Any,
    y: Any,
    *,
    group: Any,
    positive: Any = None,
    loss: Any = None,
    sample_weight: Any = None,
    lang: str = "en",
) -> Audit:
    """Compare a classifier between groups of rows: errors, calibration, and which columns make the difference.

    Parameters
    ----------
    model : fitted classifier
        It has `predict_proba`. For a model of Bayeswater the audit also says what columns add.
    X : rows
        A table; better one that the model was not fitted on.
    y : labels of shape (n_rows,), or str
        The true classes, or the name of the column of X that holds them.
    group : str, or labels of shape (n_rows,)
        Name of a column of X, whether the model reads it or not, or the group of each row.
    positive : label, optional
        Class whose rates are given; of two classes the default is the second.
    loss : Loss, or anything that `Loss` reads, optional
        What decisions cost; without it no cost is shown.
    sample_weight : weights of shape (n_rows,), optional
        Weight of each row; default 1.
    lang : {"en", "zh"}, default "en"
        Language in which it is printed.

    Returns
    -------
    Audit
        Made to be printed; ``audit[label].figures`` and ``.differences`` are the figures, each a value, low and high.

    Raises
    ------
    SchemaError
        Where `group` names no column.
    ParameterError
        Where there is but one group, or more than 50; or, of more than two classes, none is named.

    See Also
    --------
    compare : Compare models on the same folds: error, log-loss, calibration error, seconds and sizes.
    drift : Find which columns changed between two models, or a model and new rows, class by class.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from bayeswater import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "pay": rng.normal(size=400)})
    >>> y = np.where(X.pay + (X.sex == "m") + rng.normal(size=400) > 0.5, "yes", "no")
    >>> found = audit(NaiveBayes().fit(X, y), X, y, group="sex")
    >>> found["m"].differences["decided"].includes_zero
    False
    >>> list(found["m"].parts)[0]
    'sex'
    """
    language = sentences(lang)
    rows = AuditedRows.of(model, X, y, group, sample_weight)
    codes, labels = rows.groups()
    if not 1 < len(labels) <= MOST_GROUPS:
        raise ParameterError(
            f"{rows.name!r} has {len(labels)} different values among {len(codes):,} rows; an audit needs 2 to "
            f"{MOST_GROUPS} groups: give group= a label for each row, numbers cut into ranges for example"
        )
    k = positive_class(Truth(np.asarray(model.classes_), rows.codes, np.exp(rows.log_proba), rows.weight), positive)
    costs = None if loss is None else as_loss(loss, np.asarray(model.classes_).tolist())
    if costs is not None and costs.table.by_row:
        raise ParameterError("the costs of loss differ from row to row; an audit needs the same costs for all rows")
    table = FiguresOf(rows, k, costs)
    parts = ColumnParts.of(model, rows, k)
    notes = [language.say("left out", n=rows.n_left_out)] if rows.n_left_out else []
    plan = getattr(model, "columns_", None)  # of columns that are given, some may be left out
    read = getattr(model, "feature_names_in_", ()) if plan is None else [column.source for column in plan.used]
    if isinstance(group, str):
        notes.append(language.say("reads group" if rows.name in read else "reads no group", group=rows.name))
    notes += [language.say(key, **values) for key, values in parts.notes]
    found = []
    for g, label in enumerate(labels):
        inside = codes == g
        own, others = table.of(inside), table.of(~inside)
        apart = {name: None if name == "ECE" else _apart(own[name], others[name]) for name in own}
        n_rows = float(rows.weight[inside].sum())
        found.append(GroupAudit(label, n_rows, own, apart, *parts.between(inside)))
    nameless = language.say("missing group")
    small = [nameless if one.label is None else str(one.label) for one in found if one.n_rows < FEW_ROWS]
    if small:
        notes.append(language.say("few rows", groups=", ".join(small), n=FEW_ROWS))
    chosen = np.asarray(model.classes_).tolist()[k]
    return Audit(rows.name, chosen, tuple(found), float(rows.weight.sum()), tuple(notes), lang, library_of(X))


@record
class AuditedRows:
    """Rows whose class is known, with their groups."""

    X: Any
    name: str
    labels: Sequence[Any]  # of groups (n_rows,)
    codes: Array
    log_proba: Array
    weight: Array
    keep: Array  # places of these rows in X
    n_left_out: int

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, group: Any, sample_weight: Any) -> "AuditedRows":
        """Read the rows whose class the model knows, and ask it for their probabilities."""
        X = materialised(X)
        cells = _column(X, group) if isinstance(group, str) else _cells(group)
        y = _column(X, y) if isinstance(y, str) else _cells(y)
        names = getattr(model, "feature_names_in_", None)
        if is_frame(X) and names is not None:
            X = take_columns(X, [name for name in frame_names(X) if name in set(names)])
        with np.errstate(divide="ignore"):
            log_proba = np.log(np.asarray(model.predict_proba(X)))
        for what, values in (("y", y), ("group", cells)):
            if len(values) != len(log_proba):
                raise DataError(f"{what} has {len(values)} labels for {len(log_proba)} rows; give one for each row")
        code = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
        codes = np.array([code.get(label, -1) for label in y], dtype=np.int64)
        weight = row_weight(sample_weight, len(codes))
        keep = np.flatnonzero((codes >= 0) & (weight > 0))
        if not len(keep):
            raise DataError(f"no row is of a class that the model knows, {list(code)[:10]}; is y the right column?")
        name = group if isinstance(group, str) else str(getattr(group, "name", None) or "group")
        own = [None if is_missing(cells[i]) else cells[i] for i in keep]
        n_left_out = int((codes < 0).sum())
        return cls(X, name, own, codes[keep], log_proba[keep], weight[keep], keep, n_left_out)

    def groups(self) -> tuple[Array, list[Any]]:
        """Code the groups, in the order of their labels; rows of no group are the last one."""
        labels = sorted(
            {label for label in self.labels if label is not None}, key=lambda label: (str(type(label)), label)
        )
        if any(label is None for label in self.labels):
            labels.append(None)
        place = {label: g for g, label in enumerate(labels)}
        return np.array([place[label] for label in self.labels]), labels


def _column(X: Any, name: str) -> list[Any]:
    if not is_frame(X):
        raise SchemaError(f"{name!r} is to be a column of X, and X has no names; give a label for each row")
    if name not in frame_names(X):
        raise SchemaError(f"X has no column {name!r}; {nearest_names(name, frame_names(X))}")
    cells: list[Any] = read_frame(take_columns(X, [name])).table.column(0).to_pylist()
    return cells


def _cells(values: Any) -> list[Any]:
    """Give one value for each row as plain values."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    cells: list[Any] = np.asarray(values, dtype=object).ravel().tolist()
    return [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]


@record
class FiguresOf:
    """The figures of any rows."""

    rows: AuditedRows
    k: int
    loss: Any

    def of(self, inside: Array) -> dict[str, Measured | None]:
        """Work out the figures of the rows that are marked."""
        rows = self.rows
        scores = Scores(rows.log_proba[inside], rows.codes[inside], rows.weight[inside])
        proba, weight = np.exp(scores.log_proba), scores.weight
        truth = scores.codes == self.k
        decided = first_of_largest(proba, ROUNDING, use_loop=False) == self.k
        measures = Measures.of(scores)
        found = {
            "frequency": _share(truth, weight),
            "decided": _share(decided, weight),
            "recall": _share(decided[truth], weight[truth]),
            "false alarm": _share(decided[~truth], weight[~truth]),
            "precision": _share(truth[decided], weight[decided]),
            "error": measures.error,
            "log-loss": measures.log_loss,
            "gap": mean_of(proba[:, self.k] - truth, weight),
            "ECE": measures.ece,
        }
        if self.loss is not None:
            action = self.loss.best_action(log_proba=scores.log_proba, return_index=True)
            found["cost"] = mean_of(self.loss.table.cost[action, scores.codes], weight)
        return found


def _share(marked: Array, weight: Array) -> Measured | None:
    total = float(weight.sum())
    return wilson(float(weight @ marked) / total, total) if total else None


def _apart(own: Measured | None, others: Measured | None) -> Measured | None:
    if own is None or others is None or not np.isfinite([own.value, others.value]).all():
        return None
    return difference(own, others)


def _size(found: Measured) -> Measured:
    """Give a difference without its sign."""
    return found if found.value >= 0 else Measured(-found.value, -found.high, -found.low)


@record
class ColumnParts:
    """What each column adds to the log-odds of the class in some rows, with the notes that belong to it."""

    columns: tuple[str, ...]
    contributions: Array  # (n_explained, n_columns), towards the class
    intercept: Array  # (n_explained,)
    places: Array  # of these rows among the rows that are audited
    weight: Array
    notes: list[tuple[str, dict[str, Any]]]

    @classmethod
    def of(cls, model: Any, rows: AuditedRows, k: int) -> "ColumnParts":
        """Explain the rows, or some of many; nothing where the model gives no reasons."""
        n_rows = len(rows.codes)
        places = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_EXPLAINED)).round().astype(np.int64))
        label = np.asarray(model.classes_).tolist()[k]
        try:
            found = model.explain(_taken(rows.X, rows.keep[places]), against=label)
        except (AttributeError, BayesError):
            return cls((), np.empty((0, 0)), np.empty(0), places[:0], np.empty(0), [("gives no reasons", {})])
        sign = np.where(found.prediction == label, 1.0, -1.0)
        contributions, intercept = found.contributions * sign[:, None], found.intercept * sign
        finite = np.isfinite(contributions).all(axis=1) & np.isfinite(intercept)
        notes: list[tuple[str, dict[str, Any]]] = []
        if len(places) < n_rows:
            notes.append(("some explained", {"n": f"{len(places):,}"}))
        if not finite.all():
            notes.append(("infinite parts", {"n": int((~finite).sum())}))
        own = places[finite]
        return cls(tuple(found.columns), contributions[finite], intercept[finite], own, rows.weight[own], notes)

    def between(self, inside: Array) -> tuple[Measured | None, dict[str, Measured], float]:
        """Give the difference of mean log-odds between some rows and the others, and the parts of columns and prior."""
        own = inside[self.places]
        if not own.any() or own.all():
            return None, {}, 0.0

        def apart(values: Array) -> Measured:
            return difference(mean_of(values[own], self.weight[own]), mean_of(values[~own], self.weight[~own]))

        parts = {name: apart(self.contributions[:, j]) for j, name in enumerate(self.columns)}
        ranked = dict(sorted(parts.items(), key=lambda one: -abs(one[1].value)))
        return apart(self.intercept + self.contributions.sum(axis=1)), ranked, apart(self.intercept).value


def _taken(X: Any, places: Array) -> Any:
    """Give some rows of a table or an array."""
    if is_frame(X):
        return without_views(read_frame(X).table).take(places)
    return X[places]
