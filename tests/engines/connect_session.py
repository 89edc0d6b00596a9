"""A program: sums, first rows, answers and errors of a Spark Connect session, in a process of its own.

Spark has either classic sessions or those of Connect in a process.
"""

import sys
from typing import Any

import pyarrow as pa

from bayeswater.engines.finding import engine_rows
from bayeswater.errors import DataError


def main(counting: Any) -> None:
    """Ask for everything once, and print ok."""
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(counting)
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    strings = counting.people().astype({"grade": str})
    table = pa.Table.from_pandas(strings, preserve_index=False)
    frame = session.createDataFrame(strings).repartition(5)
    rows = engine_rows(frame)
    assert rows is not None
    assert "connect" in type(frame).__module__
    assert rows.sum(counting.count_pairs, counting.COLUMNS) == counting.count_pairs(table)
    assert rows.head(["size"], 50).num_rows == 50
    assert sum(rows.margins(["size", "rare"], "class")[1].n_rows) == counting.N_ROWS
    for about_first in (False, True):
        assert (
            sum(spread.n_rows.sum() for spread in rows.spreads(["size"], "class", about_first=about_first))
            == counting.N_ROWS
        )
    assert rows.map(counting.answers, counting.ANSWER, counting.COLUMNS).count() == counting.N_ROWS
    try:
        rows.sum(counting.fails_for_once, counting.COLUMNS)
    except DataError as error:
        assert "ZeroDivisionError: something in the rows" in str(error)
        print("ok")
    session.stop()


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import counting

    main(counting)
