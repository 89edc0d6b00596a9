"""Files that are no model files, each wrong in one way, with the words that its refusal must hold.

Those that are only wrong in what they say carry a right fingerprint: it is computed here, as a forger would.
"""

import copy
import gzip
import hashlib
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"<i8": "I64", "<f8": "F64", "|u1": "U8"}
MANY = 10**18

Header = dict[str, Any]


class Evil:
    """An object whose pickle runs code."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self.marker,)


def canonical(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def fingerprint(document: Header, arrays: dict[str, Any]) -> str:
    """The fingerprint as the format defines it: of the document and of the arrays in the order of their names."""
    digest = hashlib.sha256(canonical(document).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode() + arrays[name].tobytes())
    return digest.hexdigest()


def packed(header: Any, data: bytes) -> bytes:
    """A header, as JSON or as it is, and the bytes after it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def split(file: bytes) -> tuple[Header, bytes]:
    """Header and data of a good file."""
    end = 8 + int.from_bytes(file[:8], "little")
    return json.loads(file[8:end]), file[end:]


def unpacked(file: bytes) -> tuple[Header, dict[str, Any]]:
    """Document and arrays of a good file."""
    header, data = split(file)
    document = json.loads(header.pop("__metadata__")["bayeswater"])
    del document["sha256"]
    arrays = {}
    for name, entry in header.items():
        dtype = next(kind for kind, theirs in DTYPES.items() if theirs == entry["dtype"])
        arrays[name] = np.frombuffer(data[slice(*entry["data_offsets"])], dtype).reshape(entry["shape"]).copy()
    return document, arrays


def forged(document: Header, arrays: dict[str, Any]) -> bytes:
    """A file with a right fingerprint, whatever it says."""
    header, data = {}, b""
    for name, array in arrays.items():
        place = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": DTYPES[array.dtype.str], "shape": array.shape, "data_offsets": place}
        data += array.tobytes()
    signed = {**document, "sha256": fingerprint(document, arrays)}
    return packed({"__metadata__": {"bayeswater": canonical(signed)}, **header}, data)


def hostile_files(good: dict[str, bytes], marker: Path) -> dict[str, tuple[bytes, str]]:
    """All files by name: content, and words of the refusal. `good` are saved models by their kind."""
    return {
        **foreign_files(marker),
        **cut_files(good["GaussianNB"]),
        **headers(good["GaussianNB"]),
        **documents(good["GaussianNB"]),
        **layouts(good["GaussianNB"]),
        **forgeries(good),
    }


def foreign_files(marker: Path) -> dict[str, tuple[bytes, str]]:
    archive = io.BytesIO()
    np.savez(archive, mean=np.zeros(3))
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    return {
        "empty": (b"", "no model file: it is empty"),
        "three bytes": (b"abc", "begins with b'abc'"),
        "text": (b"colour,shape,fruit\nred,round,cherry\n", "begins with b'colour,s'"),
        "JSON": (b'{"model": "GaussianNB"}', "JSON text"),
        "pickle": (pickle.dumps(Evil(marker)), "a pickle"),
        "old pickle": (pickle.dumps(Evil(marker), protocol=2), "a pickle"),
        "pickle in text": (pickle.dumps(Evil(marker), protocol=0), "begins with"),
        "zip": (archive.getvalue(), "a zip archive"),
        "gzip": (gzip.compress(b"model"), "a gzip file"),
        "array": (array.getvalue(), "begins with b'\\x93NUMPY"),
        "zeros": (bytes(4096), "no JSON object"),
        "ones": (b"\xff" * 4096, "begins with b'\\xff"),
    }


def cut_files(good: bytes) -> dict[str, tuple[bytes, str]]:
    n_header = int.from_bytes(good[:8], "little")
    print_at = good.index(b'"sha256\\":\\"') + len(b'"sha256\\":\\"')
    other_print = good[:print_at] + (b"1" if good[print_at:].startswith(b"0") else b"0") + good[print_at + 1 :]
    return {
        "cut in the length": (good[:5], "begins with"),
        "cut after the length": (good[:8], "the file ends after 0 of them"),
        "cut in the header": (good[:100], "the file ends after 92 of them"),
        "cut after the header": (good[: 8 + n_header], "and 0 are there"),
        "cut in the arrays": (good[:-24], "its arrays should have"),
        "cut by a byte": (good[:-1], "its arrays should have"),
        "longer by a byte": (good + b"\0", "its arrays should have"),
        "twice": (good + good, "its arrays should have"),
        "a byte of the arrays changed": (good[:-1] + bytes([good[-1] ^ 1]), "fingerprint"),
        "a label changed": (good.replace(b"ham", b"jam"), "fingerprint"),
        "a parameter changed": (good.replace(b"1e-09", b"1e-01"), "fingerprint"),
        "another fingerprint": (other_print, "fingerprint"),
    }


def headers(good: bytes) -> dict[str, tuple[bytes, str]]:
    header, data = split(good)
    text = json.dumps(header).encode()
    long = b"k" * 10**6
    deep = b'{"a":' * 10**5 + b"1" + b"}" * 10**5
    return {
        "header of 2**63 bytes": ((2**63).to_bytes(8, "little") + good[8:], "begins with"),
        "header over the limit": ((16 * 2**20 + 1).to_bytes(8, "little") + good[8:], "begins with"),
        "header of no bytes": (packed(b"", data), "no JSON object"),
        "header not UTF-8": (packed(b'{"\xff": 1}', data), "cannot be read as JSON"),
        "header in UTF-16": (packed(json.dumps(header).encode("utf-16"), data), "no JSON object"),
        "header a list": (packed([header], data), "no JSON object"),
        "header broken": (packed(b'{"__metadata__": {"bayeswater" "x"}}', data), "cannot be read as JSON"),
        "header begins with a blank": (packed(b" " + text, data), "no JSON object"),
        "header ends with a tab": (packed(text + b"\t", data), "no JSON object"),
        "header of two objects": (packed(text + text, data), "cannot be read as JSON"),
        "header nested deep": (packed(deep, data), "levels deep"),
        "header nested 40 levels": (packed(b'{"a":' * 40 + b"1" + b"}" * 40, data), "levels deep"),
        "header with a key twice": (packed(text[:-1] + b', "class_count": {}}', data), "'class_count' occurs more"),
        "header with a long key twice": (packed(b'{"%b": 1, "%b": 2}' % (long, long), data), "read as JSON"),
        "header with NaN": (packed(text[:-1] + b', "x": NaN}', data), "NaN is no finite number"),
        "header with a long number": (packed(text[:-1] + b', "x": ' + b"9" * 5000 + b"}", data), "read as JSON"),
        "header with many keys": (packed({f"k{i}": 0 for i in range(10**4)}, b""), "no model of Bayeswater"),
    }


def documents(good: bytes) -> dict[str, tuple[bytes, str]]:
    header, data = split(good)
    text = header["__metadata__"]["bayeswater"]
    document = json.loads(text)

    def with_metadata(metadata: Any) -> bytes:
        return packed({**header, "__metadata__": metadata}, data)

    def with_text(text: str) -> bytes:
        return with_metadata({"bayeswater": text})

    def with_fields(**fields: Any) -> bytes:
        return with_text(json.dumps({**document, **fields}))

    def without(name: str) -> bytes:
        return with_text(json.dumps({key: value for key, value in document.items() if key != name}))

    return {
        "safetensors of somebody else": (
            packed({"weight": header["class_count"]}, data[:16]),
            "no model of Bayeswater",
        ),
        "metadata of somebody else": (with_metadata({"format": "pt"}), "no model of Bayeswater"),
        "metadata a list": (with_metadata(["bayeswater"]), "no model of Bayeswater"),
        "metadata with more": (with_metadata({"bayeswater": text, "x": "y"}), "no model of Bayeswater"),
        "document an object": (with_metadata({"bayeswater": document}), "no model of Bayeswater"),
        "document no JSON": (with_text("import os"), "the document cannot be read as JSON"),
        "document a list": (with_text("[1]"), "the document is no JSON object"),
        "document empty": (with_text("{}"), "it has format None"),
        "document nested deep": (with_text("[" * 10**5 + "]" * 10**5), "the document is nested"),
        "document nested 40 levels": (with_text('{"a":' + "[" * 40 + "]" * 40 + "}"), "the document is nested"),
        "document with a key twice": (with_text(text[:-1] + ',"kind":"GaussianNB"}'), "'kind' occurs more than once"),
        "document with infinity": (with_text(text[:-1] + ',"x":Infinity}'), "Infinity is no finite number"),
        "document with an overflow": (with_text(text[:-1] + ',"x":1e999}'), "1e999 is no finite number"),
        "a later format": (with_fields(format=2, library="bayeswater 9.0"), "format 2, written by 'bayeswater 9.0'"),
        "format in words": (with_fields(format="1"), "it has format '1'"),
        "format true": (with_fields(format=True), "it has format True"),
        "format a list": (with_fields(format=[1]), "it has format [1]"),
        "no format": (without("format"), "reads format 1"),
        "no fingerprint": (without("sha256"), "fingerprint"),
        "fingerprint a number": (with_fields(sha256=0), "fingerprint"),
        "fingerprint of zeros": (with_fields(sha256="0" * 64), "fingerprint"),
    }


def layouts(good: bytes) -> dict[str, tuple[bytes, str]]:
    header, data = split(good)
    size = header["columns.mean"]["data_offsets"]

    def with_entry(name: str = "columns.mean", **changed: Any) -> bytes:
        return packed({**header, name: {**header[name], **changed}}, data)

    first, second = sorted(
        (name for name in header if name != "__metadata__"), key=lambda name: header[name]["data_offsets"]
    )[:2]
    start = header[second]["data_offsets"][0]
    return {
        "dtype BF16": (with_entry(dtype="BF16"), "no array of I64, F64, F32, U8"),
        "dtype F16": (with_entry(dtype="F16"), "no array of I64, F64, F32, U8"),
        "dtype object": (with_entry(dtype="O"), "no array of I64, F64, F32, U8"),
        "dtype a list": (with_entry(dtype=["F64"]), "no array of I64, F64, F32, U8"),
        "shape negative": (with_entry(shape=[-2, -2]), "no array of I64, F64, F32, U8"),
        "shape with zero": (with_entry(shape=[0, MANY]), "no array of I64, F64, F32, U8"),
        "shape empty": (with_entry(shape=[]), "no array of I64, F64, F32, U8"),
        "shape fractional": (with_entry(shape=[2.0, 2.0]), "no array of I64, F64, F32, U8"),
        "shape of truths": (with_entry(shape=[True, 4]), "no array of I64, F64, F32, U8"),
        "shape a number": (with_entry(shape=4), "no array of I64, F64, F32, U8"),
        "shape of many dimensions": (with_entry(shape=[1] * 10**5), "no array of I64, F64, F32, U8"),
        "shape that overflows": (with_entry(shape=[2**62, 2**62]), "needs"),
        "shape of huge numbers": (with_entry(shape=[10**4000] * 8), "no array of I64, F64, F32, U8"),
        "offsets of huge numbers": (with_entry(data_offsets=[10**4000, 0]), "begins at byte"),
        "shape of terabytes": (with_entry(shape=[2, MANY]), "needs"),
        "shape too small": (with_entry(shape=[1, 2]), "needs 16 bytes"),
        "offsets past the end": (with_entry(data_offsets=[size[0], MANY]), "needs"),
        "offsets reversed": (with_entry(data_offsets=size[::-1]), "needs|begins at byte"),
        "offsets negative": (with_entry(data_offsets=[-32, 0]), "begins at byte -32"),
        "offsets fractional": (with_entry(data_offsets=[float(at) for at in size]), "no array of I64, F64, F32, U8"),
        "three offsets": (with_entry(data_offsets=[*size, 0]), "no array of I64, F64, F32, U8"),
        "arrays that overlap": (
            with_entry(second, data_offsets=header[first]["data_offsets"]),
            "begins at byte|needs",
        ),
        "a gap between arrays": (
            packed(
                {
                    name: entry
                    if name in ("__metadata__", first)
                    else {**entry, "data_offsets": [at + 8 for at in entry["data_offsets"]]}
                    for name, entry in header.items()
                },
                data[:start] + bytes(8) + data[start:],
            ),
            "begins at byte",
        ),
        "an entry with more": (with_entry(code="print()"), "no array of I64, F64, F32, U8"),
        "an entry that is a list": (packed({**header, "columns.mean": [1]}, data), "no array of I64, F64, F32, U8"),
        "an array left out": (
            packed({name: entry for name, entry in header.items() if name != "columns.mean"}, data),
            "begins at byte|should have",
        ),
    }


def forgeries(good: dict[str, bytes]) -> dict[str, tuple[bytes, str]]:
    """Files that are sound as files, and wrong in what they say."""
    files: dict[str, tuple[bytes, str]] = {}

    def forge(name: str, words: str, change: Callable[[Header, dict[str, Any]], Any], kind: str = "GaussianNB") -> None:
        document, arrays = copy.deepcopy(unpacked(good[kind]))
        change(document, arrays)
        files[name] = forged(document, arrays), words

    def field(name: str, value: Any) -> Callable[[Header, dict[str, Any]], Any]:
        return lambda document, arrays: document.__setitem__(name, value)

    def parameter(name: str, value: Any) -> Callable[[Header, dict[str, Any]], Any]:
        return lambda document, arrays: document["parameters"].__setitem__(name, value)

    def cell(name: str, place: Any, value: Any) -> Callable[[Header, dict[str, Any]], Any]:
        return lambda document, arrays: arrays[name].__setitem__(place, value)

    def array(name: str, change: Callable[[Any], Any]) -> Callable[[Header, dict[str, Any]], Any]:
        return lambda document, arrays: arrays.__setitem__(name, change(arrays[name]))

    def classes(states: Any, declared: Any = (), dtype: Any = None) -> Callable[[Header, dict[str, Any]], Any]:
        return field("classes", {"Variable": ["class", states, list(declared), dtype]})

    def column(states: Any, declared: Any = ()) -> Callable[[Header, dict[str, Any]], Any]:
        return lambda document, arrays: document["columns"].__setitem__(
            0, {"Variable": ["x0", states, list(declared), None]}
        )

    forge("kind of somebody else", "'os.system', which is none of", field("kind", "os.system"))
    forge("kind of scikit-learn", "which is none of", field("kind", "sklearn.naive_bayes.GaussianNB"))
    forge("kind a list", "which is none of", field("kind", ["GaussianNB"]))
    forge("kind of other arrays", "its arrays are", field("kind", "CategoricalNB"))
    forge("an unknown field", "its document holds", field("run", "print()"))
    forge("unknown fields of any length", "its document holds", field("x" * 10**6, [0] * 10**5))
    forge("a missing field", "its document holds", lambda document, arrays: document.pop("classes"))
    forge("an unknown parameter", "['__class__']", parameter("__class__", "x"))
    forge("a parameter of another kind", "['alpha']", parameter("alpha", 1.0))
    forge("parameters a list", "no JSON object", field("parameters", [1]))
    forge("an unknown tag", "means nothing here", parameter("columns", {"eval": ["print()"]}))
    forge("a tag that is an attribute", "means nothing here", parameter("columns", {"__import__": ["os"]}))
    forge("two tags", "means nothing here", parameter("priors", {"tuple": [], "mapping": []}))
    forge("no tag", "means nothing here", parameter("priors", {}))
    forge("a tag without parts", "means nothing here", parameter("priors", {"tuple": 5}))
    forge("a date that is none", "cannot be made of", parameter("columns", {"date": ["yesterday"]}))
    forge("a date of too many parts", "cannot be made of", parameter("columns", {"date": ["2020-01-01", 1]}))
    forge("an endless span of time", "cannot be made of", parameter("columns", {"timedelta": [MANY, 0, 0]}))
    forge("bytes that are none", "cannot be made of", parameter("columns", {"bytes": ["xyz"]}))
    forge("an array of objects", "unknown numbers", parameter("priors", {"array": ["object", [1]]}))
    forge("an array of records", "unknown numbers", parameter("priors", {"array": ["i4,i4", [1]]}))
    forge("a ragged array", "cannot be made of", parameter("priors", {"array": ["float64", [[1], [2, 3]]]}))
    forge("a number out of its kind", "cannot be made of", parameter("var_smoothing", {"number": ["int8", 300]}))
    forge("a mapping of lists", "cannot be made of", parameter("columns", {"mapping": [[[1], 2]]}))
    forge("a dtype of records", "unknown dtype", parameter("priors", {"dtype": ["V8,V8"]}))
    forge("var_smoothing negative", "var_smoothing is -1", parameter("var_smoothing", -1.0))
    forge("var_smoothing a text", "var_smoothing is 'x'", parameter("var_smoothing", "x"))
    forge("priors too many", "priors has shape (3,)", parameter("priors", [0.5, 0.25, 0.25]))
    forge("priors that do not add up", "sum of the priors", parameter("priors", [0.5, 0.1]))
    forge("priors beyond all floats", "too large|priors", parameter("priors", [10**400, 1]))
    forge("class_alpha beyond all floats", "cannot be loaded", parameter("class_alpha", 10**400))
    forge("a prior of no scale", "scale is 0", parameter("columns", {"NormalInverseGamma": [0.0, 1.0, 1.0, 0.0]}))
    forge("a prior of texts", "cannot be made of", parameter("columns", {"NormalInverseGamma": ["a", "b", "c", "d"]}))
    forge("a beta of three", "Beta", parameter("columns", {"Beta": [{"tuple": [1, 2, 3]}]}), "BernoulliNB")
    forge("a negative alpha", "alpha", parameter("alpha", -1.0), "MultinomialNB")
    forge("an alpha for other columns", "alpha", parameter("alpha", [1.0, 2.0, 3.0]), "MultinomialNB")

    forge("labels twice", "not distinct", classes({"tuple": ["ham", "ham"]}))
    forge("labels twice in other types", "not distinct", classes({"tuple": [1, True]}))
    forge("labels that are lists", "cannot be made of", classes({"tuple": [["ham"], ["spam"]]}))
    forge("labels no tuple", "neither labels nor", classes("ab"))
    forge("labels out of their dtype", "cannot be made of", classes({"tuple": [1, 300]}, dtype={"dtype": ["|i1"]}))
    forge("labels of another dtype", "no int64", classes({"tuple": [1.5, 2.5]}, dtype={"dtype": ["<i8"]}))
    forge("labels beyond float32", "float32", classes({"tuple": [1.0, 1e300]}, dtype={"dtype": ["<f4"]}))
    forge("labels of a dtype that is none", "a dtype", classes({"tuple": ["a", "b"]}, dtype="O"))
    forge("more labels than counts", "for 3 classes", classes({"tuple": ["a", "b", "c"]}))
    forge("no labels", "for 0 classes", classes({"tuple": []}))
    forge("classes that are codes", "no list of labels", classes({"range": [0, 2, 1]}))
    forge("classes that are a text", "no list of labels", field("classes", "ham"))
    forge("declared past the labels", "cannot be made of", classes({"tuple": ["ham", "spam"]}, [5]))
    forge("declared below the labels", "by their codes", classes({"tuple": ["ham", "spam"]}, [-1]))
    forge("declared by truth", "by their codes", classes({"tuple": ["ham", "spam"]}, [True]))

    forge("NaN among the counts", "class_count holds a number", array("class_count", lambda count: count * np.nan))
    forge("infinite counts", "class_count holds a number", array("class_count", lambda count: count * np.inf))
    forge("negative counts", "class_count holds -3", cell("class_count", 0, -3))
    forge("no counts", "zero for every class", cell("class_count", slice(None), 0))
    forge("counts in a table", "class_count has shape", array("class_count", lambda count: count[:, None]))
    forge("counts of another kind", "weight is of int64", array("class_count", lambda count: count.astype(float)))
    forge("counts too small", "weight counts more rows than class_count", cell("class_count", 0, 1))
    forge("a mean of infinity", "mean holds a number", cell("columns.mean", (0, 0), np.inf))
    forge("a mean of NaN", "mean holds a number", cell("columns.mean", (0, 0), np.nan))
    forge("a negative scatter", "scatter holds -1", cell("columns.scatter", (0, 0), -1.0))
    forge(
        "moments of other widths", "scatter has shape", array("columns.scatter", lambda scatter: scatter[:, :1].copy())
    )
    forge("moments of three dimensions", "has shape", array("columns.mean", lambda mean: mean[None]))
    forge("moments in a row", "has shape", array("columns.mean", lambda mean: mean.ravel()))
    forge("an array too many", "its arrays are", lambda document, arrays: arrays.update(extra=np.zeros(1)))
    forge(
        "an array misnamed", "its arrays are", lambda document, arrays: arrays.update(mean=arrays.pop("columns.mean"))
    )
    forge("an array too few", "its arrays are", lambda document, arrays: arrays.pop("columns.scatter"))
    forge("negative sums", "feature_sum holds -1", cell("columns.feature_sum", (0, 0), -1), "MultinomialNB")
    forge("more present than there are", "present counts", cell("columns.present", (0, 0), 99), "BernoulliNB")
    forge("more observed than there are", "observed counts", cell("columns.observed", (0, 0), 99), "BernoulliNB")
    forge("less observed than present", "than observed", cell("columns.observed", (0, 0), 0), "BernoulliNB")
    forge("categories that do not add up", "do not add up", cell("columns.table", (0, 0), 99), "CategoricalNB")
    forge("a table of another kind", "of float64", array("columns.table", lambda t: t.astype(float)), "CategoricalNB")
    forge("codes without end", "table has shape", column({"range": [0, MANY, 1]}), "CategoricalNB")
    forge("codes past all integers", "cannot be made of", column({"range": [0, 10**30, 1]}), "CategoricalNB")
    forge("codes from one", "neither labels nor", column({"range": [1, 4, 1]}), "CategoricalNB")
    forge("a state too many", "table has shape", column({"tuple": ["a", "b", "c", "d", "e"]}), "CategoricalNB")
    forge("a column too many", "table has shape", lambda d, _: d["columns"].append(d["columns"][0]), "CategoricalNB")
    forge("columns that are names", "no columns with states", field("columns", ["x0", "x1"]), "CategoricalNB")
    forge("no columns", "no columns with states", field("columns", []), "CategoricalNB")
    forge("columns of nothing", "no columns with states", field("columns", None), "CategoricalNB")
    forge("column names too few", "are not 2 names", field("columns", ["x0"]))
    forge("column names that are numbers", "are not 2 names", field("columns", [0, 1]))
    forge("feature names a text", "are not 2 names", field("feature_names", "ab"))
    forge("feature names too many", "are not 2 names", field("feature_names", ["a", "b", "c"]))
    forge("frame of another library", "its frame is of 'os'", field("frame", "os"))
    forge("frame a list", "its frame is of ['pandas']", field("frame", ["pandas"]))
    return files
