"""Tables as they are found on the net, which are no part of the project: those with a header need no option.

They are looked for under BAYESWATER_DATA, with a MANIFEST.tsv that tells rows, columns and target of each.
"""

import csv
import os
from pathlib import Path

import pytest

from bayeswater import NaiveBayes, read_table

DATA = Path(os.environ.get("BAYESWATER_DATA", "data"))
HEADLESS = ("adult-test.csv", "adult-train.csv", "ag_news_test.csv", "SMSSpamCollection.tsv")
FITTED_BYTES = 2**18
"""Files up to here are learned from, too."""


def exports():
    manifest = DATA / "MANIFEST.tsv"
    if not manifest.exists():
        return []
    with manifest.open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file, delimiter="\t"))
    tables = [row for row in listed if Path(row["path"]).suffix in (".csv", ".tsv", ".arff") and row["rows"]]
    return [row for row in tables if Path(row["path"]).name not in HEADLESS and (DATA / row["path"]).exists()]


@pytest.mark.skipif(not exports(), reason="BAYESWATER_DATA names no folder with a MANIFEST.tsv")
@pytest.mark.parametrize("told", exports(), ids=lambda told: Path(told["path"]).name)
@pytest.mark.filterwarnings("ignore::bayeswater.BayesWarning")
def test_an_export_with_a_header_needs_no_option_but_the_target(told):
    path = DATA / told["path"]
    table, report = read_table(path)
    assert table.num_rows == report.n_rows == int(told["rows"]), str(report)
    assert table.num_columns == int(told["columns"]), str(report)
    target = told["target"] if told["target"] in table.column_names else ""
    if target and path.stat().st_size < FITTED_BYTES:
        model = NaiveBayes().fit(path, target=target)
        assert model.class_count_.sum() == table.num_rows - table[target].null_count
