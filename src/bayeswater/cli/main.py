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
from io import TextIOWrapper
from typing import Any

from cyclopts import App, Parameter

from bayeswater.cli.standard_output import named_in_errors, stand_in_for_closed
from bayeswater.errors import BayesError, ParameterError
from bayeswater.version import __version__

WELL, FAULT, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

VERBS = {
    "look": (
        "Say what a table holds, column by column, before anything is learned from it.",
        "bayeswater look people.csv --target income",
    ),
    "fit": (
        "Learn a model from a table, and save it.",
        "bayeswater fit people.csv --target income -o income.bayes",
    ),
    "compare": (
        "Compare all kinds of models on the same folds of a table.",
        "bayeswater compare people.csv --target income --save best.bayes",
    ),
    "predict": (
        "Give the class of each row, and the probability of every class.",
        "bayeswater predict income.bayes new.csv -o answers.parquet",
    ),
    "evaluate": (
        "Compare predictions with the truth: confusion, log-loss, calibration, cost.",
        "bayeswater evaluate income.bayes test.csv --target income --loss costs.csv",
    ),
    "report": (
        "Write how good a model is into one file that can be mailed.",
        "bayeswater report income.bayes test.csv --target income --group sex -o report.html",
    ),
    "explain": (
        "Say why a row is given its class, column by column.",
        "bayeswater explain income.bayes new.csv --rows 3",
    ),
    "inspect": (
        "Show what a model or a network holds: classes, columns, variables, tables.",
        "bayeswater inspect income.bayes --column age",
    ),
    "explore": (
        "Open a model or a network as a page in the browser: ask, look, decide.",
        "bayeswater explore income.bayes test.csv",
    ),
    "export": (
        "Write a model as SQL, ONNX, C, JavaScript, a page or plain Python.",
        "bayeswater export income.bayes income.sql --dialect postgres",
    ),
    "serve": (
        "Answer requests for a model over HTTP, and learn from them.",
        "bayeswater serve income.bayes --port 8000",
    ),
    "drift": (
        "Say what changed between two models, or a model and new rows.",
        "bayeswater drift monday.bayes tuesday.bayes",
    ),
    "merge": (
        "Add models that were fitted apart, as if fitted on all their rows.",
        "bayeswater merge monday.bayes tuesday.bayes -o both.bayes",
    ),
    "forget": (
        "Take rows out of a model again, as if it had never seen them.",
        "bayeswater forget income.bayes withdrawn.csv --target income",
    ),
    "learn": (
        "Find the network that explains a table best, and save it.",
        'bayeswater learn survey.csv -o net.bif --forbid "sex <- *"',
    ),
    "score": (
        "Say how well the structure of a network explains a table.",
        "bayeswater score net.bif survey.csv --score bdeu",
    ),
    "compare-structures": (
        "Say in which arcs two networks differ.",
        "bayeswater compare-structures learned.bif true.bif",
    ),
    "query": (
        "Give probabilities of a network's variables, once others are known.",
        'bayeswater query alarm.bif "P(LVFAILURE | BP=LOW, SAO2=LOW)"',
    ),
    "sensitivity": (
        "Say which entries of its tables a network's answer depends on.",
        'bayeswater sensitivity alarm.bif "P(LVFAILURE=TRUE | BP=LOW)" --plot tornado.png',
    ),
    "impute": (
        "Fill the missing cells of rows by a network.",
        "bayeswater impute alarm.bif rows.csv -o whole.csv",
    ),
    "draw": (
        "Draw a network, with what is known of each variable.",
        "bayeswater draw asia.bif -o asia.svg --given xray=yes",
    ),
    "policy": (
        "Say what to do at each decision of an influence diagram.",
        "bayeswater policy oil.xdsl --information",
    ),
    "dsep": (
        "Say whether variables of a network are independent, given others.",
        'bayeswater dsep asia.bif "asia ; smoke | xray"',
    ),
    "sample": (
        "Draw rows from a network.",
        "bayeswater sample alarm.bif -n 100000 -o rows.parquet",
    ),
    "edit": (
        "Change nodes, states, edges and tables of a network.",
        'bayeswater edit asia.bif -o less.bif --remove-node xray --rename "lung=cancer"',
    ),
    "convert": (
        "Write a network in the format of another program.",
        "bayeswater convert alarm.bif alarm.xdsl",
    ),
    "demo": ("Tell the whole story on built-in data.", "bayeswater demo"),
}
"""The verbs in the order of a first acquaintance: what each does, and an example."""

FILES = {
    **dict.fromkeys(("merge", "forget"), "updating"),
    **dict.fromkeys(("learn", "score", "compare-structures"), "structures"),
    **dict.fromkeys(("draw", "impute", "sensitivity"), "network_analysis"),
    **dict.fromkeys(("dsep", "sample", "convert"), "network_verbs"),
}
"""Where a verb lives that has no file of its name: those of one subject share one."""

EPILOGUE = "--debug, anywhere, shows the traceback of an error."

app = App(
    name="bayeswater",
    help="Bayesian classification on one set of counts: fit, explain, merge and forget.",
    help_epilogue=EPILOGUE,
    version=__version__,
    # Plain text, since a parser of markup would take longer to import than all the rest.
    help_format="plaintext",
    version_format="plaintext",
    default_parameter=Parameter(negative_iterable=()),
    result_action="return_value",
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
    except SystemExit as stop:  # cyclopts has said what was wrong, or found nobody to say it to
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
