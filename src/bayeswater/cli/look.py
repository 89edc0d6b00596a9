"""``bayeswater look``: what a table holds, before anything is learned from it."""

from typing import Annotated

from cyclopts import Parameter

from bayeswater.cli.options import AS_USUAL, AsJson, DataFile, ReadingOptions


def look(
    *data: DataFile,
    target: Annotated[str | None, Parameter(name=["--target", "-t"], help="Column to predict.")] = None,
    as_json: AsJson = False,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Say what a table holds: each column with its kind, missing cells, spread, examples, and what may go wrong."""
    from rich.text import Text

    from bayeswater.cli.standard_output import print_document
    from bayeswater.cli.terminal import findings, in_words_of_the_command, warnings_once
    from bayeswater.data.display_width import shortened
    from bayeswater.data.looking import look_at_rows

    with reading.rows(list(data)) as rows, warnings_once():
        found = look_at_rows(rows, target)
    if as_json:
        print_document(found.to_dict())
        return
    console = findings()
    console.print(Text(found.title, style="bold"), soft_wrap=True)
    for line in found.table():
        console.print(shortened(line, console.width) if console.is_terminal else line, soft_wrap=True)
    for remark in found.remarks():
        console.print(f"! {in_words_of_the_command(remark)}", soft_wrap=not console.is_terminal)
