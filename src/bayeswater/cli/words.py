"""Words for people: notes and reports on standard error, findings on standard output, warnings told once."""

import re
import warnings
from ast import literal_eval
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from bayeswater.cli.standard_output import named_in_errors
from bayeswater.errors import BayesWarning, RoundedTableWarning

WORD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_PYTHON = re.compile(rf"(column|type)s=\{{({WORD}): '(\w+)'\}}")
LOCAL_ROWS = re.compile(
    rf"bayeswater\.local_rows\(source, (?:(types=\{{{WORD}: {WORD}\}})|(\w+)=(\.\.\.|False|{WORD}|\[{WORD}\]))\)"
)
OPTIONS = {
    "columns={...}": "--column age=binned",
    ", or name those to read with bayeswater.local_rows(source, columns=[...])": "",
    "a larger tolerance=": "a larger --tolerance",
    "decimal=','": "--decimal ,",
    "take unseen='ignore' for": "take --unseen ignore for",
    "convert it, or use NaiveBayes, which": "leave it out with --ignore, or take --model naive-bayes, which",
    "learn_structure(missing='em') fills": "bayeswater learn --incomplete em fills",
    "; load() reads it": "; bayeswater inspect shows it",
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
    """
    message = LOCAL_ROWS.sub(_option_of_reading, message)
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
    return f"--no-{name}" if given is False else f"--{name} {quote(given)}"


@contextmanager
def warnings_told_once(*, of_rounding: bool = False) -> Iterator[None]:
    """Say each warning of the library once, however many batches bring it up; numbers in it may differ.

    That a network file is written with few digits is said on request alone: all commands on it would say it again.
    """
    show_as_usual = warnings.showwarning
    told: Counter[tuple[type[Warning], str]] = Counter()

    def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, BayesWarning):
            show_as_usual(message, category, *place, **more)
            return
        key = (category, re.sub(r"\d+", "#", str(message)))
        if not told[key]:
            say(f"warning: {in_words_of_the_command(str(message))}", "yellow")
        told[key] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("always", BayesWarning)
        if not of_rounding:
            warnings.simplefilter("ignore", RoundedTableWarning)
        warnings.showwarning = tell
        yield
    repeated = sum(n - 1 for n in told.values())
    if repeated:
        say(f"warning: {repeated} more of the same kind in later batches", "yellow")
