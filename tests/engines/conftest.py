"""The engines, each started as seldom as can be: Dask with two worker processes, Spark and Ray on two cores."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engines import counting

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")  # idle workers take 3 % of a core each, to the end of all tests
def cluster() -> Iterator[Any]:
    """Start a client of two worker processes; while it is the current one, Dask computes there."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    # Workers import functions of the tests by name, though a package called tests may be installed beside them.
    found_here = (
        f"import sys\nsys.path.insert(0, {str(TESTS.parent)!r})\n"
        f"import tests\ntests.__path__ = [{str(TESTS)!r}, *tests.__path__]\n"
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, preload=[found_here]
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start a local Spark session with two threads."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(counting)  # its workers do not look where the tests are
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.log.level": "FATAL"}
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Start a local Ray with two workers."""
    import ray
    import ray.data

    ray.cloudpickle.register_pickle_by_value(counting)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()
