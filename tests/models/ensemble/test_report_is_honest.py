"""What the report promises, beside what fresh rows show."""

import numpy as np
import pandas as pd
import pytest

from bayeswater import BayesEnsemble


def log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("members", [{"gaussian": 0, "aode": 0, "kdb": 12}, {"gaussian": 0, "kdb": 0}])
def test_a_report_on_noise_promises_no_more_than_fresh_rows_keep(members):
    promised, kept = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1060, 4)), rng.integers(0, 2, 1060)
        model = BayesEnsemble("generative", members=members, random_state=seed).fit(X[:60], y[:60])
        promised.append(model.report_.log_loss.value)
        kept.append(log_loss(model, X[60:], y[60:]))
    # Means of six fits vary by some .03; KDB judged by the rows that tuned it promises .2 too little.
    assert np.mean(promised) > np.mean(kept) - 0.1


def test_rows_of_equal_cells_are_on_one_side_of_what_the_report_compares():
    rng = np.random.default_rng(0)
    state = rng.integers(0, 5, 3000)
    y = (rng.random(3000) < 0.3 + 0.4 * (state >= 2)).astype(int)
    X = pd.DataFrame({"colour": np.array(list("abcde"))[state]})
    model = BayesEnsemble(random_state=0).fit(X[:1000], y[:1000])
    # Five kinds of rows judge, so there is noise; halves that part the classes promised 1.8.
    assert abs(model.report_.log_loss.value - log_loss(model, X[1000:], y[1000:])) < 0.1


def test_a_table_with_a_date_has_reasons():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=60), "x": rng.normal(size=60)})
    reasons = BayesEnsemble(random_state=0).fit(X, ["a", "b"] * 30).explain(X[:2])
    assert "x" in str(reasons)
