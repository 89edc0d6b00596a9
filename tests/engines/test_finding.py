"""A frame of an engine is recognised by its type, and no engine is imported to find out."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayeswater.data.sources.local_rows import LocalRows
from bayeswater.engines.dask import DaskRows
from bayeswater.engines.finding import engine_rows, rows_of


@pytest.mark.parametrize("X", [np.eye(2), [[1, 2]], pd.DataFrame({"a": [1]}), pa.table({"a": [1]}), "a.csv", None, 3])
def test_what_lies_here_is_no_engine(X: Any) -> None:
    assert engine_rows(X) is None


def test_frames_and_arrays_of_dask_are_found() -> None:
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    assert isinstance(engine_rows(dd.from_pandas(pd.DataFrame({"a": [1]}))), DaskRows)
    assert isinstance(engine_rows(da.ones((3, 2))), DaskRows)
    assert engine_rows(dd.from_pandas(pd.DataFrame({"a": [1]}))["a"]) is None


def test_other_rows_are_local_ones_and_a_value_has_none() -> None:
    assert isinstance(rows_of([pa.table({"a": [1]})]), LocalRows)
    assert rows_of(3) is None
    assert rows_of({"a": [1]}) is None


def test_no_engine_is_imported_to_look_for_one() -> None:
    asks = "import sys; from bayeswater.engines.finding import engine_rows; assert engine_rows(3) is None; "
    shows = "print([name for name in ('dask', 'distributed', 'pyspark', 'ray', 'pandas') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", asks + shows], capture_output=True, check=True).stdout == b"[]\n"
