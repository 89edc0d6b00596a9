"""What decisions cost, as a section of a report: those of least expected cost, beside those anybody could make."""

from typing import Any

import numpy as np

from bayeswater.decision.intervals import Measured, mean_of
from bayeswater.decision.loss import Loss, cost_html
from bayeswater.markup import Safe, html_table
from bayeswater.phrases import Language
from bayeswater.reports.page import note, scrolled, section, shaded, subsection
from bayeswater.typing import Array


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
    told = [(name, say("measured", **{part: f"{x:.4g}" for part, x in own._asdict().items()})) for name, own in rules]
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
        html_table((say("rule"), say("cost")), told),
        note(say("costs note", expected=f"{expected:.4g}")),
        subsection(say("decisions"), scrolled(html_table(heads, cells))),
    )
