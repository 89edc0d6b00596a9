"""Run the benchmarks, show the tables and write them down."""

import argparse
from collections.abc import Iterable
from typing import Any

from benchmarks.compile_time import compile_times
from benchmarks.decisions import decisions
from benchmarks.discretising import cuts_of_weka, discretising, has_weka
from benchmarks.gaussian import gaussian_growth, gaussian_memory, gaussian_speed
from benchmarks.german_credit import TABLE, german_credit
from benchmarks.growth import SIZES, growth
from benchmarks.jobs import named
from benchmarks.leave_one_out import leave_one_out
from benchmarks.machine import machine
from benchmarks.memory import peak_memory
from benchmarks.mixed import mixed
from benchmarks.networks_files import FOLDER, network_formats, networks_files
from benchmarks.report import Section, text_table, write
from benchmarks.semi_naive import probabilities_of_weka, semi_naive
from benchmarks.speed import speed
from benchmarks.timing import CALLS_OF_ONE_ROW

QUICK_SHARE = 0.1


def main() -> None:
    """Measure every section, or one; a run of everything is written to RESULTS.md and results.json."""
    options = _options()
    share = QUICK_SHARE if options.quick else 1.0
    sizes = SIZES[:-1] if options.quick else SIZES
    few = max(1, options.repeats // 2)  # turns for what is slow and not compared
    jobs = named(options.only)
    facts = machine()
    print(", ".join(f"{name}: {value}" for name, value in facts.items()))
    sections = [
        _shown(
            "Speed",
            f"Medians of {options.repeats} turns: ours, scikit-learn, X.sum(), ours, ... Ratio is scikit-learn's time "
            f"by ours; compiling is not counted. One row: {CALLS_OF_ONE_ROW} calls in each turn.",
            speed(jobs, options.repeats, share),
        ),
        _shown(
            "Memory",
            "Highest memory during a fit beyond what stood before it, in a fresh process; the sums are part of it.",
            peak_memory(jobs, share),
        ),
    ]
    if options.only is None:
        sections += [
            _shown("Growth", "Nanoseconds a row of ours: flat is linear.", growth(few, sizes)),
            _shown(
                "Leave-one-out",
                "Every row against the sums without it, beside one prediction of the same rows.",
                leave_one_out(few, share),
            ),
            _shown(
                "A mixed table",
                "NaiveBayes on a frame of pandas as it is, beside classifiers of scikit-learn put together by hand "
                "and, where it is installed, mixed-naive-bayes; and a fit from a file beside the decoding of its "
                "columns.",
                mixed(few, share),
            ),
            _shown(
                "Gaussian classes",
                "GaussianClassifier beside scikit-learn's discriminant analyses, by each of their solvers, and beside "
                "the matrix products that the job needs, by BLAS alone.",
                gaussian_speed(few, share),
            ),
            _shown(
                "Gaussian classes, memory",
                "Highest memory during a fit beyond what stood before it, at two sizes, and the bytes it grows by with "
                "a row.",
                gaussian_memory(share),
            ),
            _shown("Gaussian classes, growth", "Nanoseconds a row: flat is linear.", gaussian_growth(few, share)),
            _shown(
                "Decisions",
                "The action of least risk, beside the one matrix product that it needs (into memory that is there).",
                decisions(options.repeats, share),
            ),
            _shown(
                "Discretising",
                "Cuts by description length, fit and transform, beside Weka's supervised filter in one JVM (its "
                "fastest turn), where it is installed; both on a table in memory.",
                discretising(few, share),
            ),
            _shown(
                "One parent more",
                "AODE and TAN on codes in memory; AODE beside Weka's, in one JVM (its fastest turn), where that is.",
                semi_naive(few, share),
            ),
            *_of_weka(),
            *_of_german_credit(),
            *_of_network_files(few),
            _shown(
                "Compile time",
                "What a first fit with predict_proba takes over a second one in a fresh process, with an empty cache "
                "and with a full one; and the import of numba, which the first large table brings.",
                compile_times(),
            ),
        ]
    if options.only is None and not options.quick:
        write(sections, facts, options.repeats)


def _of_weka() -> list[Section]:
    if not has_weka():
        print("\nCuts of Weka skipped: there is no Weka, or no Java compiler")
        return []
    note = "Columns whose cuts are Weka's to the last bit; by default ties and cuts between neighbouring floats differ."
    close = "AODE fitted on public tables with missing cells: how far its probabilities are from Weka's, at most."
    sections = [
        _shown("Cuts of Weka", note, cuts_of_weka()),
        _shown("Probabilities of Weka", close, probabilities_of_weka()),
    ]
    return [section for section in sections if section.records]


def _of_german_credit() -> list[Section]:
    if not TABLE.exists():
        print(f"\nGerman credit skipped: there is no {TABLE.name}")
        return []
    note = (
        "Mean cost of a row, a bad customer taken for a good one costing 5 and a good one taken for a bad one 1: plain "
        "predictions beside decisions of least expected cost, in ten folds, five times over."
    )
    return [_shown("German credit", note, german_credit())]


def _of_network_files(repeats: int) -> list[Section]:
    if not FOLDER.exists():
        print(f"\nNetwork files skipped: there is no folder {FOLDER.name}")
        return []
    note = (
        "Files of the public repositories read beside pyAgrum, and whether each network comes back from every format "
        "with the same labels and the same bits."
    )
    return [
        _shown("Network files", note, networks_files(repeats)),
        _shown("Network formats", "Text in memory to a document, and back.", network_formats(repeats)),
    ]


def _shown(title: str, note: str, records: Iterable[dict[str, Any]]) -> Section:
    section = Section(title, note, list(records))
    if section.records:
        print(f"\n{title}. {note}\n\n{text_table(section.records)}", flush=True)
    return section


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="jobs whose name contains NAME, for example gaussian or one-row")
    parser.add_argument("--repeats", type=int, default=7, help="turns of which the median is taken (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows; writes no files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
