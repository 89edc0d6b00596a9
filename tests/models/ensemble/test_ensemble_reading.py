"""How an ensemble reads tables, deals rows out to structures, and plans its members."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.models.ensemble.tables import mixed_frame

from bayeswater import ParameterError
from bayeswater.data.labels import encode_labels
from bayeswater.families.family import Settings
from bayeswater.learning.members import presets
from bayeswater.learning.members.committee import in_structure
from bayeswater.learning.members.presets import (
    KINDS,
    PRESETS,
    SCREENED,
    TimeForecast,
    committees_of,
    forecast,
    pair_bytes,
)
from bayeswater.learning.members.screening import slots_of
from bayeswater.models.ensemble.reading import EnsembleReading, canonical

FRAME, Y = mixed_frame(120)
SETTINGS = Settings("BayesEnsemble")


def table_of(frame, reading=None, weight=None):
    labels = encode_labels(Y[: len(frame)])
    reading = reading or EnsembleReading.of(frame, SETTINGS)
    return reading.table(frame, SETTINGS, labels.n_classes, labels, weight)


def test_cells_are_numbers_or_codes_in_the_order_of_labels_and_holes_are_marked():
    table = table_of(FRAME)
    np.testing.assert_array_equal(table.numbers, FRAME[["height", "width"]].to_numpy())
    colours = ["blue", "green", "grey", "red"]
    np.testing.assert_array_equal(table.states[:, 0], [colours.index(colour) for colour in FRAME["colour"]])
    shapes = [["round", "square"].index(shape) if isinstance(shape, str) else -1 for shape in FRAME["shape"]]
    np.testing.assert_array_equal(table.states[:, 1], shapes)
    np.testing.assert_array_equal(table.states[:, 2], FRAME["new"].astype(int))
    np.testing.assert_array_equal(table.n_states, [4, 2, 2])
    assert len(table) == 120
    assert table.n_columns == 5


def test_equal_cells_have_equal_hashes_whatever_else_the_table_holds():
    whole = table_of(FRAME)
    some = table_of(
        FRAME[FRAME["colour"] != "blue"]
        .reset_index(drop=True)
        .assign(colour=lambda f: f["colour"].cat.remove_unused_categories())
    )
    np.testing.assert_array_equal(some.hashes, whole.hashes[(FRAME["colour"] != "blue").to_numpy()])
    assert (some.states[:, 0] != whole.states[(FRAME["colour"] != "blue").to_numpy(), 0]).any()  # the codes are others
    assert len(np.unique(whole.hashes)) == 120


def test_some_rows_are_taken_with_all_that_belongs_to_them():
    table = table_of(FRAME, weight=np.arange(1.0, 121.0))
    rows = np.array([5, 3, 3])
    part = table.take(rows)
    np.testing.assert_array_equal(part.weight, [6.0, 4.0, 4.0])
    np.testing.assert_array_equal(part.labels, table.labels[rows])
    np.testing.assert_array_equal(part.hashes, table.hashes[rows])
    np.testing.assert_array_equal(part.removed, [1.0, 1.0, 1.0])


def test_rows_of_equal_cells_and_other_classes_stay_apart():
    frame = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0], "c": ["a", "a", "a", "a"]})
    labels = encode_labels(["u", "v", "u", "u"])
    table = canonical(EnsembleReading.of(frame, SETTINGS).table(frame, SETTINGS, 2, labels))
    assert sorted(zip(table.numbers[:, 0], table.labels, table.weight, strict=True)) == [
        (1.0, 0, 2.0),
        (1.0, 1, 1.0),
        (2.0, 0, 1.0),
    ]


@pytest.mark.parametrize("phi", [0.0, 0.2, 0.6, 0.8, 1.0])
def test_structures_see_the_share_of_rows_they_are_to_see_each_its_own(phi):
    hashes = np.random.default_rng(0).integers(0, 2**63, 20_000).astype(np.uint64)
    first, second = (in_structure(hashes, 0, member, phi) for member in (0, 1))
    # Five standard deviations of a share of 20 000 rows are 0.018 at most.
    assert abs(first.mean() - phi) < 0.018
    assert abs((first & second).mean() - phi**2) < 0.018
    other = in_structure(hashes, 1, 0, phi)
    assert abs((first & other).mean() - phi**2) < 0.018


def test_the_first_rows_of_a_canonical_table_are_dealt_out_like_all():
    hashes = np.sort(np.random.default_rng(1).integers(0, 2**63, 20_000).astype(np.uint64))
    assert abs(in_structure(hashes[:5000], 0, 0, 0.6).mean() - 0.6) < 0.035


def test_every_family_of_every_preset_has_a_kind_in_files():
    for families in PRESETS.values():
        assert families.keys() <= KINDS.keys()
        for name, family in families.items():
            assert type(family) is KINDS[name]


def test_members_are_as_many_as_told():
    table = table_of(FRAME)
    found = committees_of("best", {"aode": 3, "trees-half": 0}, table)
    assert found["aode"].members_for(table) == 3
    assert "trees-half" not in found
    assert committees_of("best", {"aode": np.int64(3)}, table)["aode"] == found["aode"]
    for other in (True, 3.0, -1):
        with pytest.raises(ParameterError, match="members is"):
            committees_of("best", {"aode": other}, table)


def test_wide_tables_of_few_rows_have_fewer_members_of_aode_unless_they_are_asked_for():
    def of(n_rows, n_columns):
        numbers, states = np.zeros((n_rows, n_columns)), np.zeros((n_rows, 0), dtype=np.int32)
        rows = replace(table_of(FRAME), numbers=numbers, states=states, n_states=np.zeros(0, dtype=np.int64))
        return replace(rows, n_classes=2, hashes=np.arange(n_rows, dtype=np.uint64))

    def members(table, preset="balanced", told=None):
        found = committees_of(preset, told, table)
        return found["aode"].members_for(table) if "aode" in found else 0

    assert [members(of(200, d)) for d in (20, 60, 90, 120, 200)] == [4, 4, 2, 1, 1]  # of some columns of 200
    assert [members(of(2000, d)) for d in (20, 120, 130, 200)] == [4, 1, 0, 0]  # a row would have too many terms
    assert members(of(200, 200), told={"aode": 6}) == 6
    assert members(of(200, 200), "generative") == 8


def test_members_are_as_many_as_memory_has_room_for_and_look_at_fewer_columns_below_one(monkeypatch):
    table = table_of(FRAME)
    one = pair_bytes(int(slots_of(table).sum()), table.n_classes)
    monkeypatch.setitem(presets.PAIR_BYTES, "balanced", 3 * one)
    assert committees_of("balanced", None, table)["aode"].members_for(table) == 3
    assert committees_of("balanced", None, table)["aode"].n_slots == 0
    monkeypatch.setitem(presets.PAIR_BYTES, "balanced", one - 1)
    few = committees_of("balanced", None, table)["aode"]
    assert few.members_for(table) == 4
    assert SCREENED * pair_bytes(few.n_slots, table.n_classes) < one
    assert committees_of("balanced", {"aode": 5}, table)["aode"].members_for(table) == 5  # who asks for them gets them


def test_a_forecast_tells_every_family_and_leaves_room_for_few():
    table = canonical(table_of(FRAME))
    found = forecast(committees_of("balanced", {"trees-sqrt": 4, "trees-all": 4}, table), table, 0)
    assert found.n_members == {"aode": 4, "gaussian": 1, "trees-sqrt": 4, "trees-all": 4, "linear": 1}
    assert min(found.seconds.values()) > 0
    assert found.total() == pytest.approx(sum(found.seconds[name] * n for name, n in found.n_members.items()))
    assert found.within(1e9) == found.n_members


def test_a_limit_is_kept_where_it_can_be():
    plan = TimeForecast({"a": 0.5, "b": 0.1, "c": 3.0}, {"a": 10, "b": 100, "c": 1})
    for limit in (0.2, 1.0, 4.0, 10.0, 17.9):
        members = plan.within(limit)
        assert sum(plan.seconds[name] * n for name, n in members.items()) <= limit
        assert members
    assert plan.within(1e-9) == {"b": 1}
