"""The layout of model files: safetensors, with one document and its fingerprint.

Words as bytes and back.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from tests.files.hostile import forged, unpacked

from bayeswater import ModelFileError
from bayeswater.files import model_file
from bayeswater.files.model_file import read_model_file, words_as_bytes, words_of_bytes, write_model_file

DOCUMENT = {"kind": "x", "labels": ["ä", "漢", "\ud800", '"', "\\"], "deep": [[1, 2.5, None, True]], "library": "y"}
ARRAYS = {
    "b": np.array([[1, -(2**63)], [2**63 - 1, 0]]),
    "a": np.array([0.1, -0.0, 5e-324, 1.7976931348623157e308]),
    "wide": np.arange(12.0).reshape(3, 4).T,
}


def same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_document_and_arrays_come_back_to_the_bit(tmp_path):
    write_model_file(tmp_path / "m.bayes", DOCUMENT, ARRAYS)
    document, arrays = read_model_file(tmp_path / "m.bayes")
    assert document == DOCUMENT
    same_bits(arrays, ARRAYS)


def test_the_library_safetensors_reads_the_same_arrays(tmp_path):
    write_model_file(tmp_path / "m.bayes", DOCUMENT, ARRAYS)
    with safe_open(tmp_path / "m.bayes", framework="numpy") as file:
        assert file.metadata().keys() == {"bayeswater"}
        same_bits({name: file.get_tensor(name) for name in file.keys()}, ARRAYS)  # noqa: SIM118 (no mapping)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    write_model_file(tmp_path / "one.bayes", DOCUMENT, ARRAYS)
    write_model_file(tmp_path / "two.bayes", dict(reversed(DOCUMENT.items())), dict(reversed(ARRAYS.items())))
    assert (tmp_path / "one.bayes").read_bytes() == (tmp_path / "two.bayes").read_bytes()


def test_the_fingerprint_is_the_hash_of_document_and_arrays(tmp_path):
    write_model_file(tmp_path / "m.bayes", DOCUMENT, ARRAYS)
    (tmp_path / "forged.bayes").write_bytes(forged(*unpacked((tmp_path / "m.bayes").read_bytes())))
    document, arrays = read_model_file(tmp_path / "forged.bayes")
    assert document == DOCUMENT
    same_bits(arrays, ARRAYS)


def test_a_header_over_the_limit_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "MODEL_HEADER_BYTES", 300)
    with pytest.raises(ModelFileError, match="its labels, names and parameters take"):
        write_model_file(tmp_path / "m.bayes", DOCUMENT, ARRAYS)
    assert list(tmp_path.iterdir()) == []


def test_arrays_over_the_limit_are_not_written(tmp_path):
    vast = np.broadcast_to(np.zeros(1), (2**20, 2**10))  # 8 GiB to write, 8 bytes to hold
    with pytest.raises(ModelFileError, match=re.escape("its sums take 8192.0 MiB, over 4096.0 MiB")):
        write_model_file(tmp_path / "m.bayes", DOCUMENT, {"vast": vast})
    assert list(tmp_path.iterdir()) == []


WORDS = st.text(st.characters(exclude_categories=["Cs"]))  # all characters but halves of pairs


@given(st.lists(WORDS))
def test_words_come_back(words):
    assert words_of_bytes(words_as_bytes(words, "here"), len(words), "here") == tuple(words)


@given(words=st.lists(WORDS, min_size=1), data=st.data())
def test_bytes_that_were_changed_are_refused_or_other_words(words, data):
    text = words_as_bytes(words, "here").copy()
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = words_of_bytes(text, len(words), "here")
    except ModelFileError as error:
        assert "here" in str(error)
    else:
        assert words_as_bytes(found, "here").tobytes() == text.tobytes()


def test_half_a_character_is_named():
    with pytest.raises(
        ModelFileError, match=re.escape(r"column 'x' has the word 'a\ud800', which a model file cannot")
    ):
        words_as_bytes(["a\ud800"], "column 'x'")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"a\xffb\xff", "has 2 words, and counts of 1"),
        (b"", "has 0 words, and counts of 1"),
        (b"a\xffb", "have no end"),
        (b"\xc3\xff", "are no text"),
        (b"\xed\xa0\x80\xff", "are no text"),  # half a character
    ],
)
def test_bytes_that_are_no_words_are_refused(text, problem):
    with pytest.raises(ModelFileError, match=problem):
        words_of_bytes(np.frombuffer(text, dtype=np.uint8), 1, "column 'x'")
