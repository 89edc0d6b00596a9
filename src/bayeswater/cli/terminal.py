"""What people see on a terminal: words, tables, and bars that move.

Notes, reports and warnings (each once) go to standard error; findings go to standard output. Numbers in tables stand to
the right, and tables wider than the screen are cut into pieces. Bars show how many rows have been read or made, and of
a comparison how many fits are done.
"""

import re
import sys
import warnings
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayeswater.cli.standard_output import named_in_errors
from bayeswater.errors import BayesWarning, ReadingWarning, RoundedTableWarning

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.data.sources.local_rows import LocalRows
    from bayeswater.data.sources.parts import Progress

WORD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_PYTHON = re.compile(rf"(column|type)s=\{{({WORD}): '(\w+)'\}}")
OF_CELLS = re.compile(rf"\b(decimal|thousands|date_format)=({WORD})")
OF_MISSING = re.compile(rf"\bmissing=\[({WORD}(?:, {WORD})*)\]")
LOCAL_ROWS = re.compile(
    rf"bayeswater\.local_rows\(source, (?:(types=\{{{WORD}: {WORD}\}})|(\w+)=(\.\.\.|False|{WORD}|\[{WORD}\]))\)"
)
OPTIONS = {
    "columns={...}": "--column age=binned",
    ", or name those to read with bayeswater.local_rows(source, columns=[...])": "",
    "a larger tolerance=": "a larger --tolerance",
    "bad_rows='pad'": "--bad-rows pad",
    "whole_rows=True": "--whole-rows",
    "single=True": "--float",
    "or give a query=...": "or give a --query",
    "bin it: pandas.qcut(y, 3)": "bin it: --target-bins 3",
    "leave the column out where it is known only afterwards, or count empty cells with missing='state'": (
        "leave the column out with --ignore where it is known only afterwards, or write a word into its empty cells"
    ),
    "take unseen='ignore' for": "take --unseen ignore for",
    "convert it, or use NaiveBayes, which": "leave it out with --ignore, or take --model naive-bayes, which",
    "learn_structure(missing='em') fills": "bayeswater learn --incomplete em fills",
    "; load() reads it": "; bayeswater inspect shows it",
    "ask for .bound, which no graph scores above": "leave --time-limit out, and it is worked out",
}
"""What messages of the library say in Python, and how the command spells it."""

AS_IT_IS: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""A name such as ``pay[b]`` or ``:heart:`` is printed as it is, and tells the console nothing."""


class _Findings(Console):
    """A console whose reader may go away, or whose disk may be full."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print; where that fails, the error names standard output."""
        with named_in_errors():
            super().print(*objects, **how)

    def on_broken_pipe(self) -> None:
        """Let the command end as it does for every broken pipe; by default it would be for an error."""
        raise BrokenPipeError


def amount(n: float, noun: str, plural: str | None = None) -> str:
    """Say how many there are.

    >>> amount(1, "row"), amount(2000, "row"), amount(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def words() -> Console:
    """Give the console for all that accompanies the data."""
    return Console(stderr=True, **AS_IT_IS)


def findings() -> Console:
    """Give the console for what a verb was asked to print."""
    return _Findings(**AS_IT_IS)


def say(message: str, style: str = "") -> None:
    """Say one thing; long lines are left to the terminal, so that a file or a pipe gets them whole."""
    words().print(Text(message, style=style), soft_wrap=True)


def complain(message: str) -> None:
    """Say what went wrong."""
    say(in_words_of_the_command(message), "bold red")


def in_words_of_the_command(message: str) -> str:
    """Turn what a message of the library tells people to write in Python into options of the command.

    >>> in_words_of_the_command("to keep it, say columns={'postal code': 'categorical'}")
    "to keep it, say --column 'postal code=categorical'"
    >>> in_words_of_the_command(
    ...     "say bayeswater.local_rows(source, types={'zip': 'string'}) or what is missing with "
    ...     "bayeswater.local_rows(source, missing=['a) b'])"
    ... )
    "say --type zip=string or what is missing with --missing 'a) b'"
    >>> in_words_of_the_command("as 31/12/2023: say date_format='%d/%m/%Y'")
    'as 31/12/2023: say --date-format %d/%m/%Y'
    >>> in_words_of_the_command("say missing=['-999', 'not known'] of a file")
    "say --missing=-999 '--missing=not known' of a file"
    """
    message = LOCAL_ROWS.sub(_option_of_reading, message)
    message = OF_CELLS.sub(lambda found: f"--{found[1].replace('_', '-')} {quote(literal_eval(found[2]))}", message)
    message = OF_MISSING.sub(
        lambda found: " ".join(quote(f"--missing={mark}") for mark in literal_eval(f"[{found[1]}]")), message
    )
    message = IN_PYTHON.sub(lambda found: f"--{found[1]} {quote(f'{literal_eval(found[2])}={found[3]}')}", message)
    for python, option in OPTIONS.items():
        message = message.replace(python, option)
    return message


def _option_of_reading(found: re.Match[str]) -> str:
    """Spell how `local_rows` is told to read a file as an option."""
    types, name, value = found.groups()
    if types:
        return str(types)
    if value == "...":
        return f"--{name}"
    given = literal_eval(value)
    given = given[0] if isinstance(given, list) else given
    option = name.replace("_", "-")
    return f"--no-{option}" if given is False else f"--{option} {quote(given)}"


@contextmanager
def warnings_once(*, of_rounding: bool = False) -> Iterator[None]:
    """Say each warning of the library once, however many batches bring it up; numbers in it may differ.

    That a network file is written with few digits is said on request alone: all commands on it would say it again.
    """
    show_as_usual = warnings.showwarning
    seen: Counter[tuple[type[Warning], str]] = Counter()

    def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, BayesWarning):
            show_as_usual(message, category, *place, **more)
            return
        key = (category, re.sub(r"\d+", "#", str(message)))
        if not seen[key]:
            kind = "note" if issubclass(category, ReadingWarning) else "warning"
            say(f"{kind}: {in_words_of_the_command(str(message))}", "yellow")
        seen[key] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("always", BayesWarning)
        if not of_rounding:
            warnings.simplefilter("ignore", RoundedTableWarning)
        warnings.showwarning = tell
        yield
    repeated = sum(n - 1 for n in seen.values())
    if repeated:
        say(f"warning: {repeated} more of the same kind in later batches", "yellow")


BAR_CELLS = 20


def plain_table(*headers: str, title: str = "", numbers: Sequence[str] = ()) -> Table:
    """Make an empty table; the columns named in `numbers` stand to the right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, title=title or None, title_justify="left", title_style="bold")
    for header in headers:
        table.add_column(Text(header), justify="right" if header in numbers else "left", overflow="fold")
    return table


def bar(share: float) -> str:
    """Draw a share of one, with a line where standard output has it.

    >>> bar(0.5) in ("━━━━━━━━━━", "==========")
    True
    """
    has_lines = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    return ("━" if has_lines else "=") * round(BAR_CELLS * share)


def number(value: Any) -> str:
    """Write a cell of a table: numbers short, all else as it is.

    >>> number(0.123456), number(12000.0), number("red"), number(None)
    ('0.1235', '12,000', 'red', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == round(value, 0) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.4f}" if 1e-3 <= abs(value) < 1e5 else f"{value:.3g}"


def pieces(title: str, columns: dict[str, list[Any]], width: int, rows: int, *, keys: int = 1) -> Iterator[Table]:
    """Lay out named columns as tables no wider than `width`, each beginning with the first ones, the `keys`.

    Of more rows than `rows` the first are shown, and how many follow.
    """
    cells = {name: [number(value) for value in values[:rows]] for name, values in columns.items()}
    n_rows = max(map(len, columns.values()))
    first = {name: cells.pop(name) for name in list(cells)[:keys]}
    begin = sum(_room(name, values) for name, values in first.items()) - 1
    while True:
        taken: list[str] = []
        used = begin
        for name, values in cells.items():
            used += _room(name, values)
            if taken and used > width:
                break
            taken.append(name)
        table = plain_table(*first, *taken, title=title, numbers=taken)
        shown = [*first.values(), *(cells[name] for name in taken)]
        for row in range(min(rows, n_rows)):
            table.add_row(*(Text(values[row]) for values in shown))
        if n_rows > rows:
            table.caption = f"... and {n_rows - rows:,} more"
            table.caption_justify = "left"
        yield table
        cells = {name: values for name, values in cells.items() if name not in taken}
        title = f"{title} (continued)" if not title.endswith("(continued)") else title
        if not cells:
            return


def _room(name: str, values: Sequence[str]) -> int:
    """Columns that a column takes: the widest cell, a blank on either side, and one for the line before it."""
    return 3 + max(map(_width, [name, *values]))


def _width(text: str) -> int:
    return Text(text).cell_len


def counted(tables: "Iterable[pa.Table]", what: str, n_rows: int, *, quiet: bool = False) -> "Iterator[pa.Table]":
    """Give tables of so many rows in all, and show on a terminal how far it has come."""
    if quiet or not words().is_terminal:
        yield from tables
        return
    progress = _bar(n_rows)
    n_done = 0
    with progress:
        task = progress.add_task(what, total=n_rows, rows=0, speed=0.0)
        for table in tables:
            n_done += table.num_rows
            yield table
            del table
            elapsed = progress.tasks[0].elapsed or 0.0
            progress.update(task, completed=n_done, rows=n_done, speed=n_done / elapsed if elapsed else 0.0)


def _bar(total: int | None) -> Any:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[rows]:,} rows"),
        TextColumn("{task.fields[speed]:,.0f} rows/s"),
        *((TimeRemainingColumn(compact=True),) if total else (TimeElapsedColumn(),)),
        console=words(),
        transient=True,
    )


@contextmanager
def passes_shown(rows: "LocalRows", under_way: Callable[[], str], *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal how far each reading of the rows has come, how fast it is, and how long it will take.

    What they are read for is told by a function, since one pass may follow the other.
    """
    if quiet or not words().is_terminal:
        yield
        return
    progress = _bar(rows.n_rows or rows.n_bytes)
    task = progress.add_task("reading", total=None, rows=0, speed=0.0)

    def tell(done: "Progress") -> None:
        shown, what = progress.tasks[0], under_way()
        if shown.description != what or done.n_rows < shown.fields["rows"]:
            progress.reset(task, description=what, rows=0, speed=0.0)
        elapsed = progress.tasks[0].elapsed or 0.0
        progress.update(
            task,
            total=done.total_rows or done.total_bytes,
            completed=done.n_rows if done.total_rows else done.n_bytes,
            rows=done.n_rows,
            speed=done.n_rows / elapsed if elapsed else 0.0,
        )

    before, rows.progress = rows.progress, tell
    try:
        with progress:
            yield
    finally:
        rows.progress = before


@contextmanager
def fits_shown() -> Iterator[Callable[[int, int, str], None] | None]:
    """Give a function that shows on a terminal how many fits are done, and of which model the next one is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = words()
    if not console.is_terminal:
        yield None
        return
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("fits"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with progress:
        task = progress.add_task("comparing", total=None)

        def tell(n_done: int, n_fits: int, name: str) -> None:
            progress.update(task, completed=n_done, total=n_fits, description=f"fitting {name}")

        yield tell
