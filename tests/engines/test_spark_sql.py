"""A model as a query of Spark answers as the library does."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.exports.exported_models import KINDS
from tests.exports.test_sql import numbered, query_of, require_answers

pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not there", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_spark_answers_as_the_models(spark: Any, tmp_path: Path, kind: str) -> None:
    rows = numbered(kind)
    rows.to_parquet(tmp_path / "rows", coerce_timestamps="us", allow_truncated_timestamps=True)
    spark.read.parquet(str(tmp_path / "rows")).createOrReplaceTempView("rows")
    require_answers(kind, [tuple(row) for row in spark.sql(query_of(kind, "spark").rstrip(";\n")).collect()])
