"""A few words on a model that was written: what was done, and which rows it stands for now."""

from typing import Any

from bayeswater.cli.documents import print_document
from bayeswater.cli.words import say


def report(model: Any, path: str, done: str, *, as_json: bool) -> None:
    """Say what was done on standard error, or as JSON on standard output."""
    counts = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if as_json:
        document = {"model": path, "done": done, "n_rows": sum(counts.values()), "classes": counts}
        print_document(document)
        return
    say(f"{done}; {path} now stands for {sum(counts.values()):,.6g} rows", "bold green")
    say("  " + ", ".join(f"{label}: {count:,.6g}" for label, count in counts.items()))
    calibration = getattr(model, "calibration_", None)
    if getattr(calibration, "is_stale", False):
        say("note: the calibration is that of the rows before; fit again to renew it", "yellow")
    if getattr(getattr(model, "report_", None), "is_stale", False):
        say("note: structures and weights are those of the rows before; fit again to renew them", "yellow")
