"""The ladder of `compare` on the rows, worked out in the background while the page asks how far it is."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.decision.intervals import Z
from bayeswater.phrases import Language
from bayeswater.web.classifier_subject import ClassifierSubject
from bayeswater.web.fields import NOT_READ
from bayeswater.web.plain import QuestionError, language_of

if TYPE_CHECKING:
    from bayeswater.models.comparing.comparison import Comparison

FOLDS = 3
"""Folds of the comparison: enough to see which models are apart, in a time that one waits."""


def ladder(subject: ClassifierSubject, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Give the figures of all models, or how far they are."""
    rows, truth = subject.rows, subject.truth
    if rows is None or truth is None or not subject.has_truth:
        raise QuestionError("a comparison needs rows whose classes are known")
    known = np.flatnonzero(truth >= 0)
    read = [name for name, own in subject.fields.items() if own.kind != NOT_READ]

    def work(progress: Callable[[int, int, str], None]) -> "Comparison":
        from bayeswater.models.comparing.compare import compare  # all models: the page is there without them

        labels = [subject.labels[code] for code in truth[known]]
        return compare(rows.select(read).take(known), labels, folds=FOLDS, progress=progress)

    run = subject.comparison
    run.begin(work)
    if run.failure is not None:
        return {"state": "failed", "why": run.failure}
    if run.found is None:
        return {"state": "running", "n_done": run.n_done, "n_all": run.n_all, "model": run.step}
    return {"state": "done", **_figures(run.found, language_of(asked))}


def _figures(found: "Comparison", language: Language) -> dict[str, Any]:
    models, failures = [], dict(found.failures(language))
    for one in found.contestants:
        mean, error = found.behind(one) if one.card is not None else (float("nan"), float("nan"))
        figures = ("name", "error", "log_loss", "ece", "brier", "fit_seconds", "n_parameters")
        told = {name: getattr(one, name) for name in figures} | {"failure": failures.get(one.name)}
        models.append(told | {"behind": mean, "half": Z * error})
    return {"models": models, "remarks": found.remarks(language), "n_rows": found.n_rows, "n_folds": found.n_folds}


ANSWERS = {"ladder": ladder}
