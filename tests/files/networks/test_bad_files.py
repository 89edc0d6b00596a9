"""Every defect is refused where it stands: file, line, column, the line itself, and a caret under the column."""

import pytest
from tests.files.networks.bad_files import BAD, GOOD

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks.formats import FORMATS
from bayeswater.files.networks.tokens import SHOWN

READ = {one.name: one.read for one in FORMATS}


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_defect_is_refused_at_its_line_and_column(bad):
    with pytest.raises(NetworkFileError) as caught:
        READ[bad.format](bad.text, "bad.file")
    place, line, caret = str(caught.value).split("\n")
    assert place.startswith(f"bad.file:{bad.at}: ")
    assert bad.problem in place
    row, column = map(int, bad.at.split(":"))
    start = max(0, column - 1 - SHOWN // 2)  # of a long line, the part around the column
    assert bad.text.split("\n")[row - 1][start : start + SHOWN] == line
    assert caret == " " * (column - 1 - start) + "^"


@pytest.mark.parametrize("name", GOOD)
def test_the_files_that_the_defects_are_put_into_are_good(name):
    network = READ[name](GOOD[name], "good.file")
    assert [node.table.tolist() for node in network.nodes] == [[0.2, 0.8], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]]
    assert network.notes == ()


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_lines_are_counted_whatever_they_end_with(line_end):
    text = GOOD["BIF"].replace("0.8", "0.9").replace("\n", line_end)
    with pytest.raises(NetworkFileError, match=r"^n\.bif:9:9: .*\n  table 0\.2, 0\.9;\n        \^$"):
        READ["BIF"](text, "n.bif")


def test_of_a_long_line_only_the_part_around_the_error_is_shown():
    text = GOOD["BIF"].replace("0.8", "0.9").replace("\n", " " * 1000)
    with pytest.raises(NetworkFileError) as caught:
        READ["BIF"](text, "n.bif")
    _, line, caret = str(caught.value).split("\n")
    assert len(line) == SHOWN
    assert line[len(caret) - 1 :].startswith("0.2, 0.9;")


def test_a_cycle_of_many_nodes_is_shown_without_its_middle():
    n = 1000
    tables = [f"2 {(v + 1) % n} {v}" for v in range(n)]
    text = "\n".join(["BAYES", str(n), " ".join(["1"] * n), str(n), *tables, *["1 1.0"] * n])
    with pytest.raises(NetworkFileError, match=r"'x0' <- 'x1' <- .* <- \.\.\. <- 'x0'\n") as error:
        READ["UAI"](text, "ring.uai")
    assert len(str(error.value)) < 300
