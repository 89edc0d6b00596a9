"""A table of people and the model of it, made once, and the command as a fixture."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.people import TARGET, Answer, command, people, write_csv

from bayeswater.cli.main import main
from bayeswater.data.sources import delimited, local_rows


@pytest.fixture
def run(capsys: Any, monkeypatch: Any) -> Callable[..., Answer]:
    """Run the command in this process, with lines as wide as messages are long."""
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *arguments, **options: command(capsys, *arguments, **options)


@pytest.fixture
def many_batches(monkeypatch: Any) -> None:
    """Read rows in batches of 20, and text in blocks of fewer."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 2**9)
    monkeypatch.setattr(local_rows, "batch_rows", lambda n_columns: 20)


@pytest.fixture(scope="session")
def made(tmp_path_factory: Any) -> Path:
    """Make a folder with people.csv and people.bayes."""
    folder = tmp_path_factory.mktemp("people")
    data = write_csv(people(), folder / "people.csv")
    assert main(["fit", str(data), "--target", TARGET, "-o", str(folder / "people.bayes")]) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Give a folder of one's own with people.csv and people.bayes."""
    return Path(shutil.copytree(made, tmp_path / "people"))
