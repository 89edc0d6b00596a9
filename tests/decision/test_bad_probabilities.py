"""Probabilities that cannot be decided on are refused: which row, what it holds, how to put it right."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import DataError, Loss, ParameterError, SchemaError

LOSS = Loss([[0, 5], [1, 0]])
BY_COLUMN = Loss.from_costs({("a", "b"): "amount", ("b", "a"): 1})
GOOD = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LOSS.best_action([0.5, 0.5]), DataError, r"proba has shape \(2,\); give \(n_rows, n_classes\)"),
        (lambda: LOSS.best_action([[0.2, 0.3, 0.5]]), DataError, "proba has 3 columns, and there are 2 classes"),
        (lambda: LOSS.best_action(np.empty((0, 2))), DataError, "nothing to decide"),
        (lambda: LOSS.best_action([["a", "b"]]), DataError, "not numbers"),
        (
            lambda: LOSS.best_action([*GOOD, [1.5, -0.5]]),
            DataError,
            r"row 1 of proba has a negative probability: \[1.5",
        ),
        (lambda: LOSS.best_action([*GOOD, [np.nan, 0.5]]), DataError, "row 1 of proba contains NaN"),
        (
            lambda: LOSS.best_action([[0.5, 0.4]]),
            DataError,
            "row 0 of proba does not sum to one: .* make 0.9, off by more",
        ),
        (lambda: LOSS.best_action([[0.5, 0.5 + 2e-6]]), DataError, "does not sum to one"),
        (lambda: LOSS.best_action([[np.inf, 0.5]]), DataError, "does not sum to one"),
        (lambda: LOSS.best_action(np.float32([[0.5, 0.505]])), DataError, "off by more than 0.001"),
        (lambda: LOSS.best_action(log_proba=GOOD), DataError, "row 0 of log_proba does not sum to one"),
        (lambda: LOSS.best_action(log_proba=[[1000.0, 0.0]]), DataError, "row 0 of log_proba does not sum to one"),
        (lambda: LOSS.best_action(log_proba=[[np.nan, 0.0]]), DataError, "row 0 of log_proba contains NaN"),
        (lambda: LOSS.best_action(), ParameterError, "either proba or log_proba"),
        (lambda: LOSS.best_action(GOOD, log_proba=GOOD), ParameterError, "either proba or log_proba"),
        (lambda: LOSS.expected_loss(GOOD, ["x"]), SchemaError, "unknown action 'x'; the loss knows"),
        (lambda: LOSS.expected_loss(GOOD, [0, 1]), DataError, "2 actions for 1 rows"),
        (lambda: BY_COLUMN.best_action(GOOD), ParameterError, "depends on the row; give the rows, X="),
        (lambda: BY_COLUMN.best_action(GOOD, X=pd.DataFrame({"x": [1]})), DataError, "no column of that name"),
        (lambda: BY_COLUMN.best_action(GOOD, X=np.ones((1, 2))), DataError, "no column of that name"),
        (
            lambda: BY_COLUMN.best_action(GOOD, X=pd.DataFrame({"amount": ["x"]})),
            DataError,
            "not a number in every row",
        ),
        (
            lambda: BY_COLUMN.best_action(GOOD, X=pd.DataFrame({"amount": [np.nan]})),
            DataError,
            "is nan in row 0; costs",
        ),
        (
            lambda: BY_COLUMN.best_action(GOOD, X=pd.DataFrame({"amount": [1, 2]})),
            DataError,
            "one cost for each of the 1",
        ),
        (lambda: BY_COLUMN.is_reasonable(), ParameterError, "depend on the row"),
    ],
)
def test_it_is_refused_with_the_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("wrong", [[0.5, 0.4], [1.5, -0.5], [np.nan, 1.0]])
def test_one_wrong_row_far_into_a_large_table_is_found_by_the_compiled_check(monkeypatch, wrong):
    monkeypatch.setattr("bayeswater.kernels.compiling.COMPILE_FROM_CELLS", 1)
    proba = np.tile([0.25, 0.75], (50_000, 1))
    proba[40_001] = wrong
    with pytest.raises(DataError, match="row 40001 of proba"):
        LOSS.best_action(proba)


def test_sums_that_are_off_by_rounding_are_accepted():
    assert LOSS.best_action([[0.5, 0.5 + 9e-7]], return_index=True) == [1]
    assert LOSS.best_action(np.float32([[0.5, 0.5005]]), return_index=True) == [1]
