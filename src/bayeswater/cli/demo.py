"""``bayeswater demo``: a story on built-in data, of a spam filter in two languages and a table of loans.

Counting, leave-one-out, predictions with their reasons, a row forgotten, models compared, a model saved.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from bayeswater.cli.fit_report import families, quality_table
from bayeswater.cli.terminal import findings, warnings_once

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.models.mixed.naive_bayes import NaiveBayes

NEW_MESSAGES = (
    "You have been chosen for a free holiday, reply YES within 24 hours to claim it",
    "恭喜您被抽中为幸运用户，请点击链接领取大奖",
    "Shall we meet at the station at six, or do you need more time?",
)
"""Three messages that the filter has not seen."""

FOLDS = 3
"""Folds of the comparison: enough for a story that is told in seconds."""


def demo() -> None:
    """Show the main abilities on built-in data."""
    console = findings()
    with warnings_once():
        _spam_filter(console)
        model, X, y = _loans(console)
        _one_row(console, model, X)
        _forgetting(console, model, X, y)
        _comparing(console, X, y)
        _keeping(console, model, X)


def _spam_filter(console: Console) -> None:
    from bayeswater.demo.messages import load_messages
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    messages = load_messages()
    X, y = messages.select(["text"]), messages.column("label")
    _title(console, f"1. A spam filter from {messages.num_rows} short messages, English and Chinese")
    model = NaiveBayes(calibrate=True).fit(X, y)
    console.print(families(model), "")
    console.print(quality_table(f"Leaving one out, {X.num_rows} times", model.calibration_), "")
    _title(console, "   Three new messages, and why")
    import pyarrow as pa

    new = pa.table({"text": NEW_MESSAGES})
    for text, label, proba, why in zip(
        NEW_MESSAGES, model.predict(new), model.predict_proba(new).max(axis=1), model.explain(new), strict=True
    ):
        console.print(Text(f"   {label} ({proba:.2f})  {text}", style="bold red" if label == "spam" else "bold green"))
        console.print(Text(f"      {why.summary}"), soft_wrap=True)
    console.print()


def _loans(console: Console) -> "tuple[NaiveBayes, pa.Table, pa.ChunkedArray]":
    from bayeswater.demo.loans import loans
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    table = loans()
    X, y = table.drop_columns(["outcome"]), table.column("outcome")
    _title(console, f"2. A real table: {table.num_rows} loans: numbers, categories, dates, a text, missing cells")
    model = NaiveBayes(calibrate=True).fit(X, y)
    console.print(families(model), "")
    console.print(quality_table(f"Leaving one out, {X.num_rows} times", model.calibration_), "")
    return model, X, y


def _one_row(console: Console, model: "NaiveBayes", X: "pa.Table") -> None:
    row = X.slice(1, 1)
    _title(console, "3. One of them, taken apart: what each column says, and what would change the decision")
    console.print(Text(str(model.explain(row)[0])), soft_wrap=True)
    console.print(Text(f"How sure is that?  {model.credible_interval(row)}"), soft_wrap=True)
    odd = row.set_column(row.column_names.index("income"), "income", [[9e7]])
    usual, unusual = model.novelty(row)[0], model.novelty(odd)[0]
    console.print(
        f"How usual is it?  {100 * usual:.0f} % of the rows the model expects are less likely; "
        f"with an income of 90 million {100 * unusual:.1f} %.\n"
    )


def _forgetting(console: Console, model: "NaiveBayes", X: "pa.Table", y: Any) -> None:
    from bayeswater.models.mixed.naive_bayes import NaiveBayes

    _title(console, "4. Somebody asks to be forgotten: the row is subtracted, as if it had never been there")
    forgotten = NaiveBayes(columns=model.columns_).fit(X, y).forget(X.slice(1, 1), y.slice(1, 1))
    import pyarrow as pa

    others = pa.array([row for row in range(X.num_rows) if row != 1])
    never_seen = NaiveBayes(columns=model.columns_).fit(X.take(others), y.take(others))
    difference = abs(forgotten.predict_proba(X) - never_seen.predict_proba(X)).max()
    console.print(
        f"Largest difference to a model that never saw it, over all probabilities of {X.num_rows} rows: "
        f"{difference:.1e}\n"
    )


def _comparing(console: Console, X: "pa.Table", y: Any) -> None:
    from bayeswater.cli.compare import print_comparison
    from bayeswater.cli.terminal import fits_shown
    from bayeswater.models.comparing.compare import compare

    _title(console, "5. Is another model better? All kinds, on the same folds of rows they have not seen")
    with fits_shown() as progress:
        found = compare(X.drop_columns(["application_id"]), y, folds=FOLDS, progress=progress)
    print_comparison(console, found)
    console.print()


def _keeping(console: Console, model: "NaiveBayes", X: "pa.Table") -> None:
    from bayeswater.models.persistence import load, save

    _title(console, "6. Saved, loaded, and the same to the bit")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "loans.bayes"
        save(model, path)
        same = bool((load(path).predict_proba(X) == model.predict_proba(X)).all())
        console.print(f"{path.name}: {path.stat().st_size:,} bytes for {model.n_parameters} parameters; equal: {same}")


def _title(console: Console, text: str) -> None:
    console.print(Text(text, style="bold"))
