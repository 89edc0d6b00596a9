"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter


def _no_option(_: Any, path: str) -> None:
    if path.startswith("-") and path != "-":
        raise ValueError(f"{path} is no option of this verb; a file of that name is written ./{path}")


DataFile = Annotated[
    str,
    Parameter(
        name="DATA",
        help="CSV, TSV, Parquet, Arrow, JSON lines or ARFF, also compressed; - reads standard input. Several files, a "
        "pattern as 'part-*.parquet' or a folder are read as one table.",
        required=True,
        allow_leading_hyphen=True,  # of the name of standard input
        validator=_no_option,
        negative=(),
    ),
]
"""One of the files of a verb, which may stand anywhere among its options."""

ModelFile = Annotated[str, Parameter(help="File that `fit` or `save` wrote.")]
Target = Annotated[str, Parameter(name=["--target", "-t"], help="Column that holds the class of each row.")]
AsJson = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON on standard output.")
]
LossFile = Annotated[
    Path | None,
    Parameter(
        name="--loss",
        help='File of costs: a CSV that begins with "action \\ truth,no,yes", or a TOML file.',
    ),
]

ColumnFamilies = Annotated[
    list[str] | None,
    Parameter(
        name="--column",
        help="Family of a column, as age=binned: auto, categorical, bernoulli, gaussian, lognormal, poisson, binned, "
        "text, multinomial, complement, marks, ignored; mdl is binned where that tells the classes apart.",
    ),
]

ModelName = Literal[
    "naive-bayes",
    "gaussian-diagonal",
    "gaussian-shared",
    "gaussian-full",
    "spode",
    "tan",
    "aode",
    "a2de",
    "kdb",
    "skdb",
    "ensemble",
]
"""Names of the models of the ladder (`models.comparing.ladder`), which is too much to import for `--help`."""

Preset = Literal["balanced", "generative", "best"]
"""Presets of an ensemble (`learning.members.presets`)."""
