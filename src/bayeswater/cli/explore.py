"""``bayeswater explore``: a model or a network as a local page."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from bayeswater.cli.options import AS_USUAL, ReadingOptions

if TYPE_CHECKING:
    from bayeswater.web.network_subjects import Subject


def explore(
    model: Annotated[
        str | None, Parameter(help="File of a model or a network; without one, built-in examples are shown.")
    ] = None,
    /,
    *rows: Annotated[str, Parameter(name="ROWS", help="Table of rows to show, in the formats of `predict`.")],
    target: Annotated[str | None, Parameter(name=["--target", "-t"])] = None,
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 0,
    open: Annotated[bool, Parameter(negative="--no-open")] = True,
    lang: Literal["en", "zh"] | None = None,
    reading: ReadingOptions = AS_USUAL,
) -> None:
    """Show a model or a network as a page in the browser, served from this machine alone until Ctrl-C.

    Parameters
    ----------
    target
        Column that holds the true class; by default the one whose values are the classes of the model.
    port
        Port to listen on; 0 chooses a free one.
    open
        Whether to open the browser.
    lang
        Language of the page; by default that of the browser.
    """
    from bayeswater.cli.terminal import say
    from bayeswater.errors import ModelFileError
    from bayeswater.web.exploring import Exploration

    if model is not None and not Path(model).exists():
        raise ModelFileError(f"{model}: there is no such file")
    page = Exploration(port=port, lang=lang)
    try:
        with page:
            print(page.address, flush=True)
            say("Ctrl-C ends it.")
            if open:  # it is there at once, and filled when the model has come
                page.open()
            page.show(built_in() if model is None else [_subject(model, list(rows), target, reading)])
            page.wait()
    except KeyboardInterrupt:
        say("ended")
        os._exit(0)  # at once: nothing is half-written, and what threads still work out is for nobody


def _subject(path: str, data: list[str], target: str | None, reading: ReadingOptions) -> "Subject":
    """Load what a file holds, and the first rows of the data."""
    from bayeswater.cli.networks import has_numbers, is_mixed, read_any_network
    from bayeswater.cli.terminal import say, warnings_once
    from bayeswater.errors import ParameterError
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.network_files import is_network_file
    from bayeswater.web.subjects import subject_of

    name = Path(path).name
    with warnings_once():
        if is_network_file(path) or has_numbers(path):
            found = read_any_network(path)
        else:  # what is needed of models takes a second more
            from bayeswater.models.persistence import load

            found = load(path)
        if data and (is_mixed(found) or isinstance(found, BayesianNetwork)):
            raise ParameterError(f"{path} is a network, which is explored without rows; leave {data[0]!r} out")
        if not data:
            return subject_of(found, name=name)

        from bayeswater.cli.models import load_model, open_for
        from bayeswater.models.streaming.sources import column_names
        from bayeswater.web.classifier_subject import MOST_ROWS

        source = open_for(load_model(path), path, reading, data, target=target, keep=True)
        if target is None and found.classes_.dtype.kind in "UO":
            source.keep_words(besides=column_names(found))  # the true classes may be yes and no
        table = source.head(source.schema.names, MOST_ROWS + 1)
    if table.num_rows > MOST_ROWS:
        say(f"note: the first {MOST_ROWS:,} rows are shown", "yellow")
    return subject_of(found, table, target=target, name=name)


def built_in() -> "list[Subject]":
    """Fit the models of the demo."""
    from bayeswater.demo.loans import loans
    from bayeswater.demo.messages import load_messages
    from bayeswater.demo.network import cough
    from bayeswater.models.mixed.naive_bayes import NaiveBayes
    from bayeswater.web.subjects import subject_of

    applications, messages = loans(), load_messages()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a column that is left out, which the page tells
        of_loans = NaiveBayes(calibrate=True).fit(
            applications.drop_columns(["outcome"]), applications.column("outcome")
        )
    of_messages = NaiveBayes(calibrate=True).fit(messages.select(["text"]), messages.column("label"))
    return [
        subject_of(of_loans, applications, target="outcome", name="loans"),
        subject_of(of_messages, messages.select(["text", "label"]), target="label", name="messages"),
        subject_of(cough(), name="cough"),
    ]
