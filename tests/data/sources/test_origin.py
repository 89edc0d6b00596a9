"""Bytes that do not unpack are refused by the name of their file."""

import zipfile

import pytest

from bayeswater.data.sources.recognising import open_source
from bayeswater.errors import DataError


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_in_an_archive_is_refused_in_words(tmp_path, method):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("t.csv", bytes(range(33, 127)) * 9 + b"\n")
    content = bytearray(path.read_bytes())
    content[35:45] = b"\xff" * 10  # behind the header and the name
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.zip: .*; is the file complete"):
        list(open_source(path).batches())
