"""`independence_test`: what is read of a frame, and what is said."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import DataError, ParameterError, independence_test, learn_structure


def frame():
    rng = np.random.default_rng(0)
    size = rng.normal(size=60)
    data = pd.DataFrame({"size": size, "weight": 2 * size + rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)})
    data.loc[:4, "weight"] = np.nan
    data.loc[5:6, "kind"] = None
    return data


@pytest.mark.parametrize("test", ["g2", "chi2", "mi-sh", "permutation", "cor", "zf", "mi-g"])
def test_rows_count_that_have_all_cells_of_the_columns_named(test):
    data = frame()
    found = independence_test(data, "size", "weight", test=test, n_permutations=200)
    assert found.n_rows == 55 and found.p_value < (0.2 if test == "mi-sh" else 0.01)  # it is shrunk to doubt
    turned = independence_test(data, "weight", "size", test=test, n_permutations=200)
    assert turned.p_value == pytest.approx(found.p_value, rel=1e-9)
    assert (found.degrees_of_freedom is None) == (test == "permutation")


def test_tests_of_bnlearn_are_known_by_its_names():
    data = frame()
    for theirs, ours in (("mi", "g2"), ("x2", "chi2"), ("mc-mi", "permutation")):
        assert independence_test(data, "size", "weight", test=theirs) == independence_test(
            data, "size", "weight", test=ours
        )


def test_a_trend_is_told_by_the_order_of_states():
    rising = pd.DataFrame({"dose": [0, 0, 1, 1, 2, 2] * 5, "pain": [0, 1, 1, 2, 2, 3] * 5})
    found = independence_test(rising, "dose", "pain", test="jt", columns=dict.fromkeys(rising, "categorical"))
    assert found.statistic > 4 and found.degrees_of_freedom is None
    falling = independence_test(-rising, "dose", "pain", test="jt", columns=dict.fromkeys(rising, "categorical"))
    assert falling.statistic == pytest.approx(found.statistic)


def test_states_given_are_complete_too_and_the_claim_is_written_out():
    found = independence_test(frame(), "size", "weight", given=["kind"], columns={"size": {"bins": 3}})
    assert found.n_rows == 53
    assert str(found.claim) == "size ⊥ weight | kind"
    assert repr(found).startswith("g2 of size ⊥ weight | kind: statistic ") and "rows 53" in repr(found)
    assert "<th>p-value</th>" in found._repr_html_()


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (("size", "wait"), ParameterError, "no column 'wait'"),
        (("size", "weight", ["size"]), ParameterError, "'size' is named twice"),
        (("size", "weight", (), "t"), ParameterError, "test is 't'"),
        (("size", "kind", (), "cor"), DataError, "test of numbers"),
    ],
)
def test_what_cannot_be_tested_is_refused(asked, error, message):
    with pytest.raises(error, match=message):
        independence_test(frame(), *asked)


def test_no_complete_row_is_said():
    data = pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]})
    for test in ("g2", "cor"):
        with pytest.raises(DataError, match="no row has a cell in each"):
            independence_test(data, "a", "b", test=test)


def test_permuted_correlations_are_known_by_the_names_of_bnlearn_and_searched_with():
    rng = np.random.default_rng(8)
    a = rng.normal(size=300)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=300), "c": rng.normal(size=300)})
    own = independence_test(frame, "a", "b", given="c", test="permutation-cor", n_permutations=200, seed=1)
    for name in ("mc-cor", "mc-zf", "mc-mi-g", "smc-cor"):
        assert independence_test(frame, "a", "b", given="c", test=name, n_permutations=200, seed=1) == own
    assert own.p_value == 1 / 201
    found = learn_structure(frame, method="pc", test="mc-cor", numbers="gaussian")
    assert list(found.pattern.undirected()) == [("a", "b")]
