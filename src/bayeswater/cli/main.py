"""``bayeswater``: reads the command line, runs a verb, and turns what goes wrong into words and an exit code.

0 is well, 1 a fault of the data or a model file, 2 a fault of the command line, 130 interrupted. Data go to standard
output, words to standard error. Nothing heavy is imported here, so that ``--help`` answers at once.
"""

import atexit
import gc
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from io import TextIOWrapper
from typing import Any

from cyclopts import App, CycloptsError, Parameter
from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError, ValidationError

from bayeswater.cli.standard_output import named_in_errors, stand_in_for_closed
from bayeswater.errors import BayesError, ParameterError
from bayeswater.version import __version__

WELL, FAULT, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

VERBS = {
    "look": (
        "Show what a table holds, column by column, and what is likely to go wrong.",
        "bayeswater look people.csv --target income",
    ),
    "fit": (
        "Learn a model from a table, and save it.",
        "bayeswater fit people.csv --target income -o income.bayes",
    ),
    "compare": (
        "Compare all kinds of models on a table, by cross-validation on the same folds.",
        "bayeswater compare people.csv --target income --save best.bayes",
    ),
    "predict": (
        "Predict the class of each row, with the probability of every class.",
        "bayeswater predict income.bayes new.csv -o answers.parquet",
    ),
    "evaluate": (
        "Compare predictions with the true classes: accuracy, log-loss, calibration, confusion, cost.",
        "bayeswater evaluate income.bayes test.csv --target income --loss costs.csv",
    ),
    "report": (
        "Write a report on the quality of a model: one HTML file.",
        "bayeswater report income.bayes test.csv --target income --group sex -o report.html",
    ),
    "explain": (
        "Explain the prediction of each row, column by column.",
        "bayeswater explain income.bayes new.csv --rows 3",
    ),
    "inspect": (
        "Show the content of a model or a network: classes, columns, variables, tables.",
        "bayeswater inspect income.bayes --column age",
    ),
    "explore": (
        "Open a model or a network as a page in the browser.",
        "bayeswater explore income.bayes test.csv",
    ),
    "export": (
        "Write a model as SQL, ONNX, C, JavaScript, an HTML page or plain Python.",
        "bayeswater export income.bayes income.sql --dialect postgres",
    ),
    "serve": (
        "Serve models over HTTP: predict, explain, decide; with --learn, also learn.",
        "bayeswater serve income.bayes --port 8000",
    ),
    "drift": (
        "Show which columns changed between two models, or between a model and new rows.",
        "bayeswater drift monday.bayes tuesday.bayes",
    ),
    "merge": (
        "Merge models that were fitted on different rows into one, as if fitted on all rows.",
        "bayeswater merge monday.bayes tuesday.bayes -o both.bayes",
    ),
    "forget": (
        "Remove rows from a model, as if it had never seen them.",
        "bayeswater forget income.bayes withdrawn.csv --target income",
    ),
    "learn": (
        "Learn the graph and the tables of a Bayesian network from a table, and save it.",
        'bayeswater learn survey.csv -o net.bif --forbid "sex <- *"',
    ),
    "score": (
        "Score the graph of a network on a table, node by node.",
        "bayeswater score net.bif survey.csv --score bdeu",
    ),
    "compare-structures": (
        "Show in which arcs two networks differ.",
        "bayeswater compare-structures learned.bif true.bif",
    ),
    "query": (
        "Give posterior probabilities of a network's variables, given evidence.",
        'bayeswater query alarm.bif "P(LVFAILURE | BP=LOW, SAO2=LOW)"',
    ),
    "sensitivity": (
        "Show which table entries of a network a posterior depends on most.",
        'bayeswater sensitivity alarm.bif "P(LVFAILURE=TRUE | BP=LOW)" --plot tornado.png',
    ),
    "impute": (
        "Fill in missing cells of a table by a network.",
        "bayeswater impute alarm.bif rows.csv -o whole.csv",
    ),
    "draw": (
        "Draw a network, with the posterior of each variable.",
        "bayeswater draw asia.bif -o asia.svg --given xray=yes",
    ),
    "policy": (
        "Solve an influence diagram: the best choice at each decision.",
        "bayeswater policy oil.xdsl --information",
    ),
    "dsep": (
        "Test whether variables of a network are d-separated (independent), given others.",
        'bayeswater dsep asia.bif "asia ; smoke | xray"',
    ),
    "sample": (
        "Draw random rows from a network.",
        "bayeswater sample alarm.bif -n 100000 -o rows.parquet",
    ),
    "edit": (
        "Change nodes, states, edges and tables of a network.",
        'bayeswater edit asia.bif -o less.bif --remove-node xray --rename "lung=cancer"',
    ),
    "convert": (
        "Convert a network file to another format.",
        "bayeswater convert alarm.bif alarm.xdsl",
    ),
    "demo": ("Show the main abilities on built-in data.", "bayeswater demo"),
}
"""The verbs in the order of a first acquaintance: what each does, and an example."""

FILES = {
    **dict.fromkeys(("merge", "forget"), "updating"),
    **dict.fromkeys(("learn", "score", "compare-structures"), "structures"),
    **dict.fromkeys(("draw", "impute", "sensitivity"), "network_analysis"),
    **dict.fromkeys(("dsep", "sample", "convert"), "network_verbs"),
}
"""Where a verb lives that has no file of its name: those of one subject share one."""

EPILOGUE = "bayeswater COMMAND --help shows the options of a command. --debug shows the traceback of an error."

app = App(
    name="bayeswater",
    help="Bayesian classification and Bayesian networks: learn from a table, predict, explain, decide.",
    help_epilogue=EPILOGUE,
    version=__version__,
    # Plain text, since a parser of markup would take longer to import than all the rest.
    help_format="plaintext",
    version_format="plaintext",
    default_parameter=Parameter(negative_iterable=()),
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
)
for place, (verb, (summary, example)) in enumerate(VERBS.items()):
    app.command(
        f"bayeswater.cli.{FILES.get(verb, verb)}:{verb.replace('-', '_')}",
        name=verb,
        help=summary,
        help_epilogue=f"Example: {example}",
        sort_key=place,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; `arguments` are those of the process by default."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    if arguments is None:
        stand_in_for_closed()
        if os.environ.get("COLUMNS") == "0":  # a width that is not known; nothing could be printed in it
            del os.environ["COLUMNS"]
        if not {"serve", "explore"}.intersection(given[:1]):  # other verbs do their work once, and end
            os.environ.setdefault("BAYESWATER_COMPILE", "late")
        _end_by_signals()
        atexit.register(gc.freeze)  # what is there to the end is no garbage: to look takes as long as a short verb
        if isinstance(sys.stdout, TextIOWrapper):  # a letter that its encoding lacks is escaped, as in messages
            sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.showwarning = _tell_warning
            app([argument for argument in given if argument != "--debug"])
        with named_in_errors():
            sys.stdout.flush()
    except CycloptsError as error:
        _complain(f"error: {_of_usage(error)}", debug)
        return USAGE
    except SystemExit as stop:  # nobody is there to read what cyclopts prints
        if isinstance(stop.__context__, BrokenPipeError):
            return BROKEN_PIPE
        return stop.code if isinstance(stop.code, int) else FAULT
    except KeyboardInterrupt as error:
        _complain("; ".join(["interrupted", *getattr(error, "__notes__", ())]), debug)
        return INTERRUPTED
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except ParameterError as error:
        _complain(f"error: {error}", debug)
        return USAGE
    except BayesError as error:
        _complain(f"error: {error}", debug)
        return FAULT
    except OSError as error:
        problem = _of_stdout() or error
        _complain(f"error: {f'{problem.filename}: ' if problem.filename else ''}{problem.strerror or problem}", debug)
        return FAULT
    except MemoryError as error:
        _complain(
            f"error: there is not enough memory{f' ({error})' * bool(str(error))}; leave out columns or rows", debug
        )
        return FAULT
    except Exception as error:  # a defect of ours: still no traceback unasked
        _complain(f"error: {type(error).__name__}: {error} (run again with --debug to see where)", debug)
        return FAULT
    return WELL


def _of_usage(error: CycloptsError) -> str:
    """Say what is wrong with a command line, in the words of all other errors."""
    verb, error.verbose = " ".join(("bayeswater", *(error.command_chain or ()))), False
    said = str(error).partition(" Available commands")[0].rstrip(".")
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        said = f"{error.keyword} needs a value" if error.keyword else f"{verb} needs {error.argument.name}"
    elif isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        said = f"{verb} has no place for {error.unused_tokens[0]!r}"
    elif isinstance(error, ValidationError) and error.exception_message.startswith("-"):  # no file, but an option
        said = error.exception_message
        known = () if error.app is None else error.app.assemble_argument_collection()
        near = get_close_matches(said.split()[0], (name for argument in known for name in argument.names), 1)
        said = f"{said}; did you mean {near[0]}?" if near else said
    return f"{said} (`{verb} --help` shows what there is)"


def _end_by_signals() -> None:
    """Take away what is half-written also where a system, or a terminal that is closed, ends the command."""
    for name in ("SIGTERM", "SIGHUP"):  # Windows knows only the first
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup has one ignored
            signal.signal(number, lambda sent, _: sys.exit(128 + sent))


def _tell_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """Tell a warning that no verb has foreseen like all others, and not where in the code it came up."""
    from bayeswater.cli.terminal import in_words_of_the_command, say

    say(f"warning: {in_words_of_the_command(str(message))}", "yellow")


def _complain(message: str, debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()
    from bayeswater.cli.terminal import complain

    complain(message)


def _of_stdout() -> OSError | None:
    """Give the error of what standard output still holds and refuses to write, and let nobody try again."""
    try:
        with named_in_errors():
            sys.stdout.flush()
    except OSError as error:
        _close_stdout()
        return error
    return None


def _close_stdout() -> None:
    """Let nobody write where nothing can be written, as to a pipe that nobody reads, not even Python at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
