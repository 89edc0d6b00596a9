"""Whether a table lies on an engine: told by the type it has, so that no engine is imported to find out.

>>> import numpy as np
>>> engine_rows(np.eye(3)) is None
True
"""

from typing import Any

from bayeswater.data.sources.recognising import holds_rows, local_rows
from bayeswater.data.sources.rows import Rows
from bayeswater.engines.engine_rows import EngineRows


def rows_of(X: Any) -> Rows | None:
    """Give the rows of an engine's frame or of a local source; None for what is neither."""
    rows = engine_rows(X)
    if rows is not None:
        return rows
    return local_rows(X) if holds_rows(X) else None


def engine_rows(X: Any) -> EngineRows | None:
    """Give the rows of a Dask DataFrame or Array, a Spark DataFrame or a Ray Dataset; None for everything else."""
    for kind in type(X).__mro__:  # a frame that inherits from one of these is one
        match kind.__module__.split("."), kind.__name__:
            case ["dask", "dataframe", *_], "DataFrame":
                from bayeswater.engines.dask import DaskRows

                return DaskRows(X)
            case ["dask", "array", *_], "Array":
                from bayeswater.engines.dask import DaskArrayRows

                return DaskArrayRows(X)
            case ["pyspark", "sql", *_], "DataFrame":
                from bayeswater.engines.spark import SparkRows

                return SparkRows(X)
            case ["ray", "data", *_], "Dataset":
                from bayeswater.engines.ray import RayRows

                return RayRows(X)
    return None
