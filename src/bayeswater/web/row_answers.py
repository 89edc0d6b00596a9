"""One row: what is likely, why, how sure and how usual that is, what would turn it, and what to ask for next."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.reading.number_table import bin_labels
from bayeswater.decision.loss import Loss
from bayeswater.errors import BayesError
from bayeswater.explain.importance import curve_or_none
from bayeswater.families.wording import shown
from bayeswater.inference.log_space import best_class
from bayeswater.models.streaming.answering import partial_rows
from bayeswater.phrases import in_language
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.costs import loss_of, prior_of
from bayeswater.web.fields import DATE, NOT_READ, NUMBER, TIME, places_of
from bayeswater.web.plain import QuestionError, as_json, language_of, mapping_of, number_of, text_of, written

MOST_QUESTIONS = 12
"""Facts to ask for that are listed."""


def facts_of(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read the facts of a question as the cells of a row; columns that are not there are not known."""
    found = {}
    for name, fact in mapping_of(asked, "facts").items():
        if name not in subject.fields:
            raise QuestionError(f"there is no column {name!r}")
        found[name] = subject.fields[name].cell(fact)
    return found


def posterior(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give the probabilities of a row, and its class."""
    model, X = partial_rows(subject.model, facts_of(subject, asked))
    log_proba = np.asarray(model.predict_log_proba(X))
    return {"proba": np.exp(log_proba[0]), "prediction": best_class(log_proba)[0]}


def why(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give what makes up the log-odds of the likeliest class of a row against another; why not, of one class."""
    model, X = partial_rows(subject.model, facts_of(subject, asked))
    if len(subject.labels) < 2:
        return _told(lambda: model.explain(X), model, "explain")
    against = _label(subject, text_of(asked, "against"))
    told = model.explain(X, against, lang=language_of(asked).code)[0]
    left_out = {*told.missing, *told.unseen}
    reasons = [
        {
            "column": one.column,
            "value": shown(in_language(one.value, language_of(asked))),
            "contribution": one.contribution,
            "how": told.how(one),
            "words": [word._asdict() for word in told.words.get(one.column, ())[:20]],
        }
        for one in told.contributions
        if one.column not in left_out
    ]
    return {
        "prediction": subject.labels.index(as_label(told.prediction)),
        "against": subject.labels.index(as_label(told.against)),
        "intercept": told.intercept,
        "reasons": reasons,
        "log_odds": told.log_odds,
        "calibrated_log_odds": told.calibrated_log_odds,
        "unseen": told.unseen,
        "is_impossible": told.is_impossible,
    }


def as_label(label: Any) -> Any:
    """Give a label as Python has it."""
    return label.item() if isinstance(label, np.generic) else label


def _label(subject: ClassifierSubject, text: str) -> Any:
    known = {written(label): label for label in subject.labels}
    return known.get(text) if text else None


def what_next(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Say what to do with a row, and what to ask for next."""
    facts = facts_of(subject, asked)
    model, X = partial_rows(subject.model, facts)
    loss, prior = loss_of(subject, asked), prior_of(subject, asked)
    return {
        "decision": decision(model, X, loss, prior),
        "next": _told(lambda: _next(subject, facts, loss, prior, asked), model, "next_best"),
    }


def how_sure(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Say how sure and how usual a row is, and what would turn its class: what is drawn or searched for takes longer.

    What a model cannot tell has its reason in the place of the figure.
    """
    facts = facts_of(subject, asked)
    model, X = partial_rows(subject.model, facts)
    return {
        "interval": _told(lambda: _interval(model, X), model, "credible_interval"),
        "novelty": _told(lambda: _novelty(subject, facts, X), model, "novelty"),
        **_turns(model, X, subject, language_of(asked).code),
    }


def _told(answer: Any, model: Any, method: str) -> dict[str, Any]:
    """Give an answer, or the reason why there is none."""
    if not hasattr(model, method):
        return {"why_not": f"{type(model).__name__} has none"}
    try:
        return answer()
    except BayesError as error:
        return {"why_not": str(error)}


def _interval(model: Any, X: Any) -> dict[str, Any]:
    found = model.credible_interval(X)
    return {"low": found.low[0], "high": found.high[0], "support": found.support[0], "level": found.level}


def _novelty(subject: ClassifierSubject, facts: Mapping[str, Any], X: Any) -> dict[str, Any]:
    """Compare the row with drawn ones that lack the same cells; these cannot lack one where empty is a state."""
    for name, own in subject.fields.items():
        if own.empty_is_state and name not in facts:
            return {"why_not": f"drawn rows have a value in {shown(name)}, or are empty there; here it is not known"}
    return {"share": float(subject.model.novelty(X)[0])}


def _turns(model: Any, X: Any, subject: ClassifierSubject, lang: str) -> dict[str, Any]:
    if len(subject.labels) < 2:
        return {"turns": [], "turns_together": []}
    why = model.explain(X, lang=lang)[0]

    def told(turn: Any) -> dict[str, Any]:
        return {
            "column": turn.column,
            "change": turn.change,
            "fact": _fact_of(subject, turn),
            "prediction": subject.labels.index(as_label(turn.prediction)),
        }

    return {"turns": [told(turn) for turn in why.turns], "turns_together": [told(turn) for turn in why.turns_together]}


def _fact_of(subject: ClassifierSubject, turn: Any) -> Any:
    """Give what a field is set to for a change to come true; None where that cannot be said, as of parts of a date."""
    own = subject.fields.get(turn.column)
    if own is None or turn.value is None or isinstance(turn.value, list):
        return None
    if own.kind in (NUMBER, DATE, TIME) and isinstance(turn.value, str):  # a bin
        column = subject.model.columns_[turn.column]
        if own.kind != NUMBER or not column.spans:
            return None
        low, high = column.spans[bin_labels(column).index(turn.value)]
        middle = (low + high) / 2
        return float(low if own.is_whole and middle != int(middle) else middle)
    return own.fact(turn.value)


def decision(model: Any, X: Any, loss: Loss, prior: Any) -> dict[str, Any]:
    """Give the best action for a row, and the risk of each."""
    found = model.decide(X, loss=loss, prior=prior, return_risk=True)
    actions = list(loss.table.actions)
    return {
        "actions": [written(action) for action in actions],
        "best": actions.index(as_label(found.action[0])),
        "risk": found.risk[0],
    }


def _next(
    subject: ClassifierSubject, facts: Mapping[str, Any], loss: Loss, prior: Any, asked: Mapping[str, Any]
) -> dict[str, Any]:
    costs = mapping_of(asked, "costs")
    open_columns = [name for name, own in subject.fields.items() if own.kind != NOT_READ and name not in facts]
    if not open_columns:
        return {"questions": [], "pays": False, "skipped": {}}
    of_column = {name: number_of(costs, name, 0.0, -1e12, 1e12) for name in open_columns}
    found = subject.model.next_best(dict(facts), loss, of_column, prior=prior, lang=language_of(asked).code)
    listed = [
        {"column": one.column, **{name: getattr(one.value, name) for name in ("worth", "cost", "net", "error")}}
        for one in found.questions
    ]
    return {
        "questions": as_json(listed[:MOST_QUESTIONS]),
        "pays": found.best is not None,
        "skipped": {name: in_language(why, language_of(asked)) for name, why in found.skipped.items()},
    }


def behind(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give what one cell is made of: its probability or density in each class, and how many rows had it.

    Where columns depend on each other, that of the column alone.
    """
    name, facts, plan = text_of(asked, "column"), facts_of(subject, asked), getattr(subject.model, "columns_", ())
    source = next((own.source for own in plan if own.name == name), name)
    if source not in facts:
        raise QuestionError(f"there is no column {name!r} in this row")
    model, cell = subject.model, {source: facts[source]}
    if [own.source for own in plan].count(source) > 1:  # a date is several columns
        model, X = partial_rows(model, cell)
        likelihoods = model.explain(X).log_likelihoods(0)
        if likelihoods is None:
            return {"why_not": "it is a part of another column"}
        likelihood = np.exp(likelihoods[name])
    else:
        joint = np.asarray(model.predict_joint_log_proba([cell, {}]))
        with np.errstate(invalid="ignore"):
            likelihood = np.exp(joint[0] - joint[1])
    curve = curve_or_none(subject.model, name)
    counts = None
    if curve is not None and curve.counts is not None:
        place = places_of(subject.model, cell)[name]
        if curve.kind == "bins" and isinstance(place, float):
            cuts: Any = () if curve.edges is None else curve.edges[1:-1]  # a single bin has no edge
            place = curve.at[int(np.searchsorted(cuts, place, side="right"))]
        counts = np.asarray(curve.counts)[curve.at.index(place)] if place in curve.at else None
    return {"likelihood": likelihood, "counts": counts, "is_density": curve is not None and curve.kind == "density"}


ANSWERS = {"posterior": posterior, "why": why, "what_next": what_next, "how_sure": how_sure, "behind": behind}
