"""A file is data, whoever made it: one that is no sound model file is refused by name, and nothing of it is run.

The files are loaded in another process that writes down what happens meanwhile (audit events, memory), so that what
this process has imported and opened cannot hide anything.
"""

import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.files.hostile import forged, hostile_files, packed, split, unpacked
from tests.files.hostile_mixed import COUNTS, TABLE, mixed_forgeries, mixed_model, sparse_model

from bayeswater import (
    BayesError,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    ModelFileError,
    MultinomialNB,
    load,
    save,
)
from bayeswater.models.stored.values import CODEC

X = np.array([[0, 1], [1, 3], [2, 0], [3, 3], [1, 1]])
Y = ["ham", "ham", "spam", "spam", "spam"]
KINDS = (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)

SECONDS = 120  # for all files together, a guard against a load that does not end
MEBIBYTE = 2**20
LOAD_ALL = """
    import json, sys, tracemalloc
    from pathlib import Path
    from bayeswater import load

    folder = Path(sys.argv[1])
    for path in folder.glob("good*"):  # whatever our own code imports on first need is there from now on
        load(path)
    found, events = {}, None

    def write_down(event, arguments):
        if events is not None and event.split(".")[0] in ("import", "exec", "compile", "open", "os", "subprocess",
                                                          "marshal", "pickle", "socket", "ctypes", "code", "shutil"):
            events.append([event, str(arguments[:1])])

    sys.addaudithook(write_down)
    tracemalloc.start()
    for path in sorted(folder.iterdir()):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        modules, error, events = set(sys.modules), None, []
        try:
            load(path)
        except BaseException as raised:
            error = [type(raised).__name__, str(raised)]
        happened, events = events, None
        found[path.name] = {
            "error": error,
            "events": [event for event in happened if event != ["open", str((str(path),))]],
            "modules": sorted(set(sys.modules) - modules),
            "bytes": tracemalloc.get_traced_memory()[1] - before,
        }
    print(json.dumps(found))
"""


def good_files(folder: Path) -> dict[str, bytes]:
    files = {}
    for model in KINDS:
        path = folder / f"{model.__name__}.bayes"
        save(model().fit(X, Y), path)
        files[model.__name__] = path.read_bytes()
    for name, mixed in {"NaiveBayes": mixed_model(), "sparse NaiveBayes": sparse_model()}.items():
        save(mixed, folder / name)
        files[name] = (folder / name).read_bytes()
    return files


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return good_files(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def marker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is there as soon as one of the pickles is opened."""
    return tmp_path_factory.mktemp("trap") / "marker"


@pytest.fixture(scope="module")
def corpus(good: dict[str, bytes], marker: Path) -> dict[str, tuple[bytes, str]]:
    mixed = mixed_forgeries(good["NaiveBayes"], good["sparse NaiveBayes"])
    return hostile_files(good, marker) | {f"mixed, {name}": file for name, file in mixed.items()}


@pytest.fixture(scope="module")
def outcome(
    good: dict[str, bytes], corpus: dict[str, tuple[bytes, str]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What happened to every file, by its name."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in good.items():
        (folder / f"good {name}").write_bytes(content)
    for name, (content, _) in corpus.items():
        (folder / name.replace("/", "-")).write_bytes(content)
    with (folder / "five gibibytes").open("wb") as file:
        file.truncate(5 * 2**30)  # a hole: no block of the disk is taken
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LOAD_ALL), str(folder)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


def test_the_corpus_is_large(corpus):
    assert len([name for name in corpus if name.startswith("mixed")]) >= 40
    assert len([name for name in corpus if not name.startswith("mixed")]) >= 40
    assert len({content for content, _ in corpus.values()}) == len(corpus)


def test_every_hostile_file_is_refused_by_its_name_and_for_its_fault(corpus, outcome):
    wrong = {}
    for name, (_, words) in corpus.items():
        kind, message = outcome[name]["error"] or ("loaded", "")
        said = any(word in message for word in words.split("|"))
        if kind != "ModelFileError" or not said or name not in message or len(message) > 700 or "\n" in message:
            wrong[name] = f"{kind}: {message}"
    assert wrong == {}


def test_a_file_over_the_limit_is_refused_by_its_size(outcome):
    kind, message = outcome["five gibibytes"]["error"]
    assert kind == "ModelFileError"
    assert message.endswith("it has 5120.0 MiB, over 4096.0 MiB")


def test_good_files_are_loaded_beside_them(good, outcome):
    assert {name: outcome[f"good {name}"]["error"] for name in good} == dict.fromkeys(good)


def test_loading_runs_imports_and_opens_nothing_but_the_file(outcome):
    assert {name: seen["events"] for name, seen in outcome.items() if seen["events"]} == {}
    assert {name: seen["modules"] for name, seen in outcome.items() if seen["modules"]} == {}


def test_no_hostile_file_is_given_more_memory_than_a_few_times_its_size(corpus, outcome):
    greedy = {}
    for name, seen in outcome.items():
        size = len(corpus[name][0]) if name in corpus else 0
        # A JSON text of n bytes may become about 20 n bytes of small objects; nothing else grows.
        if seen["bytes"] > MEBIBYTE + 20 * size:
            greedy[name] = seen["bytes"]
    assert greedy == {}


def test_no_pickle_is_opened(corpus, outcome, marker):
    assert outcome["pickle"]["error"] is not None
    assert not marker.exists()
    pickle.loads(corpus["pickle"][0])
    assert marker.exists()  # so the trap was set


@pytest.mark.parametrize("kind", ["GaussianNB", "CategoricalNB", "sparse NaiveBayes"])
def test_a_file_cut_anywhere_is_refused(good, kind, tmp_path):
    path = tmp_path / "cut.bayes"
    for length in [*range(0, len(good[kind]), 3), *range(len(good[kind]) - 8, len(good[kind]))]:
        path.write_bytes(good[kind][:length])
        with pytest.raises(ModelFileError, match=r"cut\.bayes"):
            load(path)


@pytest.mark.parametrize(("kind", "mask"), [("BernoulliNB", 0x01), ("sparse NaiveBayes", 0x20)])
def test_a_byte_changed_anywhere_is_noticed(good, kind, mask, tmp_path):
    path = tmp_path / "changed.bayes"
    content = good[kind]
    path.write_bytes(content)
    whole = load(path)
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :])
        try:
            found = load(path)
        except ModelFileError:
            continue
        # An e in a number may as well be an E.
        assert (content[place : place + 1], found.statistics_) == (b"e", whole.statistics_)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from([-1.0, 0.5, 1e300, 2**63, 10**30])
    | st.sampled_from(["", "ham", "x0", "GaussianNB", "CategoricalNB", "float64", "object", "<i8", "|O", "pandas"])
    | st.sampled_from(["colour", "note", "gaussian", "multinomial", "ignored", "days", "shifted", "word", "infinite"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from([*CODEC.forms, "x"]),
            st.lists(inside, max_size=4),
            min_size=1,
            max_size=1,
        )
    ),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document: what holds it, and its key there."""
    if not isinstance(value, dict | list):
        return []
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    return [(value, key) for key, _ in pairs] + [place for _, child in pairs for place in places(child)]


@settings(max_examples=100)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_a_document_that_says_anything_is_refused_or_understood(good, tmp_path_factory, kind, data):
    document, arrays = unpacked(good[kind.__name__])
    for _ in range(data.draw(st.integers(1, 2))):
        holder, key = data.draw(st.sampled_from(places(document)))
        holder[key] = data.draw(JSON_VALUES)
    path = tmp_path_factory.getbasetemp() / "anything.bayes"
    path.write_bytes(forged(document, arrays))
    try:
        model = load(path)
    except ModelFileError as error:
        assert "anything.bayes" in str(error)
    else:
        assert isinstance(model, KINDS)
        save(model, path)


@settings(max_examples=50)
@given(data=st.data())
def test_a_mixed_document_that_says_anything_is_refused_or_understood(good, tmp_path_factory, data):
    name = data.draw(st.sampled_from(["NaiveBayes", "NaiveBayes", "sparse NaiveBayes"]))
    document, arrays = unpacked(good[name])
    holder, key = data.draw(st.sampled_from(places(document)))
    holder[key] = data.draw(JSON_VALUES)
    require_refused_or_understood(forged(document, arrays), tmp_path_factory.getbasetemp() / "mixed.bayes")


@settings(max_examples=50)
@given(data=st.data())
def test_mixed_sums_of_any_numbers_are_refused_or_understood(good, tmp_path_factory, data):
    name = data.draw(st.sampled_from(["NaiveBayes", "NaiveBayes", "sparse NaiveBayes"]))
    document, arrays = unpacked(good[name])
    array = arrays[data.draw(st.sampled_from(sorted(arrays)))]
    numbers = {"i": st.integers(-1, 7) | st.just(2**62), "f": st.floats(), "u": st.integers(0, 255)}
    array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(numbers[array.dtype.kind])
    require_refused_or_understood(forged(document, arrays), tmp_path_factory.getbasetemp() / "sums.bayes")


def require_refused_or_understood(content: bytes, path: Path) -> None:
    """A file gives a refusal or a model; such a model can be used, saved and loaded, and is then the same."""
    path.write_bytes(content)
    try:
        model = load(path)
    except ModelFileError as error:
        assert path.name in str(error)
        return
    save(model, path)
    again = load(path)
    assert again.statistics_ == model.statistics_
    rows = TABLE if "feature_names_in_" in vars(model) else COUNTS
    try:
        found = model.predict_proba(rows)
    except BayesError:  # the file may ask for columns that these rows do not have, or refuse missing cells
        return
    np.testing.assert_array_equal(again.predict_proba(rows), found)
    assert np.isfinite(found).all()


@settings(max_examples=50)
@given(data=st.data())
def test_a_change_that_leaves_the_fingerprint_is_noticed(good, tmp_path_factory, data):
    header, sums = split(good["NaiveBayes"])
    document = json.loads(header["__metadata__"]["bayeswater"])
    before = json.dumps(document)
    holder, key = data.draw(st.sampled_from(places(document)))
    holder[key] = data.draw(JSON_VALUES)
    header["__metadata__"]["bayeswater"] = json.dumps(document)
    path = tmp_path_factory.getbasetemp() / "changed.bayes"
    path.write_bytes(packed(header, sums))
    if json.dumps(document) == before:
        load(path)
    else:
        with pytest.raises(ModelFileError, match=r"changed\.bayes"):
            load(path)


@settings(max_examples=50)
@given(content=st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "bytes.bayes"
    for text in (content, packed(content, b""), packed(b"{" + content + b"}", b"")):
        path.write_bytes(text)
        with pytest.raises(ModelFileError, match=r"bytes\.bayes"):
            load(path)
