"""The linear machine of sparse rows: the loop takes the steps of its reference, and both find the least loss."""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import random_array

from bayeswater.kernels import word_machine
from bayeswater.kernels.word_machine import FIRST_BITS, LARGEST_SLOPE, MOST_PASSES, _by_rows, _machine_loop


def rows(n=30, width=12):
    rng = np.random.default_rng(1)
    X = random_array((n, width), density=0.4, format="csr", rng=rng)
    X.indices = X.indices.astype(np.int32)
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.uniform(0.5, 3.0, n)


def test_the_loop_and_its_reference_give_the_same_bits():
    X, sign, cost = rows()
    weight = np.zeros(X.shape[1])
    limits = FIRST_BITS, MOST_PASSES, LARGEST_SLOPE
    intercept = _machine_loop(X.indptr, X.indices, X.data, sign, cost, weight, *limits)
    found, b = _by_rows(X.indptr, X.indices, X.data, sign, cost, X.shape[1])
    assert weight.tobytes() == found.tobytes()
    assert intercept == b


def test_the_loss_is_the_least(monkeypatch):
    monkeypatch.setattr(word_machine, "MOST_PASSES", 3000)
    monkeypatch.setattr(word_machine, "LARGEST_SLOPE", 1e-10)
    X, sign, cost = rows()

    def loss(p):
        short = np.maximum(0.0, 1 - sign * (X @ p[:-1] + p[-1]))
        return p @ p / 2 + cost @ short**2

    weight, intercept = _by_rows(X.indptr, X.indices, X.data, sign, cost, X.shape[1])
    least = minimize(loss, np.zeros(X.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}).fun
    assert loss(np.append(weight, intercept)) <= least + 1e-8
