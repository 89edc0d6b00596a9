"""Files of `NaiveBayes` that are sound as files and wrong in what they say, each in one way."""

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse
from tests.files.hostile import MANY, Header, forged, unpacked

from bayeswater import NaiveBayes
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.decision.calibration_choice import Doubt
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature

Change = Callable[[Header, dict[str, Any]], Any]

LABELS = ["ham", "ham", "ham", "spam", "spam", "spam"]
TABLE = pa.table(
    {
        "colour": ["red", "green", "red", "blue", None, "blue"],
        "truth": [True, False, None, True, True, False],
        "height": [1.5, 2.5, 1.0, 4.5, 5.5, 4.0],
        "income": [1.0, 10.0, 100.0, 5.0, None, 7.0],
        "visits": [0, 1, 2, 5, 7, None],
        "share": [0.1, 0.2, 0.9, 0.4, 0.6, 0.7],
        "born": [date(2000, 1, day) for day in (1, 2, 3, 14, 15, 16)],
        "note": ["see you at noon", "call me", None, "free money now", "win money", "money money money"],
        "code": ["see you at noon", "call me", "", "free money now", "win money", "money money money"],
        "phrase": ["see you", "call me", "", "free money", "win money", "money money money"],
        "person": ["a", "b", "c", "d", "e", "f"],
    }
)
COLUMNS = {
    "height": "gaussian",
    "income": "lognormal",
    "visits": "poisson",
    "share": {"cuts": [0.3, 0.65]},
    "born": "gaussian",
    "note": "multinomial",
    "code": {"analyser": TextAnalyser(n_hash=8), "family": "complement"},
    "phrase": {"analyser": TextAnalyser(binary=True, vectorizer=(("ngram_range", (1, 2)),)), "family": "marks"},
    "person": "ignored",
}
COUNTS = sparse.csr_array(np.array([[1, 0, 2], [0, 1, 0], [3, 0, 0], [0, 2, 2], [1, 1, 0], [0, 0, 5]]))


def mixed_model() -> Any:
    """A calibrated model with a column of every family."""
    model = NaiveBayes(columns=COLUMNS, calibrate=True).fit(TABLE, LABELS)
    model.calibration_ = replace(
        model.calibration_,
        map=LikelihoodTemperature(2.0, np.array([0.25, -0.25]), 0.01, 5.5),
        doubt=Doubt(0.125, np.array([True, True])),
    )
    return model


def sparse_model() -> Any:
    """A model of a block of sparse counts."""
    return NaiveBayes(columns={"(counts)": "multinomial"}).fit(COUNTS, LABELS)


def mixed_forgeries(mixed: bytes, block: bytes) -> dict[str, tuple[bytes, str]]:
    """All files by name: content, and words of the refusal."""
    files: dict[str, tuple[bytes, str]] = {}

    def forge(name: str, words: str, *changes: Change, file: bytes = mixed) -> None:
        document, arrays = copy.deepcopy(unpacked(file))
        for change in changes:
            change(document, arrays)
        files[name] = forged(document, arrays), words

    _plans(forge)
    _states(forge)
    _sums(forge)
    _words(forge)
    _analysers(forge)
    _calibrations(forge)
    _settings(forge)
    forge("a block of other width", "(counts)' has shape|observed", array("words (counts).present", wider), file=block)
    forge("a block that is a text", "does not say its words", column(0, 0, "text"), column(0, 1, "text"), file=block)
    forge(
        "a block with words", "its arrays are", array("words (counts).words", as_bytes(b"a\xffb\xffc\xff")), file=block
    )
    forge("a block of other columns", "fitted on 4 columns", field("n_features", 4), file=block)
    forge("a block without its width", "fitted on True columns", field("n_features", True), file=block)
    forge(
        "rows without their words", "has a word that no row has", cell("words (counts).present", (0, 0), 0), file=block
    )
    return files


# ---------------------------------------------------------------------- changes


PLAN = [*TABLE.column_names[:7], "born (weekday)", "born (month)", *TABLE.column_names[7:]]
NAME, SOURCE, FAMILY, WHY, PART, DTYPE, CUTS, ANALYSER, SPANS = range(9)


def field(name: str, value: Any) -> Change:
    return lambda document, arrays: document.__setitem__(name, value)


def parameter(name: str, value: Any) -> Change:
    return lambda document, arrays: document["parameters"].__setitem__(name, value)


def column(name: str | int, part: int, value: Any) -> Change:
    """Change a part of a column, given by its name or its place."""
    place = PLAN.index(name) if isinstance(name, str) else name
    return lambda document, arrays: document["columns"][place]["Column"].__setitem__(part, value)


def analyser(name: str, *parts: Any) -> Change:
    return column(name, ANALYSER, {"TextAnalyser": list(parts)})


def states(place: int, part: int, value: Any) -> Change:
    return lambda document, arrays: document["states"][place]["Variable"].__setitem__(part, value)


def report(part: int, value: Any) -> Change:
    return lambda document, arrays: document["calibration"]["CalibrationReport"].__setitem__(part, value)


def cell(name: str, place: Any, value: Any) -> Change:
    return lambda document, arrays: arrays[f"columns.{name}"].__setitem__(place, value)


def array(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda document, arrays: arrays.__setitem__(f"columns.{name}", change(arrays.get(f"columns.{name}")))


def as_bytes(text: bytes) -> Callable[[Any], Any]:
    return lambda _: np.frombuffer(text, dtype=np.uint8)


def wider(sums: Any) -> Any:
    return np.hstack([sums, sums[:, :1]])


def floats(sums: Any) -> Any:
    return sums.astype(np.float64)


# ---------------------------------------------------------------------- what is wrong


def _plans(forge: Any) -> None:
    forge("a family still open", "'auto', which is none of", column("height", FAMILY, "auto"))
    forge("a text still open", "'text', which is none of", column("note", FAMILY, "text"))
    forge("a family of nobody", "'os.system', which is none of", column("height", FAMILY, "os.system"))
    forge("a family that is a list", "all texts", column("height", FAMILY, ["gaussian"]))
    forge("a family of other sums", "sums of 3 columns, and names of 2", column("height", FAMILY, "poisson"))
    forge("a family of other states", "no flags", column("colour", FAMILY, "bernoulli"))
    forge("a family without its analyser", "words are read from it", column("note", FAMILY, "gaussian"))
    forge("a text without an analyser", "does not say its words", column("note", ANALYSER, None))
    forge("a number with an analyser", "words are read", analyser("height", None, False, False, None))
    forge("an analyser that is a text", "an analyser of text", column("note", ANALYSER, "eval"))
    forge("all columns left out", "no column to learn from", *(column(j, FAMILY, "ignored") for j in range(len(PLAN))))
    forge("a column left out", "its arrays are", column("visits", FAMILY, "ignored"))
    forge("no columns", "no column to learn from", field("columns", []))
    forge("columns a text", "no plan", field("columns", "colour"))
    forge("columns of nothing", "no plan", field("columns", None))
    forge("columns that are states", "no plan", lambda document, _: document.update(columns=document["states"]))
    forge(
        "columns in another order",
        "cannot be read from column 'born'",
        lambda document, _: document["columns"].reverse(),
    )
    forge(
        "a column twice",
        "occurs more than once",
        lambda document, _: document["columns"].append(document["columns"][0]),
    )
    forge("a column under another name", "cannot be read from column 'colour'", column("colour", NAME, "shade"))
    forge("a column of another source", "cannot be read from column 'shade'", column("colour", SOURCE, "shade"))
    forge("a source that stands apart", "does not stand together", column("person", SOURCE, "colour"))
    forge("a column without a name", "all texts", column("colour", NAME, None))
    forge("a reason that is a list", "all texts", column("colour", WHY, ["print()"]))
    forge("a type that is a number", "all texts", column("colour", DTYPE, 5))
    forge("a column of too many parts", "cannot be made of", lambda d, _: d["columns"][0]["Column"].append(1))
    forge("a column of too few parts", "cannot be made of", field("columns", [{"Column": ["a"]}]))
    forge("spans that are no pairs", "pairs of numbers", column("share", SPANS, {"tuple": [0.1, 0.4, 0.9]}))
    forge("a span of texts", "pairs of numbers", column("share", SPANS, {"tuple": [{"tuple": ["a", "b"]}]}))
    forge("too few spans", "the spans of column 'share'", column("share", SPANS, {"tuple": [{"tuple": [0.1, 0.2]}]}))
    forge("cuts that fall", "in rising order", column("share", CUTS, {"tuple": [0.65, 0.3]}))
    forge("cuts twice the same", "in rising order", column("share", CUTS, {"tuple": [0.3, 0.3]}))
    forge("cuts too many", "table has shape", column("share", CUTS, {"tuple": [0.3, 0.5, 0.65]}))
    forge("cuts left out", "has bins, but no cuts", column("share", CUTS, None))
    forge("cuts of texts", "cuts of a column are numbers", column("share", CUTS, {"tuple": ["a", "b"]}))
    forge("cuts beyond all floats", "cuts of a column are numbers", column("share", CUTS, {"tuple": [1, 10**400]}))
    forge("cuts in a list", "cuts of a column are numbers", column("share", CUTS, [0.3, 0.65]))
    forge("a date without its days", "cannot be read from column 'born'", column("born", PART, None))
    forge("a date of two months", "cannot be read from column 'born'", column("born (weekday)", PART, "month"))
    forge("a part that no date has", "cannot be read from column 'born'", column("born (month)", PART, "hour"))
    forge("a part of what is no date", "cannot be read from column 'height'", column("height", PART, "days"))
    forge("days that are words", "parts of the date", column("born", FAMILY, "categorical"))
    forge("a month that is a number", "parts of the date", column("born (month)", FAMILY, "gaussian"))
    forge("a month of another date", "cannot be read", column("born (month)", NAME, "bred (month)"))


def _states(forge: Any) -> None:
    forge("states of another column", "it has states of", states(0, 0, "shade"))
    forge("states left out", "it has states of", field("states", []))
    forge("states in another order", "it has states of", lambda document, _: document["states"].reverse())
    forge("states a text", "no columns with states", field("states", "red"))
    forge(
        "states of columns", "no columns with states", lambda document, _: document.update(states=document["columns"])
    )
    forge("a state too many", "table has shape", states(0, 1, {"tuple": ["blue", "green", "red", "white"]}))
    forge("a state twice", "not distinct", states(0, 1, {"tuple": ["blue", "blue", "red"]}))
    forge("flags that are numbers", "no flags", states(1, 1, {"tuple": [0, 1]}))
    forge("flags that are codes", "no flags", states(1, 1, {"range": [0, 2, 1]}))
    forge("flags that are texts", "no flags", states(1, 1, {"tuple": ["no", "yes"]}))
    forge("codes without end", "table has shape", states(0, 1, {"range": [0, MANY, 1]}))


def _sums(forge: Any) -> None:
    forge("states that do not add up", "'colour' do not add up", cell("categories.table", (0, 0), 9))
    forge("bins that do not add up", "'share' do not add up", cell("bins.table", (0, 0), 9))
    forge("bins of another kind", "table is of float64", array("bins.table", floats))
    forge("classes of another kind", "is of int64 where", lambda _, a: a.update(class_count=floats(a["class_count"])))
    forge("classes that count less", "do not add up", lambda _, a: a["class_count"].__setitem__(0, 2))
    forge("one class more", "for 3 classes", field("classes", {"Variable": ["class", {"tuple": [1, 2, 3]}, [], None]}))
    forge("cells over their class", "weight counts more rows", cell("normal.weight", (0, 0), 4))
    forge("counts over their class", "weight counts more rows", cell("poisson.weight", (0, 0), 4))
    forge("a mean of NaN", "normal.mean holds a number", cell("normal.mean", (0, 0), np.nan))
    forge("a negative scatter", "normal.scatter holds -1", cell("normal.scatter", (0, 0), -1))
    forge("a negative total", "poisson.total holds -1", cell("poisson.total", (0, 0), -1))
    forge("a total of infinity", "poisson.total holds a number", cell("poisson.total", (0, 0), np.inf))
    forge("a total that is a fraction", "holds a fraction", cell("poisson.total", (0, 0), 2.5))
    forge("a total of no counts", "holds counts beyond 2**53", cell("poisson.total", (0, 0), 1e300))
    forge("a total of no cells", "where there is no cell", cell("poisson.weight", (0, 0), 0))
    forge("moments of a column too many", "sums of 4 columns, and names of 3", array("normal.mean", wider))
    forge(
        "moments of all columns too many",
        "sums of 4 columns, and names of 3",
        *(array(f"normal.{part}", wider) for part in MOMENTS),
    )
    forge("moments in bytes", "is of uint8", array("normal.mean", lambda mean: mean.astype(np.uint8)))
    forge("a group left out", "its arrays are", lambda _, arrays: arrays.pop("columns.poisson.total"))
    forge("a group too many", "its arrays are", array("undecided.total", lambda _: np.zeros((2, 1))))
    ranges = "the ranges of its columns are"
    ends = (
        [{}],
        [{}, {}, {}],
        [[], []],
        [{"height": "1"}, {}],
        [{"height": True}, {}],
        [{}, {}, [["low", 1]]],
        [{}, {}, ["low"]],
    )
    for written in (None, {}, *ends):
        forge(f"ranges {written}", ranges, field("seen", written))
    forge("a range of no counts", "is none of counts", field("seen", [{"visits": -1.0}, {"visits": 1.0}]))
    forge("a range turned round", "ends before it begins", field("seen", [{"height": 2.0}, {"height": 1.0}]))
    forge("a group of nobody", "its arrays are", array("os.system", lambda _: np.zeros(1)))


MOMENTS = ("weight", "mean", "scatter")


def _words(forge: Any) -> None:
    note = "words note"
    forge(
        "words too few",
        "has 6 words, and counts of",
        array(f"{note}.words", as_bytes(b"a\xffb\xffc\xffd\xffe\xfff\xff")),
    )
    forge("words without an end", "have no end", array(f"{note}.words", lambda text: np.append(text, text[:1])))
    forge("words that are no text", "are no text", cell(f"{note}.words", 0, 0x80))
    forge("words out of order", "in their order", cell(f"{note}.words", 0, ord("z")))
    forge("a word twice", "in their order", array(f"{note}.words", lambda text: np.append(text[3:8], text[3:])))
    forge("words in numbers", "are no bytes", array(f"{note}.words", lambda text: text.astype(np.int64)))
    forge("words in a table", "are no bytes", array(f"{note}.words", lambda text: text[None]))
    forge("words left out", "its arrays are", lambda _, arrays: arrays.pop(f"columns.{note}.words"))
    forge("words without counts", "its arrays are", lambda _, arrays: arrays.pop(f"columns.{note}.present"))
    forge(
        "words that nobody counts",
        "its arrays are",
        lambda _, arrays: [arrays.pop(f"columns.{note}.{name}") for name in ("present", "word_count")],
    )
    forge("a word in more rows than texts", "present of column 'note' counts more", cell(f"{note}.present", (1, 0), 4))
    forge("a word in more rows than told", "counts more rows than word_count", cell(f"{note}.word_count", (0, 0), 0))
    forge("a word in no row", "has a word that no row has", cell(f"{note}.present", (0, 0), 0))
    forge("more texts than rows", "observed of column 'note' counts more", cell(f"{note}.observed", 0, 4))
    forge("texts in a table", "observed of column 'note' has shape", array(f"{note}.observed", lambda n: n[:, None]))
    forge("counts of other words", "word_count of column 'note' has shape", array(f"{note}.word_count", wider))
    forge("words of another kind", "present of column 'note' is of float64", array(f"{note}.present", floats))
    forge("marks that are counts", "more than once in a row", cell("words phrase.word_count", (0, 0), 3))
    forge("fractions of words", "less than once", array("words note.word_count", lambda count: count / 2))


def _analysers(forge: Any) -> None:
    forge("another hash", "has shape", analyser("code", 9, False, False, None))
    forge("a hash of nothing", "n_hash is 0", analyser("code", 0, False, False, None))
    forge("a hash without end", "n_hash is", analyser("code", MANY, False, False, None))
    forge("a hash of gigabytes", "over the limit", analyser("code", 2**31 - 1, False, False, None))
    forge("a hash that is true", "n_hash is a number", analyser("code", True, False, False, None))
    forge("a hash without its codes", "its arrays are", analyser("code", None, False, False, None))
    forge("words that are hashed", "its arrays are", analyser("note", 8, False, False, None))
    forge("an idf that is a number", "true or false", analyser("note", None, 1, False, None))
    forge("an analyser of too few parts", "cannot be made of", analyser("note", None, False))
    forge("settings that are a text", "pairs of a name", analyser("note", None, False, False, "word"))
    forge("settings of nobody", "does not find words", analyser("note", None, False, False, pairs("vocabulary", 1)))
    forge("a tokenizer by name", "no words are found", analyser("note", None, False, False, pairs("tokenizer", "eval")))
    forge(
        "a pattern that is none",
        "no words are found",
        analyser("note", None, False, False, pairs("token_pattern", "(")),
    )
    forge(
        "a pattern nested deep",
        "no words are found",
        analyser("note", None, False, False, pairs("token_pattern", "(" * 10**4)),
    )
    forge(
        "a pattern beyond all repeats",
        "no words are found",
        analyser("note", None, False, False, pairs("token_pattern", f"a{{{MANY}}}")),
    )
    forge("an analyzer of nobody", "no words are found", analyser("note", None, False, False, pairs("analyzer", "os")))
    forge(
        "ranges of texts",
        "no words are found",
        analyser("note", None, False, False, pairs("ngram_range", {"tuple": ["a", "b"]})),
    )
    forge(
        "stop words that are lists",
        "no words are found",
        analyser("note", None, False, False, pairs("stop_words", [["a"]])),
    )


def pairs(name: str, value: Any) -> Any:
    """One setting of a vectoriser."""
    return {"tuple": [{"tuple": [name, value]}]}


def _calibrations(forge: Any) -> None:
    vector = {"array": ["float64", [0.5, 0.5, 0.5]]}
    forge("a calibration that is a text", "its calibration is 'sure'", field("calibration", "sure"))
    forge("a calibration that is a column", "its calibration is", lambda d, _: d.update(calibration=d["columns"][0]))
    shifts = {"array": ["float64", [0.5, -0.5]]}

    def tempered(*parts: Any) -> Change:
        return report(1, {"LikelihoodTemperature": [*parts]})

    forge("a calibration of other classes", "[2, 3] classes", tempered(2.0, vector, 0.1, 3.0))
    forge("a temperature of zero", "a temperature is over 0", tempered(0.0, shifts, 0.1, 3.0))
    forge("a temperature in words", "a temperature is over 0", tempered("warm", shifts, 0.1, 3.0))
    forge("shifts in a number", "one number for each class", tempered(2.0, 0.5, 0.1, 3.0))
    forge("a lapse of one", "a lapse is a probability under 1", tempered(2.0, shifts, 1.0, 3.0))
    forge("a usual row without a cell", "a usual row has a known cell", tempered(2.0, shifts, 0.1, 0.5))
    forge(
        "older shifts of other classes than the model",
        "[2, 3] classes",
        report(1, {"ShiftedTemperature": [vector] * 2}),
    )
    forge(
        "shifts of other classes",
        "of the same classes",
        report(1, {"ShiftedTemperature": [vector, {"array": ["float64", [0]]}]}),
    )
    forge(
        "slopes that differ",
        "the same slope",
        report(1, {"ShiftedTemperature": [{"array": ["float64", [0.5, 1.5]]}, {"array": ["float64", [0.5, -0.5]]}]}),
    )
    forge("older shifts in a number", "one number for each class", report(1, {"ShiftedTemperature": [0.5, 0.5]}))
    forge("a method of nobody", "has a method, a map", report(0, "of nobody"))
    forge("a method that is a list", "has a method, a map", report(0, [1]))
    forge("no map", "has a method, a map", report(1, None))
    forge("a map of nobody", "means nothing here", report(1, {"ScalingOfNobody": [vector, vector]}))
    forge("a map of other classes", "[2, 3, 3] classes", report(1, {"VectorScaling": [vector, vector]}))
    forge("an older temperature below zero", "a temperature is over 0", report(1, {"Temperature": [-1.0]}))
    forge("an older temperature in words", "numbers are expected", report(1, {"Temperature": ["warm"]}))
    forge("a doubt over one", "a probability under 1", report(2, {"Doubt": [1.5, {"array": ["bool", [True, True]]}]}))
    forge("a doubt of other classes", "[1, 2] classes", report(2, {"Doubt": [0.5, {"array": ["bool", [True]]}]}))
    forge("a doubt in numbers", "one number for each class", report(2, {"Doubt": [0.5, vector]}))
    forge("no doubt", "and a doubt", report(2, None))
    forge("scored by nobody", "how many rows", report(3, None))
    forge("rows below zero", "how many rows", report(4, -1))
    forge("rows that are true", "how many rows", report(5, True))
    forge("a loss below zero", "a log-loss is not under 0", report(7, {"Quality": [-1.0, 0.1, 0.5]}))
    forge("an accuracy over one", "are shares", report(7, {"Quality": [1.0, 0.1, 1.5]}))
    forge("a quality that is a number", "how good it is", report(8, 0.5))
    forge("candidates of nobody", "what it was chosen from", report(9, {"mapping": [["os", 1.0]]}))
    forge("candidates in a list", "what it was chosen from", report(9, [1.0]))
    forge("stale by a number", "stale or not", report(10, 1))


def _settings(forge: Any) -> None:
    def columns(value: Any) -> Change:
        return parameter("columns", {"mapping": [["colour", value]]})

    forge("a number of columns too few", "fitted on 10 columns, and not on 11", field("n_features", 10))
    forge("a number of columns too many", "fitted on 12 columns", field("n_features", 12))
    forge("names of other columns", "not those of the plan", lambda d, _: d["feature_names"].__setitem__(0, "shade"))
    forge("names in another order", "not those of the plan", lambda document, _: document["feature_names"].reverse())
    forge("names too few", "are not 11 names", lambda document, _: document["feature_names"].pop())
    forge("no calibration at all", "its document holds", lambda document, _: document.pop("calibration"))
    forge("the kind of another model", "its document holds", field("kind", "GaussianNB"))
    forge("columns said by a list", "columns is", parameter("columns", ["colour"]))
    forge("a column of a family of nobody", "says family 'os'", columns("os"))
    forge("a column said by a number", "give a family", columns(5))
    forge("a column with unknown settings", "give a family", columns({"mapping": [["run", "print()"]]}))
    forge(
        "a prior of another family",
        "columns says that 'colour' is gaussian, but the rows were counted as categorical",
        columns({"mapping": [["prior", {"NormalInverseGamma": [0.0, 1.0, 1.0, 1.0]}]]}),
    )
    forge("a prior that is a text", "it must be a Dirichlet", columns({"mapping": [["prior", "eval"]]}))
    forge("an analyser by name", "is no vectoriser", columns({"mapping": [["analyser", "os.system"]]}))
    forge("settings of a family of nobody", "says family", columns({"ColumnSettings": ["os"]}))
    forge("a plan of texts", "a plan consists of columns", parameter("columns", {"ColumnPlan": ["colour"]}))
    forge("an alpha below zero", "alpha is -1", parameter("alpha", -1))
    forge("an alpha of an array", "cannot be loaded", parameter("alpha", {"array": ["float64", [1.0, 2.0]]}))
    forge("missing in another way", "missing", parameter("missing", "drop"))
    forge("a family of numbers of nobody", "family is 'os'", parameter("family", "os"))
    forge("a variance floor of zero", "variance_floor is 0", parameter("variance_floor", 0))
    forge("a class prior of one class", "class_prior", parameter("class_prior", [1.0]))
