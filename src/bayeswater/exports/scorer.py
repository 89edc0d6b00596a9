"""Scores rows by a classifier that is given as plain data; it needs nothing but Python's standard library.

A row is a dict of its cells by the name of their column. A cell that is not in it, None or NaN is missing.

    model.predict_proba(row)    P(class | row), in the order of model.classes
    model.predict(row)          the class of largest probability
    model.decide(row)           the action of least expected cost, where the model has a loss

Dates are those of `datetime`, or texts as ISO 8601 writes them; times of day and durations may be seconds.
"""

import math
from typing import Any

from bayeswater.exports.scored_cells import (
    INFINITE,
    RowRefused,
    is_within,
    key_of,
    numbers_of,
    states_of,
    value_of,
    word_counts,
)

MOST_FILLED = 2**16


class Scorer:
    """A classifier."""

    def __init__(self, form: Any) -> None:
        self.form = form
        self.classes = form["classes"]
        self.columns = [field["name"] for field in form["fields"]]
        self.prior, self.fallback = numbers_of(form["log_prior"]), numbers_of(form["fallback"])
        self.terms = [_ADD[term["kind"]](self, term) for term in form["terms"]]
        self.states = [states_of(cell) for cell in form["cells"]]
        self.calibration = form["calibration"] and numbers_of(form["calibration"])
        self.decision = form["decision"]

    def predict_proba(self, row: Any) -> Any:
        """Give the probability of each class."""
        cells = self.read(row)
        scores = self.scores(cells)
        if self.calibration is None:
            return _shares(scores)
        return [math.exp(score) for score in self._calibrated(scores, self.known(cells))]

    def predict(self, row: Any) -> Any:
        """Give the class of largest probability; the first one among equals."""
        proba = self.predict_proba(row)
        return self.classes[proba.index(max(proba))]

    def decide(self, row: Any) -> Any:
        """Give the action of least expected cost; the first one among equals."""
        risks = self.risks(row)
        return min(risks, key=risks.get)

    def risks(self, row: Any) -> Any:
        """Give the expected cost of each action, beyond the least there can be for the true class."""
        if self.decision is None:
            raise ValueError("the model was exported without a loss; export it with one")
        proba = self.predict_proba(row)
        risks = [sum(cost * p for cost, p in zip(own, proba, strict=True)) for own in self.decision["regret"]]
        return dict(zip(self.decision["actions"], risks, strict=True))

    # ------------------------------------------------------------------ cells

    def read(self, row: Any) -> Any:
        """Read the cells of a row: numbers, codes of states, and counts of words; None where a number is missing."""
        unknown = [name for name in row if name not in self.columns]
        if unknown and not any(name in row for name in self.columns):
            raise RowRefused(f"the row has columns {unknown[:5]}, and the model knows {self.columns[:10]}")
        return [self._cell(place, cell, row) for place, cell in enumerate(self.form["cells"])]

    def _cell(self, place: Any, cell: Any, row: Any) -> Any:
        field, form = self.form["fields"][cell["field"]], cell["form"]
        value = value_of(row.get(field["name"]), field, cell["part"])
        kind = form["kind"]
        if value is None:
            if self.form["refuses_missing"]:
                raise RowRefused(f"column {field['name']!r} is missing")
            return None if kind in ("NumberForm", "TextForm") else cell["missing"]
        if kind == "TextForm":
            return word_counts(value, form, self.states[place])
        if kind == "NumberForm":
            return value if is_within(value, form) else self._unseen(field, value, None)
        if kind == "BinForm":
            return sum(cut < value if form["above"] else cut <= value for cut in form["cuts"])
        code = self.states[place].get(key_of(value))
        return self._unseen(field, value, cell["n_states"]) if code is None else code

    def _unseen(self, field: Any, value: Any, code: Any) -> Any:
        if self.form["refuses_unseen"]:
            raise RowRefused(f"column {field['name']!r} has {value!r}, which the model does not know")
        return code

    def known(self, cells: Any) -> Any:
        """Count the cells that are known, the words of a text one by one."""
        kinds = [cell["form"]["kind"] for cell in self.form["cells"]]
        return sum(
            len(value or ()) if kind == "TextForm" else self.is_known(place, value)
            for place, (kind, value) in enumerate(zip(kinds, cells, strict=True))
        )

    def is_known(self, place: Any, value: Any) -> Any:
        """Tell whether a cell is known; a text is if any of its words is."""
        cell = self.form["cells"][place]
        if cell["form"]["kind"] == "TextForm":
            return bool(value)
        if cell["form"]["kind"] == "NumberForm":
            return value is not None and not (self.form["counts_nonzero"] and value == 0)
        return value < cell["n_states"]

    # ------------------------------------------------------------------ scores

    def scores(self, cells: Any) -> Any:
        """Log-joints of the classes; those of the prior where no class can have the row."""
        total = list(self.prior)
        for add in self.terms:
            for k, score in enumerate(add(cells)):
                total[k] += score
        return total if max(total) > -INFINITE else list(self.fallback)

    def _calibrated(self, scores: Any, known: Any) -> Any:
        c = self.calibration
        scores = _log_shares([s + t for s, t in zip(_log_shares(scores), c["to_counted"], strict=True)])
        share = _known_share(known, c["usual"], c["others"])
        share = min(share, 1.0) if len(c["others"]) > 1 else share
        bounded, slope = min(share, 1.0), 1 / (1 + (c["temperature"] - 1) * share)
        found = [
            prior + slope * (score - prior) + bounded * shift if score > -INFINITE else -INFINITE
            for score, prior, shift in zip(scores, c["prior"], c["shift"], strict=True)
        ]
        found = _log_shares(found)
        lapse = c["lapse"] * bounded
        if lapse > 0:
            even = lapse / sum(score > -INFINITE for score in found)
            found = [math.log((1 - lapse) * math.exp(s) + even) if s > -INFINITE else s for s in found]
        if c["doubt"] > 0:
            raised = [s == -INFINITE and known_class for s, known_class in zip(found, c["doubted"], strict=True)]
            if any(raised):
                rest, each = math.log1p(-c["doubt"]), math.log(c["doubt"]) - math.log(sum(raised))
                found = [each if is_raised else s + rest for s, is_raised in zip(found, raised, strict=True)]
        if c["is_given"]:
            found = _log_shares(
                [
                    -INFINITE if never else s - t
                    for s, t, never in zip(found, c["to_counted"], c["impossible"], strict=True)
                ]
            )
        return found


# ---------------------------------------------------------------------- terms: functions of the cells of a row


def _column(scorer: Any, term: Any) -> Any:
    formula, cell = numbers_of(term["formula"]), term["cell"]
    none = [0.0] * len(scorer.classes)
    add = _FORMULAS[formula["kind"]]
    return lambda cells: none if cells[cell] is None else add(formula, cells[cell])


def _lookup(f: Any, code: Any) -> Any:
    return f["log_likelihood"][code]


def _distance(f: Any, x: Any) -> Any:
    x = math.log(x) if f["is_log"] else x
    found = []
    for intercept, weight, mean, scale in zip(f["intercept"], f["weight"], f["mean"], f["scale"], strict=True):
        away = (x - mean) * scale
        z = away * away
        found.append(intercept - weight * (math.log1p(z) if f["is_student"] else z))
    return found


def _weights(f: Any, x: Any) -> Any:
    total = list(f["intercept"])
    for feature, weights in zip(f["features"], f["weights"], strict=True):
        value = {"x": lambda: x, "log x": lambda: math.log(x), "log(1 - x)": lambda: math.log1p(-x)}[feature]()
        if value:
            total = [t + value * w for t, w in zip(total, weights, strict=True)]
    return total


def _circle(f: Any, x: Any) -> Any:
    half = math.pi * x / f["period"]
    rows = zip(f["intercept"], f["kappa"], f["mu"], strict=True)
    return [intercept - 2 * kappa * math.sin(half - mu / 2) ** 2 for intercept, kappa, mu in rows]


def _words(f: Any, counts: Any) -> Any:
    total = list(f["intercept"])
    for code, count in counts.items():
        times = 1 if f["once"] else count
        total = [t + times * w for t, w in zip(total, f["weights"][code], strict=True)]
    return total


def _scaled(f: Any, counts: Any) -> Any:
    amounts = {code: 1.0 if f["is_marked"] else math.log1p(count) for code, count in counts.items()}
    length = math.sqrt(sum(amount * amount for amount in amounts.values()))
    length = math.sqrt(length) if f["by_root"] else length
    if not length:
        return [0.0] * len(f["intercept"])
    total = list(f["intercept"])
    for code, amount in amounts.items():
        total = [t + amount / length * w for t, w in zip(total, f["weights"][code], strict=True)]
    return total


_FORMULAS = {
    "Lookup": _lookup,
    "Distance": _distance,
    "Weights": _weights,
    "Circle": _circle,
    "WordWeights": _words,
    "ScaledWords": _scaled,
}


def _features(scorer: Any, term: Any) -> Any:
    formula = numbers_of(term["formula"])
    return lambda cells: _scaled(formula, {j: cells[cell] for j, cell in enumerate(term["cells"]) if cells[cell]})


def _weighted(scorer: Any, term: Any) -> Any:
    terms = [(own["cell"], _column(scorer, own)) for own in term["terms"]]
    add_up = _weighing(numbers_of(term["weighing"]))

    def add(cells: Any) -> Any:
        is_there = [scorer.is_known(cell, cells[cell]) for cell, _ in terms]
        return add_up([own(cells) for _, own in terms], sum(is_there))

    return add


def _weighing(w: Any) -> Any:
    """Give a function of terms, and how many are known: what they say of the class, each by its weight."""

    def add_up(terms: Any, known: Any) -> Any:
        low, high, total = w["low"][known], w["high"][known], list(w["shift"][known])
        for own, slopes, most in zip(terms, w["slope"], w["doubt"], strict=True):
            common = _log_sum([prior + t for prior, t in zip(w["prior"], own, strict=True)])
            doubt = most * w["bounded"][known]
            for k, (t, slope) in enumerate(zip(own, slopes, strict=True)):
                said = t - common if common > -INFINITE else t
                if doubt and said > -INFINITE:
                    said = math.log((1 - doubt) * math.exp(said) + doubt)
                total[k] += said / (1 + (high if slope < 0 else low) * slope)
        return total

    return add_up


def _tree(scorer: Any, term: Any) -> Any:
    cells, parents, tables = term["cells"], term["parents"], numbers_of(term["tables"])
    n_states = [scorer.form["cells"][cell]["n_states"] for cell in cells]
    classes = range(len(scorer.classes))

    def depth(j: Any) -> Any:
        return 0 if parents[j] < 0 else 1 + depth(parents[j])

    from_leaves = sorted(range(len(cells)), key=lambda j: -depth(j))

    def add(values: Any) -> Any:
        """Send messages from the leaves to the roots: of a cell that is missing, the sum over its states."""
        states = [values[cell] for cell in cells]
        below = [[[0.0] * len(classes) for _ in range(n)] for n in n_states]
        is_heard = [False] * len(cells)  # whether anything below a cell is there
        total = [0.0] * len(classes)
        for j in from_leaves:
            is_there, p = states[j] < n_states[j], parents[j]
            if not (is_there or is_heard[j]):
                continue
            at = range(len(tables[j])) if p >= 0 else [0]
            if p >= 0 and states[p] < n_states[p]:
                at = [states[p]]
            for a in at:
                for k in classes:
                    if is_there:
                        message = tables[j][a][states[j]][k] + below[j][states[j]][k]
                    else:
                        message = _log_sum([tables[j][a][b][k] + below[j][b][k] for b in range(n_states[j])])
                    if p >= 0:
                        below[p][a][k] += message
                    else:
                        total[k] += message
            if p >= 0:
                is_heard[p] = True
        return total

    return add


def _graph(scorer: Any, term: Any) -> Any:
    cells, parents, tables = term["cells"], term["parents"], numbers_of(term["tables"])
    n_states = [scorer.form["cells"][cell]["n_states"] for cell in cells]
    classes = range(len(scorer.classes))

    def above(j: Any) -> Any:
        found = set(parents[j])
        return found.union(*map(above, parents[j]))

    ancestors = [above(j) for j in range(len(cells))]
    members = [{j, *own} for j, own in enumerate(parents)]

    def score(j: Any, states: Any) -> Any:
        table = tables[j]
        for parent in parents[j]:
            table = table[states[parent]]
        return table[states[j]]

    def add(values: Any) -> Any:
        """Sum over all states of gaps: missing cells that others, which are there, depend on."""
        states = [values[cell] for cell in cells]
        there = {j for j, n in enumerate(n_states) if states[j] < n}
        gaps = {j for below in there for j in ancestors[below] if n_states[j]} - there
        n_filled = 0

        def summed(gaps: Any, columns: Any) -> Any:
            """Add what columns say; gaps are summed over one by one, and apart where no column knows two of them."""
            nonlocal n_filled
            rows = [score(j, states) for j in columns if not members[j] & gaps]
            total = [sum(row[k] for row in rows) for k in classes]
            rest = {j for j in columns if members[j] & gaps}
            while rest:
                part, linked = set(), {min(rest)}
                while linked:
                    part |= linked
                    own = gaps & set().union(*(members[j] for j in part))
                    linked = {j for j in rest - part if members[j] & own}
                rest -= part
                first = max(sorted(own), key=lambda gap: sum(gap in members[j] for j in part))
                found = []
                for state in range(n_states[first]):
                    states[first], n_filled = state, n_filled + 1
                    if n_filled > MOST_FILLED:
                        raise RowRefused("cells are missing that others depend on: too many to be summed over")
                    found.append(summed(own - {first}, part))
                total = [total[k] + _log_sum([row[k] for row in found]) for k in classes]
            return total

        return summed(gaps, there | gaps)

    return add


def _average(scorer: Any, term: Any) -> Any:
    cells, implied = term["cells"], term["implied"]
    joints, marginals, given = (numbers_of(term[name]) for name in ("joints", "marginals", "given"))
    n_states = [scorer.form["cells"][cell]["n_states"] for cell in cells]
    classes, every, log_prior = range(len(scorer.classes)), range(len(cells)), numbers_of(term["log_prior"])

    add_up = term["weighing"] and _weighing(numbers_of(term["weighing"]))

    def member(i: Any, k: Any, states: Any) -> Any:
        given_i = sum(given[i][j][states[i]][states[j]][k] for j in every)
        return joints[i][states[i]][k] + given_i - (log_prior[k] if log_prior[k] > -INFINITE else 0.0)

    def add(values: Any) -> Any:
        """Mean of the joints of all parents that the row can have; with weights, their sum."""
        states = [values[cell] for cell in cells]
        if implied is not None:
            states = [
                n_states[j] if any(implied[i][j][states[i]][states[j]] for i in every) else states[j] for j in every
            ]
        weights = [term["weights"][i][states[i]] for i in every]
        if not any(weights):
            weights = [term["even"][i][states[i]] for i in every]
        total = sum(weights)
        if not total:
            return [log_prior[k] + sum(marginals[j][states[j]][k] for j in every) for k in classes]
        if add_up is not None:
            members = [[0.0 if not weights[i] else member(i, k, states) for k in classes] for i in every]
            return [prior + t for prior, t in zip(log_prior, add_up(members, sum(map(bool, weights))), strict=True)]
        found = []
        for k in classes:
            parts = [
                math.log(weights[i])
                + joints[i][states[i]][k]
                + sum(given[i][j][states[i]][states[j]][k] for j in every)
                for i in every
                if weights[i]
            ]
            found.append(_log_sum(parts) - math.log(total))
        return found

    return add


def _gaussian(scorer: Any, term: Any) -> Any:
    cells = term["cells"]
    mean, whitening, constant, degrees = (
        numbers_of(term[name]) for name in ("mean", "whitening", "constant", "degrees")
    )

    def add(values: Any) -> Any:
        x = [values[cell] for cell in cells]
        if any(value is None for value in x):
            raise RowRefused("a cell is missing, and the columns are not independent of each other")
        found = []
        for m, w, c, v in zip(mean, whitening, constant, degrees, strict=True):
            away = [a - b for a, b in zip(x, m, strict=True)]
            z = [0.0] * len(w[0])
            for a, row in zip(away, w, strict=True):  # in the order of the columns: nearly equal parts may cancel
                z = [one + a * part for one, part in zip(z, row, strict=True)]
            distance = sum(one * one for one in z)
            if term["is_line"]:
                found.append(c + z[0])
            elif v == INFINITE:
                found.append(c - distance / 2)
            else:
                found.append(c - (v + len(z)) / 2 * math.log1p(distance / v))
        return found

    return add


_ADD = {
    "ColumnTerm": _column,
    "FeaturesTerm": _features,
    "WeightedTerm": _weighted,
    "TreeTerm": _tree,
    "GraphTerm": _graph,
    "AverageTerm": _average,
    "GaussianTerm": _gaussian,
}


def _known_share(known: Any, usual: Any, others: Any) -> Any:
    """Say how much a row with so many known cells has of what holds for a usual one."""
    return math.prod(max(known - o, 0) / (usual - o) for o in others) if others else float(known > 0)


def _log_sum(scores: Any) -> Any:
    top = max(scores)
    return top if top == -INFINITE else top + math.log(sum(math.exp(score - top) for score in scores))


def _log_shares(scores: Any) -> Any:
    total = _log_sum(scores)
    return [score - total for score in scores]


def _shares(scores: Any) -> Any:
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]
