"""Cuts of numbers that share buckets of a histogram: the same for any pieces, and refined by the values near them."""

import numpy as np
import pyarrow as pa
import pytest
from tests.models.streaming.pieces import Pieces

from bayeswater import AODE
from bayeswater.models.streaming import labelled
from bayeswater.statistics import key_counts

N = 3000
RNG = np.random.default_rng(5)
CODES = RNG.integers(0, 2, N)
TABLE = pa.table(
    {
        "size": RNG.normal(size=N) + 2 * CODES,
        "price": np.exp(RNG.normal(size=N) + CODES),
        "few": RNG.integers(0, 5, N).astype(float),
        "y": np.array(["no", "yes"])[CODES],
    }
)
X = TABLE.drop_columns(["y"])


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "SAMPLED", 100)
    monkeypatch.setattr(key_counts, "MOST_BUCKETS", 1024)
    monkeypatch.setattr(key_counts, "PROBED", 4096)


def in_pieces(limits: list[int], method: str) -> tuple[AODE, Pieces]:
    rows = Pieces([TABLE.slice(a, b - a) for a, b in zip(limits, [*limits[1:], N], strict=True)])
    return AODE(discretize=method).fit(rows, target="y"), rows


@pytest.mark.parametrize("method", ["equal_frequency", "pkid"])
def test_bins_of_equal_frequency_are_those_of_the_sorted_rows_though_values_share_buckets(method):
    found, rows = in_pieces([0, 700, 701, 2000], method)
    assert rows.n_passes == 3, "looked at, refined, counted"
    assert rows.columns_read[1] == ["size", "price", "y"], "a column of few values is not looked at again"
    expected = AODE(discretize=method).fit(X, TABLE["y"])
    assert found.columns_ == expected.columns_
    assert found.statistics_ == expected.statistics_


@pytest.mark.parametrize("method", ["mdl", "equal_frequency", "equal_width", "rounding"])
def test_cuts_do_not_depend_on_the_pieces(method):
    models = [in_pieces(limits, method)[0] for limits in ([0], [0, 1500], [0, 5, 10, 1000, 2999])]
    for model in models[1:]:
        assert model.columns_ == models[0].columns_
        assert model.statistics_ == models[0].statistics_
        assert model.columns_["size"].spans == models[0].columns_["size"].spans


def test_cuts_that_tell_classes_apart_tell_as_much_as_those_of_the_sorted_rows():
    found, _ = in_pieces([0, 1000], "mdl")
    expected = AODE().fit(X, TABLE["y"])
    for name in ("size", "price"):
        mine, theirs = (np.array(model.columns_[name].cuts) for model in (found, expected))
        assert len(mine) == len(theirs)
        # The best cut of a smooth density lies in a flat place: where it is moved by a bucket, hardly anything is lost.
        assert information(name, mine) == pytest.approx(information(name, theirs), rel=0.01)


def information(name: str, cuts: np.ndarray) -> float:
    """Mutual information of bins and class, in nats."""
    place = np.searchsorted(cuts, TABLE[name].to_numpy(), side="right")
    share = np.histogram2d(place, CODES, bins=[len(cuts) + 1, 2])[0] / N
    apart = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    return float((share[share > 0] * np.log(share[share > 0] / apart[share > 0])).sum())
