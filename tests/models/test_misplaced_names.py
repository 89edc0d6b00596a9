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


def test_a_file_is_pointed_to_its_rows_where_only_rows_are_taken():
    model = NaiveBayes().fit(TABLE, target="class")
    with pytest.raises(DataError, match=r"a name is no table; give the rows of the file, for example pandas.read_csv"):
        model.explain("table.csv")
    with pytest.raises(DataError, match=r"y is the string 'class'"):
        compare(TABLE, "class")
