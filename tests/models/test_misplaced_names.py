"""Names of files and columns where tables and labels are expected are refused with the call that was meant."""

from pathlib import Path

import pandas as pd
import pytest

from bayeswater import AODE, BayesEnsemble, CategoricalNB, GaussianNB, NaiveBayes, compare
from bayeswater.errors import DataError

TABLE = pd.DataFrame({"a": ["x", "y"] * 10, "class": ["p", "q"] * 10})


@pytest.mark.parametrize("model", [NaiveBayes, AODE, BayesEnsemble, CategoricalNB, GaussianNB])
def test_the_name_of_a_column_in_place_of_labels_is_pointed_to_target(model):
    with pytest.raises(DataError, match=r"y is the string 'class', and not one label for .* say target='class'"):
        model().fit(TABLE, "class")
    assert list(NaiveBayes().fit(TABLE, target="class").classes_) == ["p", "q"]


@pytest.mark.parametrize("path", ["table.csv", Path("table.csv")])
@pytest.mark.parametrize("model", [NaiveBayes, AODE, BayesEnsemble, CategoricalNB, GaussianNB])
def test_a_file_with_labels_apart_is_pointed_to_target(model, path):
    with pytest.raises(DataError, match=r"X is 'table.csv', and a name is no table; .*: fit\(X, target=\.\.\.\)"):
        model().fit(path, TABLE["class"])


def test_a_file_is_its_rows_where_rows_are_explained(tmp_path):
    model, path = NaiveBayes().fit(TABLE, target="class"), tmp_path / "table.csv"
    TABLE.head(3).to_csv(path, index=False)
    assert str(model.explain(path)) == str(model.explain(TABLE.head(3)))
    with pytest.raises(DataError, match=r"cannot read 'tabel.csv': there is no such file"):
        model.explain("tabel.csv")


def test_a_name_in_place_of_the_labels_to_compare_by_is_refused():
    with pytest.raises(DataError, match=r"y is the string 'class'"):
        compare(TABLE, "class")
