"""The sections of the benchmarks, in the order of the report: title, note, what measures it, and what it needs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.accuracy import DATA
from benchmarks.calibration import calibration
from benchmarks.compile_time import compile_times
from benchmarks.decisions import decisions
from benchmarks.discretising import cuts_of_weka, discretising, has_weka
from benchmarks.engines import dask_engine, lacks_dask, lacks_spark, spark_engine
from benchmarks.exports import export_speed
from benchmarks.gaussian import gaussian_growth, gaussian_leave_one_out, gaussian_memory, gaussian_speed
from benchmarks.german_credit import TABLE, german_credit
from benchmarks.growth import SIZES, growth
from benchmarks.jobs import named
from benchmarks.leave_one_out import leave_one_out
from benchmarks.memory import every_peak, peak_memory
from benchmarks.mixed import mixed
from benchmarks.network_golden import network_golden, network_golden_tables, network_references
from benchmarks.network_inference import N_PATTERNS, network_compile_times, network_inference, network_queries
from benchmarks.network_posteriors import has_pyagrum, network_posteriors
from benchmarks.network_sampling import gibbs_compiling, gibbs_speed, sampled_answers
from benchmarks.networks_files import network_formats, networks_files
from benchmarks.page import first_page, lacks_browser, network_clicks, page_clicks
from benchmarks.pair_counts import CAR, car_goldens, pair_counting, pair_memory
from benchmarks.roofline import limits
from benchmarks.scale import csv_fits, pair_fits, parquet_fits
from benchmarks.semi_naive import car_rows, probabilities_of_weka, semi_naive, tan_of_pyagrum
from benchmarks.serving import serving_speed, soak
from benchmarks.shapes import random_shapes
from benchmarks.sizes import OTHER_SIZES, shapes, sizes
from benchmarks.sizes import SIZES as SWEEP
from benchmarks.speed import speed
from benchmarks.structure import (
    GOLDEN,
    NETWORKS,
    structure_golden,
    structure_growth,
    structure_missing,
    structure_quality,
    structure_recovery,
    structure_scale,
    structure_speed,
)
from benchmarks.timing import CALLS_OF_ONE_ROW
from benchmarks.wide import wide_tables


@dataclass(frozen=True)
class Extent:
    """How much is measured: turns of each job, share of the rows, and which jobs of the first two sections."""

    repeats: int
    share: float = 1.0
    jobs_named: str | None = None

    @property
    def few(self) -> int:
        """Turns for what is slow."""
        return max(1, self.repeats // 2)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are measured."""
        return self.share == 1.0


def _nothing() -> str | None:
    return None


@dataclass(frozen=True)
class Planned:
    """A section that can be measured; `lacks` says what is not there that it needs, if anything."""

    title: str
    note: str
    measure: Callable[[Extent], Iterable[dict[str, Any]]]
    lacks: Callable[[], str | None] = _nothing


def _path(path: Path) -> Callable[[], str | None]:
    return lambda: None if path.exists() else f"there is no {path.name} (BAYESWATER_DATA says where data are)"


def _weka() -> str | None:
    return None if has_weka() else "there is no Weka, or no Java compiler"


def _networks_and_pyagrum() -> str | None:
    return _path(NETWORKS)() or (None if has_pyagrum() else "pyAgrum is not installed")


OF_JOBS = (
    Planned(
        "Speed",
        "Medians in turns: ours, scikit-learn, X.sum(), ours, ... Ratio is scikit-learn's time by ours; compiling is "
        f"not counted. One row: {CALLS_OF_ONE_ROW} calls in each turn.",
        lambda extent: speed(named(extent.jobs_named), extent.repeats, extent.share),
    ),
    Planned(
        "Memory",
        "Highest memory during a fit beyond what stood before it, in a fresh process; the sums are part of it.",
        lambda extent: peak_memory(named(extent.jobs_named), extent.share),
    ),
    Planned(
        "Limits",
        "The same jobs beside what the machine allows: bytes that have to be moved by the bandwidth of adding up an "
        "array, or sums of the formula by those of a product of matrices, whichever takes longer. On one thread each, "
        "in turns, in time of the processor. A limit is what nobody can be under, not what can be reached: a look-up "
        "takes longer than a sum, an exponential is taken for 20.",
        lambda extent: limits(named(extent.jobs_named), extent.repeats, extent.share),
    ),
)
"""Sections of jobs that can be named one by one."""

CLASSIFIERS = (
    Planned(
        "Memory of every classifier",
        "Highest memory of fit, predict and predict_proba beyond what stood before and beyond the answer, in a fresh "
        "process, beside the size of the input: X, and of a fit y. Reached: linear models take no more than twice of "
        "it; of others, counts of pairs and members are part of it, and what a few megabytes of X are beside them.",
        lambda extent: every_peak(extent.share),
    ),
    Planned(
        "Wide tables",
        "Ten thousand columns of 2 to 4 states and ten thousand rows, all in one process that holds the table, too, in "
        "time of the processor on all threads: two minutes of it are one on two cores. BLAS makes the products of "
        "one-hot columns of 2,000 columns, which is taken 25 times, and reads nothing off them.",
        lambda extent: wide_tables(extent.share),
    ),
    Planned(
        "Ordinary sizes",
        "Time of scikit-learn by ours, 20 columns (or words a row) and 5 classes, in time of the processor on one "
        "thread each. Each table has a process of its own, which has only imported: of each method three calls come "
        "before, then the medians of nine single calls are compared; what those three load in the background, or the "
        "nine wait for, is in the times. Reached: nowhere under 1; fit and predict_proba at least 3 from 1,000 to "
        "50,000 rows.",
        lambda extent: sizes(SWEEP if extent.is_whole else SWEEP[:-2]),
    ),
    Planned(
        "Ordinary sizes, other shapes",
        "The least of the same ratios over 5, 20 and 200 columns with 2, 5 and 50 classes, and where it is (columns x "
        "classes). Reached: nowhere under 1.",
        lambda extent: shapes(OTHER_SIZES if extent.is_whole else OTHER_SIZES[:-1]),
    ),
    Planned(
        "Random shapes",
        "The same ratios on tables whose shape is drawn: 1,000 to 10 million rows, 2 to 500 columns, 2 to 1000 "
        "classes, 2 to 200 states, types of cells and layouts, each within a gigabyte and some seconds of "
        "scikit-learn; beside them 5,000 columns with 1000 classes, and 70,000 states beside 2. The seed is fixed; no "
        "shape is left out. Slower: shapes where scikit-learn takes less time.",
        lambda extent: random_shapes(extent.few, 12, 1e7 if extent.is_whole else 1e5),
    ),
    Planned(
        "Growth",
        "Nanoseconds a row of ours: flat is linear.",
        lambda extent: growth(extent.few, SIZES if extent.is_whole else SIZES[:-1]),
    ),
    Planned(
        "Leave-one-out",
        "Every row against the sums without it, beside one prediction of the same rows.",
        lambda extent: leave_one_out(extent.few, extent.share),
    ),
    Planned(
        "A mixed table",
        "NaiveBayes on a frame of pandas as it is, beside classifiers of scikit-learn put together by hand and, where "
        "it is installed, mixed-naive-bayes; and a fit from a file beside the decoding of its columns.",
        lambda extent: mixed(extent.few, extent.share),
    ),
    Planned(
        "Gaussian classes",
        "GaussianClassifier beside scikit-learn's discriminant analyses, by each of their solvers, and beside the "
        "matrix products that the job needs, by BLAS alone.",
        lambda extent: gaussian_speed(extent.few, extent.share),
    ),
    Planned(
        "Gaussian classes, memory",
        "Highest memory during a fit beyond what stood before it, at two sizes, and the bytes it grows by with a row.",
        lambda extent: gaussian_memory(extent.share),
    ),
    Planned(
        "Gaussian classes, growth",
        "Nanoseconds a row: flat is linear.",
        lambda extent: gaussian_growth(extent.few, extent.share),
    ),
    Planned(
        "Gaussian classes, leave-one-out",
        "Every row against the others, and the choice of shrinkage by it, of whole rows and of rows that lack cells.",
        lambda extent: gaussian_leave_one_out(extent.few, extent.share),
    ),
    Planned(
        "Decisions",
        "The action of least risk, beside the one matrix product that it needs (into memory that is there).",
        lambda extent: decisions(extent.repeats, extent.share),
    ),
    Planned(
        "Discretising",
        "Cuts by description length, fit and transform, beside Weka's supervised filter in one JVM (its fastest turn), "
        "where it is installed; both on a table in memory.",
        lambda extent: discretising(extent.few, extent.share),
    ),
    Planned(
        "One parent more",
        "AODE and TAN on codes in memory; AODE beside Weka's, in one JVM (its fastest turn), where that is.",
        lambda extent: semi_naive(extent.few, extent.share),
    ),
    Planned(
        "TAN",
        "One fit beside that of pyAgrum's BNClassifier, where it is installed.",
        lambda extent: tan_of_pyagrum(extent.share),
    ),
    Planned(
        "Pairs of columns",
        "Counts of all pairs by class, beside products of one-hot columns by BLAS.",
        lambda extent: pair_counting(extent.few, extent.share),
    ),
    Planned("Pairs of columns, memory", "Highest memory of a count beside its forecast.", lambda extent: pair_memory()),
    Planned(
        "Cuts of Weka",
        "Columns whose cuts are Weka's to the last bit; by default ties and cuts between neighbouring floats differ.",
        lambda extent: cuts_of_weka(),
        _weka,
    ),
    Planned(
        "Probabilities of Weka",
        "AODE fitted on public tables with missing cells: how far its probabilities are from Weka's, at most.",
        lambda extent: probabilities_of_weka(),
        _weka,
    ),
    Planned(
        "Golden values of dependence",
        "Information and structure on UCI car, in nats, beside the values that bnclassify and Weka agree on.",
        lambda extent: car_goldens(),
        _path(CAR),
    ),
    Planned(
        "Golden values of AODE",
        "Beside Weka (Laplace) and Webb's programs (m=1).",
        lambda extent: car_rows(),
        _path(CAR),
    ),
    Planned(
        "Calibration",
        "NaiveBayes on public tables, plain and with calibrate=True, in five folds; figures are of all held-out rows "
        "of a table together.",
        lambda extent: calibration(),
        _path(DATA),
    ),
    Planned(
        "German credit",
        "Mean cost of a row, a bad customer taken for a good one costing 5 and a good one taken for a bad one 1: plain "
        "predictions beside decisions of least expected cost, in ten folds, five times over.",
        lambda extent: german_credit(),
        _path(TABLE),
    ),
)

OF_NETWORKS = (
    Planned(
        "Network files",
        "Files of the public repositories read beside pyAgrum, and whether each network comes back from every format "
        "with the same labels and the same bits.",
        lambda extent: networks_files(extent.few),
        _path(NETWORKS),
    ),
    Planned(
        "Network formats",
        "Text in memory to a document, and back.",
        lambda extent: network_formats(extent.few),
        _path(NETWORKS),
    ),
    Planned(
        "Network inference",
        "All posteriors of a frame of coded columns in which a fifth of the cells is observed, on one thread, beside "
        "pyAgrum (its faster engine) and pgmpy (one row, one question for each variable), where they are installed. "
        f"Of one pattern: medians over {N_PATTERNS} patterns, each for all rows. To be reached is a fixed ratio to "
        "pyAgrum, by 1.5: it depends less on the machine than the microseconds do.",
        lambda extent: network_inference(extent.few),
        _path(NETWORKS),
    ),
    Planned(
        "Network queries",
        "One marginal given one row, the network being read.",
        lambda extent: network_queries(),
        _path(NETWORKS),
    ),
    Planned(
        "Network inference, compile time",
        "What first calls take over later ones in one process, in seconds of the processor and of the clock, with an "
        "empty cache of compiled code and with a full one. What numba takes to start is told apart.",
        lambda extent: network_compile_times(),
        _path(NETWORKS),
    ),
    Planned(
        "Network golden values",
        "Networks fitted on the tables of R's bnlearn, beside the answers of gRain.",
        lambda extent: network_golden(),
        _path(GOLDEN),
    ),
    Planned(
        "Network golden tables",
        "Tables fitted by largest likelihood and with imaginary rows, beside bnlearn's.",
        lambda extent: network_golden_tables(),
        _path(GOLDEN),
    ),
    Planned(
        "Network reference posteriors",
        "Networks of the public repositories, beside posteriors that other code found by summation, noted with ten "
        "decimals.",
        lambda extent: network_references(),
        _path(NETWORKS),
    ),
    Planned(
        "Network posteriors",
        "All posteriors of random rows beside pyAgrum's: of the file as it reads it itself, in float32, and of our "
        "tables, in float64. It refuses the labels of child.",
        lambda extent: network_posteriors(),
        _networks_and_pyagrum,
    ),
    Planned(
        "Gibbs sampling",
        "Millions of variables drawn anew in a second, on one core, beside pyAgrum.",
        lambda extent: gibbs_speed(),
        _path(NETWORKS),
    ),
    Planned(
        "Sampled answers",
        "P(lung | xray, dysp) on asia, which is 0.62125; samplers that move one variable at a time are stuck there.",
        lambda extent: sampled_answers(),
        _path(NETWORKS),
    ),
    Planned(
        "Gibbs sampling, compile time",
        "What a first run takes over a second one, with an empty cache and with a full one.",
        lambda extent: gibbs_compiling(),
    ),
    Planned(
        "Structure golden values",
        "Scores of every structure that bnlearn found, beside its own, and its hill climbs made again.",
        lambda extent: structure_golden(),
        _path(GOLDEN),
    ),
    Planned(
        "Structure speed",
        "A plain hill climb by BIC on 20 000 rows of codes, on one thread, beside pyAgrum and bnlearn-port, where they "
        "are installed; R's bnlearn as it was noted on a machine like this.",
        lambda extent: structure_speed(extent.few),
        _path(GOLDEN),
    ),
    Planned(
        "Structure quality",
        "The BIC that the default search reaches from several orders of the columns.",
        lambda extent: structure_quality(8 if extent.is_whole else 2),
        _path(GOLDEN),
    ),
    Planned(
        "Structure recovery",
        "Structural Hamming distance, of classes of equivalent graphs, from the network that the rows were drawn from.",
        lambda extent: structure_recovery(),
        _path(NETWORKS),
    ),
    Planned(
        "Structure scale",
        "Processor seconds and BIC for 150 to 660 variables and 5 000 drawn rows, on one thread.",
        lambda extent: structure_scale(),
        _path(NETWORKS),
    ),
    Planned(
        "Structure growth",
        "Processor seconds of a hill climb by BIC on 1 000 rows of drawn networks of three states, on one thread.",
        lambda extent: structure_growth(),
    ),
    Planned(
        "Structure and missing cells",
        "With a fifth of the cells missing: nats that a new row loses against the true tables, SHD of the graphs, and "
        "processor seconds of the search.",
        lambda extent: structure_missing(),
        _path(NETWORKS),
    ),
)

OUT_OF_CORE = (
    Planned(
        "Parquet larger than memory",
        "NaiveBayes on ten categories and ten numbers in one pass, beside pyarrow's decoding of the same columns; peak "
        "is of the whole process.",
        lambda extent: parquet_fits([int(extent.share * n) for n in (1_000_000, 10_000_000, 100_000_000)], extent.few),
    ),
    Planned(
        "CSV larger than memory",
        "NaiveBayes on five categories and five numbers in one pass, beside pyarrow's own stream of the file.",
        lambda extent: csv_fits([int(extent.share * n) for n in (1_000_000, 10_000_000)], extent.few),
    ),
    Planned(
        "Pairs larger than memory",
        "AODE on thirty columns of eight states, from Parquet.",
        lambda extent: pair_fits([int(extent.share * n) for n in (1_000_000, 3_000_000, 10_000_000)]),
    ),
    Planned(
        "Dask",
        "A fit on a frame in memory beside dask-ml's on arrays, whose parameters are computed too, by threads and by "
        "worker processes; and what the engine takes over our own threads.",
        lambda extent: dask_engine(extent.few, extent.share),
        lacks_dask,
    ),
    Planned(
        "Spark",
        "A fit on a cached frame beside MLlib's NaiveBayes on the same frame, on two threads, and beside the same "
        "where its vectors are in the cache already; and what the engine takes over our own threads.",
        lambda extent: spark_engine(extent.few, extent.share),
        lacks_spark,
    ),
)

SECTIONS = (
    *OF_JOBS,
    *CLASSIFIERS,
    *OF_NETWORKS,
    *OUT_OF_CORE,
    Planned(
        "The page",
        "Medians in a real browser: from a click on a state until the bars have moved, and until reasons, interval, "
        "novelty, what would turn it and what to ask for are there. To be reached: bars under 50 ms.",
        lambda extent: page_clicks(extent.repeats),
        lacks_browser,
    ),
    Planned(
        "The page of a network",
        "Medians in a real browser: from a click on a state until the bars of all nodes have moved. The files are "
        "looked for under BAYESWATER_DATA.",
        lambda extent: network_clicks(extent.repeats),
        lacks_browser,
    ),
    Planned(
        "The first page",
        "From the command, with a warm cache, to a page on the screen, and to its first bars. To be reached: a page in "
        "1 s.",
        lambda extent: first_page(extent.few),
        lacks_browser,
    ),
    Planned(
        "Exported models",
        "Rows in a table of DuckDB beside predict_proba of scikit-learn on the same rows in memory, on two threads "
        "each; and processor time of a row in C. To be reached: no slower, and 1 us.",
        lambda extent: export_speed(extent.share),
    ),
    Planned(
        "The server",
        "Requests of one row with ten numbers, from 16 clients, in turns; both behind uvicorn, in one environment. To "
        "be reached: twice the requests a second at no larger p99.",
        lambda extent: serving_speed(10.0 if extent.is_whole else 1.0),
    ),
    Planned(
        "The server under load",
        "Ten minutes of questions, bad requests, rows to learn and to forget, with a model replaced every few seconds "
        "and a server killed (SIGKILL) every minute. To be reached: nothing acknowledged is lost, no answer of 500 or "
        "more, memory flat.",
        lambda extent: soak(600 if extent.is_whole else 10),
    ),
    Planned(
        "Compile time",
        "A first fit with predict_proba in a fresh process, of the size from which loops are taken, with an empty "
        "cache of compiled code and with a full one: as it is, where NumPy answers until a loop that has its bits is "
        "worth loading, and with all loops loaded by the first call; then a second call, and the import of numba, "
        "which only loading a loop brings.",
        lambda extent: compile_times(),
    ),
)
