"""Random command lines on mangled files, run in this process: an answer, or words that say what is wrong."""

import csv
import io
import json
import math
import os
import re
import shlex
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from tests.cli.people import COLUMNS, TARGET, people
from tests.files.networks.documents import ASIA
from tests.fuzz.judging import noted
from tests.fuzz.mangled_csv import mangled

from bayeswater.cli.main import main
from bayeswater.cli.options import ModelName
from bayeswater.files.networks.formats import FORMATS

Rng = np.random.Generator
CODES = (0, 1, 2)
RAW = re.compile(r"Traceback|run again with --debug|\.py:\d+: \w*Warning")
"""What no message of ours has."""
NAMES = [*COLUMNS, TARGET, "incme", "", "x0", "asia", "*"]
NUMBERS = ["0", "1", "2", "-1", "1e308", "nan", "1e-9", "five", "", "99999999999999999999"]
FAMILIES = [
    "auto",
    "categorical",
    "bernoulli",
    "gaussian",
    "lognormal",
    "poisson",
    "binned",
    "text",
    "multinomial",
    "mdl",
]
FAMILIES += ["complement", "marks", "ignored", "none of these"]
TYPES = ["string", "number", "integer", "boolean", "date", "timestamp", "colour"]
QUESTIONS = [
    "P(lung)",
    "P(lung | smoke=yes)",
    "P(lung, tub | xray=no, dysp=yes)",
    "P(lung | lung=no)",
    "P()",
    "P(a",
    "lung",
]
QUESTIONS += [
    "P(lung | smoke=maybe)",
    "P(lung | smoke)",
    "asia ; smoke | xray",
    "asia ; asia",
    ";",
    "lung, tub; dysp | either",
]
ARCS = ["age -> income", "job <- *", "age", "a -> b -> c", "age -> age", "* -> *", "->", "hours -- age"]


@cache
def sound_files() -> dict[str, bytes]:
    """A table, models and networks that nothing is wrong with."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = people(60)
        pyarrow.csv.write_csv(table, folder / "good.csv")
        pyarrow.csv.write_csv(people(40, seed=1), folder / "more.csv")
        for model in ("naive-bayes", "tan", "aode"):
            arguments = ["fit", f"{folder}/good.csv", "-t", TARGET, "-o", f"{folder}/{model}.bayes", "--model", model]
            assert run(arguments)[0] == 0
        for one in FORMATS:
            (folder / f"asia{one.suffixes[0]}").write_text(one.write(ASIA).text)
        (folder / "loss.csv").write_text("action \\ truth,high,low\nlend,0,10\nrefuse,1,0\n")
        (folder / "tiers.toml").write_text('tiers = [["age", "born"], ["income"]]\n')
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run(arguments: list[str], stdin: bytes = b"") -> tuple[int, str, str]:
    """Run a command: code, standard output, standard error."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True) for _ in range(2)
    )
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = before
    return code, *(stream.buffer.getvalue().decode(errors="replace") for stream in (out, err))  # type: ignore[attr-defined]


def case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    files = sound_files()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in files.items():
                Path(name).write_bytes(content)
            Path("bad.csv").write_bytes(mangled(rng, files["good.csv" if rng.random() < 0.8 else "more.csv"]))
            for _ in range(3):
                arguments = draw_command(rng)
                with noted(f"bayeswater {shlex.join(arguments)}\n{Path('bad.csv').read_bytes()[:1000]!r}"):
                    require_words_or_an_answer(arguments)
        finally:
            os.chdir(before)


def require_words_or_an_answer(arguments: list[str]) -> None:
    code, out, err = run(arguments, Path("bad.csv").read_bytes())
    assert code in CODES, f"exit code {code}"
    assert not RAW.search(out + err), f"words that are not ours: {err}"
    if code:
        assert err.strip(), "a fault without words"
    elif "--json" in arguments:
        for line in [out] if out.lstrip().startswith("{\n") else out.splitlines():
            json.loads(line, parse_constant=no_number)
    elif arguments[0] == "predict" and "--output-format" not in arguments:
        require_shares(out)
    assert not [*Path().glob(".bayeswater-*")], "something half-written stays behind"


def no_number(word: str) -> None:
    raise AssertionError(f"{word} in JSON")


def require_shares(out: str) -> None:
    """Probabilities of each row of a CSV are finite and sum to one."""
    for row in csv.DictReader(io.StringIO(out)):
        shares = [float(cell) for name, cell in row.items() if name and name.startswith("P(") and cell]
        assert all(math.isfinite(share) for share in shares), row
        assert not shares or abs(sum(shares) - 1) < 1e-6, row


# ---------------------------------------------------------------------- command lines


def one_of(rng: Rng, some: Any) -> str:
    return str(some[rng.integers(len(some))])


def draw_command(rng: Rng) -> list[str]:
    """Draw a verb, what it needs, and some of its options; seldom something of another verb."""
    verb = one_of(rng, [*VERBS, "fit", "fit", "predict", "predict", "explain", "evaluate"])
    arguments = [verb, *VERBS[verb](rng)]
    if rng.random() < 0.05:
        arguments.insert(
            int(rng.integers(len(arguments) + 1)), one_of(rng, ["--json", "--keep", "-", "--what", "-t", "x"])
        )
    if rng.random() < 0.05:
        del arguments[rng.integers(len(arguments))]
    return arguments


def data(rng: Rng) -> str:
    return one_of(rng, ["bad.csv"] * 6 + ["good.csv", "nowhere.csv", "*.csv", "asia.bif"])


def model(rng: Rng) -> str:
    return one_of(rng, ["naive-bayes.bayes"] * 3 + ["tan.bayes", "aode.bayes", "made.bayes", "good.csv", "asia.bif"])


def network(rng: Rng) -> str:
    return one_of(
        rng, [f"asia{one.suffixes[0]}" for one in FORMATS] + ["made.bif", "tan.bayes", "bad.csv", "nowhere.bif"]
    )


def target(rng: Rng) -> list[str]:
    return ["-t", TARGET if rng.random() < 0.7 else one_of(rng, NAMES)]


def some(rng: Rng, *options: list[str]) -> list[str]:
    """Some of the options, each with a probability."""
    return [word for option in options if rng.random() < 0.2 for word in option]


def reading(rng: Rng) -> list[str]:
    return some(
        rng,
        ["--type", f"{one_of(rng, NAMES)}={one_of(rng, TYPES)}"],
        ["--missing", one_of(rng, ["?", "-", "", " ", "NA", "clerk"])],
        ["--delimiter", one_of(rng, [",", ";", "\t", "|", "", ",,", "é"])],
        ["--decimal", one_of(rng, [".", ",", ";", ""])],
        ["--no-header"],
        ["--no-quotes"],
        ["--encoding", one_of(rng, ["utf-8", "latin-1", "gbk", "utf-16", "ascii", "klingon"])],
        ["--format", one_of(rng, ["csv", "tsv", "parquet", "arff", "jsonl", "xls"])],
    )


def fit(rng: Rng) -> list[str]:
    kinds = [kind for kind in ModelName.__args__ if kind != "ensemble" or rng.random() < 0.1]  # type: ignore[attr-defined]
    options = some(
        rng,
        ["--model", one_of(rng, kinds)],
        ["--column", f"{one_of(rng, NAMES)}={one_of(rng, FAMILIES)}"],
        ["--column", one_of(rng, NAMES)],
        ["--ignore", one_of(rng, NAMES)],
        ["--like", model(rng)],
        ["--alpha", one_of(rng, NUMBERS)],
        ["--no-calibrate"],
        ["--checkpoint", "kept.tmp"],
        ["--json"],
    )
    return [data(rng), *target(rng), "-o", "made.bayes", *options, *reading(rng)]


def predict(rng: Rng) -> list[str]:
    formats = ["csv", "tsv", "json", "jsonl", "parquet", "arrow", "pdf"]
    options = some(rng, ["-o", f"out.{one_of(rng, formats)}"], ["--keep"], ["--explain"], ["--loss", "loss.csv"])
    return [model(rng), data(rng), *options, *some(rng, ["--output-format", one_of(rng, formats)]), *reading(rng)]


def evaluate(rng: Rng) -> list[str]:
    return [model(rng), data(rng), *target(rng), *some(rng, ["--loss", "loss.csv"], ["--json"]), *reading(rng)]


def explain(rng: Rng) -> list[str]:
    options = some(
        rng, ["--rows", one_of(rng, NUMBERS[:4])], ["--against", one_of(rng, ["low", "high", "x"])], ["--json"]
    )
    return [model(rng), data(rng), *options, *reading(rng)]


def inspect(rng: Rng) -> list[str]:
    options = some(rng, ["--column", one_of(rng, NAMES)], ["--rows", one_of(rng, NUMBERS[:4])], ["--json"])
    return [one_of(rng, [model(rng), network(rng)]), *options]


def merge(rng: Rng) -> list[str]:
    return [model(rng), model(rng), "-o", "made.bayes", *some(rng, ["--json"])]


def forget(rng: Rng) -> list[str]:
    return [model(rng), data(rng), *target(rng), *some(rng, ["-o", "less.bayes"], ["--json"]), *reading(rng)]


def learn(rng: Rng) -> list[str]:
    options = some(
        rng,
        ["--score", one_of(rng, ["bic", "aic", "bdeu", "bds", "k2", "fnml", "qnml", "loglik", "x"])],
        ["--sample-size", one_of(rng, NUMBERS)],
        ["--method", one_of(rng, ["hill_climb", "tabu", "order", "exact", "tree", "pc", "iamb", "mmhc", "x"])],
        ["--require", one_of(rng, ARCS)],
        ["--forbid", one_of(rng, ARCS)],
        ["--tiers", "tiers.toml"],
        ["--max-parents", one_of(rng, NUMBERS)],
        ["--ignore", one_of(rng, NAMES)],
    )
    return [data(rng), "-o", f"made.{one_of(rng, ['bif', 'xdsl', 'net', 'bayes', 'txt'])}", *options, *reading(rng)]


def score(rng: Rng) -> list[str]:
    return [
        network(rng),
        data(rng),
        *some(rng, ["--score", one_of(rng, ["bdeu", "k2", "x"])], ["--json"]),
        *reading(rng),
    ]


def compare_structures(rng: Rng) -> list[str]:
    return [network(rng), network(rng), *some(rng, ["--json"])]


def query(rng: Rng) -> list[str]:
    rows = [
        "--evidence",
        data(rng),
        *some(rng, ["-t", one_of(rng, ["lung", "job", "x"])], ["--unseen", "ignore"], ["--keep"]),
    ]
    options = some(
        rng, ["--method", one_of(rng, ["exact", "auto", "gibbs", "x"])], ["--states", one_of(rng, NUMBERS[:4])]
    )
    asked = [one_of(rng, QUESTIONS)] if rng.random() < 0.6 else rows
    return [network(rng), *asked, *options, "--time-limit", "0.2", *some(rng, ["--json"])]


def dsep(rng: Rng) -> list[str]:
    return [network(rng), one_of(rng, QUESTIONS), *some(rng, ["--json"])]


def sample(rng: Rng) -> list[str]:
    return [
        network(rng),
        "-n",
        one_of(rng, ["1", "7", "0", "-1", "x"]),
        *some(rng, ["-o", "drawn.csv"], ["--seed", one_of(rng, NUMBERS)]),
    ]


def convert(rng: Rng) -> list[str]:
    return [
        network(rng),
        f"out.{one_of(rng, ['bif', 'xml', 'xdsl', 'net', 'dsc', 'uai', 'bayes', 'txt', 'bif/x.bif'])}",
    ]


def compare(rng: Rng) -> list[str]:
    kinds = [
        word for kind in ("naive-bayes", one_of(rng, ["tan", "spode", "gaussian-full"])) for word in ("--model", kind)
    ]
    return [
        data(rng),
        *target(rng),
        "--folds",
        "2",
        *kinds,
        *some(rng, ["--json"], ["--save", "made.bayes"]),
        *reading(rng),
    ]


VERBS: dict[str, Any] = {
    **{
        one.__name__: one
        for one in (fit, predict, evaluate, explain, inspect, merge, forget, learn, score, query, dsep)
    },
    **{one.__name__.replace("_", "-"): one for one in (sample, convert, compare, compare_structures)},
}
