"""Which files a path, a pattern, a folder or a list of them means."""

from pathlib import Path

import pytest

from bayeswater.data.sources.paths import files_named
from bayeswater.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "a.csv.gz", "deep/c.csv", ".hidden.csv", "_SUCCESS", "_temporary/x.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n1\n")
    return tmp_path


def names(found: list[str], folder: Path) -> list[str]:
    return [str(Path(file).relative_to(folder)) for file in found]


def test_files_of_a_pattern_come_in_the_order_of_their_names(folder):
    assert names(files_named([f"{folder}/*.csv"]), folder) == ["a.csv", "b.csv"]
    assert names(files_named([f"{folder}/[ab].csv*"]), folder) == ["a.csv", "a.csv.gz", "b.csv"]
    assert names(files_named([f"{folder}/deep/**/*.csv"]), folder) == ["deep/c.csv"]


def test_files_of_a_list_stay_in_its_order(folder):
    assert names(files_named([folder / "b.csv", str(folder / "a.csv")]), folder) == ["b.csv", "a.csv"]


def test_a_folder_is_all_its_files_but_hidden_ones_and_marks(folder):
    assert names(files_named([folder]), folder) == ["a.csv", "a.csv.gz", "b.csv", "deep/c.csv"]


def test_a_file_with_the_signs_of_a_pattern_in_its_name_is_that_file(tmp_path):
    path = tmp_path / "t[1].csv"
    path.write_text("x\n")
    assert files_named([path]) == [str(path)]


def test_standard_input_and_files_that_are_not_there_are_left_to_the_reader():
    assert files_named(["-", "nowhere.csv"]) == ["-", "nowhere.csv"]


def test_a_pattern_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no file is named like .*part-\*\.csv"):
        files_named([tmp_path / "part-*.csv"])


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no files"):
        files_named([tmp_path])


def test_a_folder_of_several_kinds_of_files_is_refused(folder):
    (folder / "notes.json").write_text("{}")
    (folder / "README").write_text("")
    with pytest.raises(DataError, match=r"several kinds, '' and 'csv' and 'jsonl'; name those of one kind"):
        files_named([folder])


def test_a_folder_with_cells_in_its_names_is_sent_to_datasets(tmp_path):
    (tmp_path / "year=2020").mkdir()
    (tmp_path / "year=2020" / "a.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"'year=2020'; give pyarrow\.dataset\.dataset\(.*hive"):
        files_named([tmp_path])


def test_a_file_that_is_named_twice_is_refused(folder):
    with pytest.raises(DataError, match=r"a\.csv' is named twice"):
        files_named([f"{folder}/*.csv", folder / "a.csv"])


@pytest.mark.parametrize("other", ["./a.csv", "../{}/a.csv", "link.csv"])
def test_a_file_that_has_two_names_is_refused(folder, monkeypatch, other):
    monkeypatch.chdir(folder)
    (folder / "link.csv").symlink_to(folder / "a.csv")
    with pytest.raises(DataError, match=r"\.csv' is named twice"):
        files_named(["a.csv", other.format(folder.name)])
