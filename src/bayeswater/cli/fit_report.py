"""What ``bayeswater fit`` has to say: the families, the balance of the classes, and how good the model is."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from bayeswater.cli.standard_output import print_document
from bayeswater.cli.terminal import amount, bar, in_words_of_the_command, plain_table, say, words
from bayeswater.phrases import EN, Language, translated
from bayeswater.records import record

if TYPE_CHECKING:
    from bayeswater.decision.calibration_choice import CalibrationReport
    from bayeswater.models.streaming.labelled import LabelledRows


SHOWN = 100
"""Columns and classes that are listed; who has more asks for JSON."""


@record
class FittedModel:
    """A fitted model, the rows it was fitted on, and how well it does without each; an ensemble tells that itself."""

    model: Any
    rows: "LabelledRows"
    review: Any


def print_report(learned: FittedModel, output: str, *, as_json: bool) -> None:
    """Print the report as tables on standard error, or as JSON on standard output."""
    if as_json:
        print_document(report(learned, output))
        return
    console, rows = words(), learned.rows
    say(f"{rows.name}: {amount(rows.n_rows, 'row')}, {amount(len(rows.columns), 'column')}", "bold")
    for table in (*_plan(learned.model), _classes(learned.model)):
        console.print(table, "")
    if learned.review is None:
        console.print(Text(str(learned.model.report_)), "", soft_wrap=True)
    else:
        console.print(_quality(learned), "")
    say(f"saved as {output} ({Path(output).stat().st_size:,} bytes)", "bold green")


def report(learned: FittedModel, output: str) -> dict[str, Any]:
    """Give the report as a document."""
    model, rows, review = learned.model, learned.rows, learned.review
    return {
        "model": output,
        "data": rows.name,
        "target": rows.target,
        "n_rows": rows.n_rows,
        "n_rows_without_label": rows.n_unlabelled,
        "classes": [
            {"class": label, "rows": count}
            for label, count in zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)
        ],
        "kind": type(model).__name__,
        "columns": [{"name": c.name, "family": c.family, "why": c.why} for c in getattr(model, "columns_", ())],
        "n_parameters": model.n_parameters,
        **(_of_ensemble(model) if review is None else _of_review(model, review)),
    }


def _of_review(model: Any, review: Any) -> dict[str, Any]:
    """Say how good a model is on rows left out in turn."""
    return {
        "leave_one_out": {
            "n_rows": review.n_rows,
            "n_left_out": review.n_left_out,
            "accuracy": review.accuracy,
            "log_loss": review.log_loss,
            "ece": review.ece,
        },
        "calibration": _calibration(model),
    }


def _of_ensemble(model: Any) -> dict[str, Any]:
    """Say how good an ensemble is on rows its structures have not seen, and what each kind of member weighs."""
    found = model.report_
    figures = {name: getattr(found, name)._asdict() for name in ("error", "log_loss", "ece")}
    return {
        "honest": {"n_rows": found.n_validated, **figures},
        "ensemble": {
            "preset": found.preset,
            "seed": found.seed,
            "seconds": found.seconds,
            "forecast": found.forecast,
            "families": [asdict(family) for family in found.families],
            "left_out": [*found.left_out],
        },
    }


def _calibration(model: Any) -> dict[str, Any] | None:
    found = getattr(model, "calibration_", None)
    if found is None:
        return None
    return {
        name: None if quality is None else asdict(quality)
        for name, quality in (("before", found.before), ("after", found.after))
    }


def _plan(model: Any) -> list[Any]:
    """Columns and families, of a model that reads columns in different ways."""
    return [families(model)] if hasattr(model, "columns_") else []


def families(model: Any, language: Language = EN) -> Any:
    """Lay out the columns of a model, their families and why they have them."""
    table = plain_table("column", "family", "why", title="Columns")
    plan = list(model.columns_)
    for column in plan[:SHOWN]:
        style = "dim" if column.family == "ignored" else ""
        why = in_words_of_the_command(translated(column.why, language))
        table.add_row(Text(column.name), translated(column.family, language), Text(why), style=style)
    return _with_rest(table, len(plan))


def _with_rest(table: Any, n_rows: int) -> Any:
    """Say below a table how many rows are not shown."""
    if n_rows > SHOWN:
        table.caption, table.caption_justify = f"... and {n_rows - SHOWN:,} more", "left"
    return table


def _classes(model: Any) -> Any:
    table = plain_table("class", "rows", "share", "", title="Classes", numbers=("rows", "share"))
    total, largest = model.class_count_.sum(), model.class_count_.max()
    for label, count in zip(model.classes_[:SHOWN].tolist(), model.class_count_[:SHOWN].tolist(), strict=True):
        table.add_row(Text(str(label)), f"{count:,.0f}", f"{100 * count / total:.1f} %", bar(count / largest))
    return _with_rest(table, len(model.classes_))


def _quality(learned: FittedModel) -> Any:
    review = learned.review
    if not review.n_rows:
        return Text("No row can be left out in turn: each is alone in its class")
    calibration = getattr(learned.model, "calibration_", None)
    if calibration is not None and calibration.after is not None:
        return quality_table(_calibrated_on(learned), calibration)
    table = plain_table("", "", title=_left_out_in_turn(review.n_rows, review.n_left_out), numbers=("",))
    if any(column.cuts for column in getattr(learned.model, "columns_", ())):
        table.caption, table.caption_justify = "given the cuts", "left"
    for name, value in {"accuracy": review.accuracy, "log-loss": review.log_loss, "ECE": review.ece}.items():
        table.add_row(name, f"{value:.4f}")
    return table


def _calibrated_on(learned: FittedModel) -> str:
    """Say which rows a model was calibrated by; where labels choose the cuts, rows that were held out."""
    from bayeswater.models.mixed.naive_bayes import NaiveBayes
    from bayeswater.models.semi_naive.state_classifier import StateClassifier, is_chosen_by_labels

    model, review, calibration = learned.model, learned.review, learned.model.calibration_
    holds_out = isinstance(model, StateClassifier) and is_chosen_by_labels(model)
    if holds_out or (isinstance(model, NaiveBayes) and model.calibrate):
        title = _left_out_in_turn(calibration.n_used, calibration.n_left_out)
        return f"{title}: rows held out of the choice of cuts and structure"
    return _left_out_in_turn(review.n_rows, review.n_left_out)


def _left_out_in_turn(n_rows: int, n_left_out: int) -> str:
    rows = f"{amount(n_left_out, 'row')} alone in {'its' if n_left_out == 1 else 'their'} class"
    alone = f" ({rows} set aside)" if n_left_out else ""
    return f"Leaving one out, {n_rows:,} times{alone}"


def quality_table(title: str, calibration: "CalibrationReport") -> Any:
    """Lay out how good a model is on rows it has not seen, before and after calibration."""
    table = plain_table("", "as counted", "calibrated", title=title, numbers=("as counted", "calibrated"))
    table.caption, table.caption_justify = f"by {calibration.map}", "left"
    before, after = calibration.before, calibration.after
    assert before is not None and after is not None
    for name, measure in (("accuracy", "accuracy"), ("log-loss", "log_loss"), ("ECE", "ece")):
        table.add_row(name, *(f"{getattr(quality, measure):.4f}" for quality in (before, after)))
    return table
