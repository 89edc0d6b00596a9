"""Tables of so many columns that counts of all their pairs would not fit: the same models, of the pairs that they read.

What counts of all pairs say is the oracle: a small table is learned from both ways.
"""

import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bayeswater import (
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesWarning,
    ModelFileError,
    ParameterError,
    ResourceLimitError,
    StatisticsError,
    export,
    limits,
    load,
    save,
)
from bayeswater.models.semi_naive.learning import pairs_of
from bayeswater.models.stored.sums import described_sums, restored_sums
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.consistency import require_consistent
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.statistics.some_pairs import SomePairs, stars

N_ROWS, N_COLUMNS = 300, 14


pytestmark = pytest.mark.filterwarnings("ignore:column 'x9' has one value")


@pytest.fixture
def wide(monkeypatch):
    """Let any table be too wide."""
    monkeypatch.setattr(limits, "ALL_PAIRS_BYTES", 0)


def table(seed=0, lacks=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_ROWS)
    X = rng.integers(0, rng.integers(2, 5, N_COLUMNS), (N_ROWS, N_COLUMNS)).astype(float)
    for j in range(1, N_COLUMNS):
        same = rng.random(N_ROWS) < 0.4
        X[same, j] = np.minimum(X[same, rng.integers(0, j)], X[:, j].max())
    X[rng.random(N_ROWS) < 0.5, 3] = 1.0
    X[:, 5] = np.where(rng.random(N_ROWS) < 0.5, y, X[:, 5])
    X[rng.random(X.shape) < lacks] = np.nan
    X[:, 9] = np.where(rng.random(N_ROWS) < 0.5, np.nan, 1.0)  # one value: a hole is its other state
    return X, np.array(["a", "b", "c"])[y]


WEIGHTS = {"none": None, "whole": np.arange(N_ROWS) % 3, "fractions": np.random.default_rng(5).random(N_ROWS)}
OF_ALL = [
    TAN(),
    TAN(root=4),
    TAN(penalty="bic"),
    TAN(penalty="aic"),
    TAN(parents={1: 0, 2: 0, 7: 2}),
    SPODE(super_parent=5),
    KDB(),
    KDB(k=3, theta=0.02),
    SKDB(),
    AODE(super_parents=4),
    AODE(super_parents=2, weighting="mi", min_support=3),
]


def in_the_narrow_way(model, X, y, weight):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "ALL_PAIRS_BYTES", 2**30)
        return type(model)(**model.get_params()).fit(X, y, sample_weight=weight)


# One model with all weights, and all models with one of them: the counts are made by one function.
@pytest.mark.parametrize(
    ("model", "weight"),
    [*product(OF_ALL[:1], WEIGHTS), *((model, [*WEIGHTS][i % 3]) for i, model in enumerate(OF_ALL[1:]))],
    ids=str,
)
def test_a_wide_table_gives_the_model_of_counts_of_all_pairs(wide, model, weight):
    (X, y), weight = table(), WEIGHTS[weight]
    found, expected = model.fit(X, y, sample_weight=weight), in_the_narrow_way(model, X, y, weight)
    assert isinstance(pairs_of(found.statistics_), SomePairs)
    assert not isinstance(pairs_of(expected.statistics_), SomePairs)
    if hasattr(model, "parents_"):
        assert found.parents_ == expected.parents_
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-13)
    assert found.n_parameters == expected.n_parameters
    np.testing.assert_allclose(
        found.leave_one_out([(X, y)]).log_loss, expected.leave_one_out([(X, y)]).log_loss, rtol=1e-9
    )


@pytest.mark.parametrize("model", [TAN(), KDB(), AODE(super_parents=3), SPODE(super_parent=2)], ids=repr)
def test_further_rows_are_counted_with_the_pairs_of_the_first_fit(wide, model, tmp_path):
    X, y = table()
    first = model.fit(X[:200], y[:200])
    more = pickle.loads(pickle.dumps(first)).partial_fit(X[200:], y[200:])
    assert pickle.loads(pickle.dumps(more)).forget(X[200:], y[200:]).statistics_ == first.statistics_
    save(more, tmp_path / "m.bayes")
    loaded = load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(X), more.predict_proba(X))
    assert loaded.statistics_ == more.statistics_
    assert (loaded + first).class_count_.sum() == N_ROWS + 200


def test_the_penalty_that_chose_the_counted_pairs_cannot_be_changed(wide, tmp_path):
    X, y = table()
    model = TAN().fit(X, y)
    save(model, tmp_path / "m.bayes")
    for changed in (model, load(tmp_path / "m.bayes"), pickle.loads(pickle.dumps(model)), model + model):
        before = changed.predict_proba(X)
        with pytest.raises(ParameterError, match="counted, with penalty=None; set it back, or fit again"):
            changed.set_params(penalty="bic").predict(X)
        np.testing.assert_array_equal(changed.set_params(penalty=None).predict_proba(X), before)
    assert model.set_params(penalty="bic").fit(X, y).parents_ == in_the_narrow_way(model, X, y, None).parents_


def test_later_states_find_their_place(wide):
    X, y = table(lacks=0.0)
    later = X + (X.max(axis=0) == X) * 2.0
    later[:, 9] = X[:, 9]
    model = TAN(parents={1: 0, 2: 0, 7: 2}).fit(X, y).partial_fit(later, y)
    both = in_the_narrow_way(model, np.concatenate([X, later]), np.concatenate([y, y]), None)
    np.testing.assert_allclose(model.predict_proba(later), both.predict_proba(later), rtol=1e-12)


def test_counts_of_other_pairs_are_not_added(wide):
    X, y = table()
    with pytest.raises(StatisticsError, match="different pairs of columns"):
        TAN(parents={1: 0}).fit(X, y) + TAN(parents={2: 0}).fit(X, y)


def test_super_parents_are_as_many_as_there_is_room_for_and_it_is_said(wide, monkeypatch):
    X, y = table()
    monkeypatch.setattr(limits, "SOME_PAIRS_BYTES", 8 * 3 * 60 * 12)
    with pytest.warns(BayesWarning, match=r"of 14 columns are super-parents, those that tell most.*would take .*KiB"):
        model = AODE().fit(X, y)
    counts = pairs_of(model.statistics_)
    assert 1 <= len(counts.centers) < N_COLUMNS
    assert 5 in counts.centers  # the column that tells most of the class
    assert counts.pairs.nbytes <= limits.SOME_PAIRS_BYTES
    same = AODE(super_parents=len(counts.centers)).fit(X, y)
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


def test_what_was_not_counted_is_refused(wide, monkeypatch):
    X, y = table()
    model = AODE(super_parents=3).fit(X, y)
    assert model.set_params(super_parents=2).predict_proba(X).shape == (N_ROWS, 3)
    for more in (4, "all"):
        with pytest.raises(ParameterError, match="fit again"):
            model.set_params(super_parents=more).predict(X)
    with pytest.raises(ParameterError, match="subsumption is True, but not all pairs"):
        model.set_params(super_parents=3, subsumption=True).predict(X)
    with pytest.raises(ParameterError, match="not counted together; fit again"):
        TAN().fit(X, y).set_params(parents={0: 13, 13: 12, 12: 1}).predict(X)
    with pytest.raises(ParameterError, match="super_parent is 2, but columns were counted with 'x1'; set it back, or"):
        SPODE(1).fit(X, y).set_params(super_parent=2).predict(X)
    monkeypatch.setattr(limits, "TABLE_BYTES", 2**12)
    with pytest.raises(ResourceLimitError, match=r"14 columns with 9 super-parents in 3 classes would take .* fewer"):
        AODE(super_parents=9).fit(X, y)
    for all_pairs in (AODE(super_parents="all"), AODE(select=True), SPODE(), TAN(calibrate=True)):
        with pytest.raises(
            ResourceLimitError, match=r"counting all pairs of 14 columns in 3 classes.*without calibrate=True"
        ):
            all_pairs.fit(X, y)


def test_super_parents_whose_table_has_no_room_are_refused_before_they_are_counted(wide, monkeypatch):
    X, y = table()
    model = AODE(super_parents=12).fit(X, y)
    n_bytes = pairs_of(model.statistics_).pairs.nbytes  # of two super-parents once; the table has both ways
    monkeypatch.setattr(limits, "TABLE_BYTES", n_bytes)
    with pytest.raises(ResourceLimitError, match="give fewer super_parents"):
        AODE(super_parents=12).fit(X, y)
    with pytest.raises(ResourceLimitError, match="the probabilities of all pairs"):
        pickle.loads(pickle.dumps(model)).set_params(alpha=2.0).predict(X)


@pytest.mark.parametrize("weighting", [None, "mi"])
def test_super_parents_are_exported(wide, weighting):
    X, y = table()
    model = AODE(super_parents=3, weighting=weighting)
    assert export(model.fit(X, y), "python") == export(in_the_narrow_way(model, X, y, None), "python")


@pytest.mark.parametrize("n", [N_COLUMNS, N_COLUMNS + 1])
def test_as_many_super_parents_as_columns_are_all_that_may_be(wide, n):
    X, y = table()
    found, expected = AODE(super_parents=n).fit(X, y), in_the_narrow_way(AODE(), X, y, None)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "some"])
def test_a_number_of_super_parents_is_one_of_columns(wrong):
    X, y = table()
    with pytest.raises(ParameterError, match="super_parents is"):
        AODE(super_parents=wrong).fit(X, y)


@pytest.mark.parametrize("model", [AODE(super_parents=3), TAN(), KDB()], ids=repr)
def test_rows_are_explained_and_drawn(wide, model):
    X, y = table()
    found, expected = model.fit(X, y), in_the_narrow_way(model, X, y, None)
    reasons, same = (one.explain(X[:5]) for one in (found, expected))
    for i in range(5):
        np.testing.assert_allclose(
            sorted(reasons.contributions[i]), sorted(same.contributions[i]), rtol=1e-7, atol=1e-9
        )
    assert found.sample(20, random_state=0)[0].shape == (20, N_COLUMNS)


def test_pairs_of_stars_are_counted_once():
    partners = stars(np.array([4, 1]), 6)
    assert sorted(frozenset((i, j)) for i, own in enumerate(partners) for j in own) == sorted(
        frozenset(pair) for pair in [(0, 4), (0, 1), (1, 4), (2, 4), (2, 1), (3, 4), (3, 1), (5, 4), (5, 1)]
    )


def test_counts_that_no_rows_can_have_are_refused(wide):
    X, y = table()
    sums = AODE(super_parents=3).fit(X, y).statistics_
    require_consistent(sums)
    counts = pairs_of(sums)
    for wrong in (counts.pairs + np.eye(1, len(counts.pairs), 40, dtype=int).T, counts.pairs[::-1], counts.pairs[:-1]):
        changed = replace(counts, pairs=wrong)
        with pytest.raises(StatisticsError, match=r"do not add up to the counts of the columns|pairs has shape"):
            require_consistent(replace(sums, columns=replace(sums.columns, groups={"pairs": changed})))


@pytest.mark.parametrize(
    "partners",
    [None, [[], []], [[[]], [0] * 13], [[[0]], [0] * 14], [[[], [0], [1]], [1, 2, *[0] * 12]], [[["x"]], [0] * 14]],
)
def test_a_file_with_other_pairs_is_refused(wide, partners):
    X, y = table()
    document, arrays = described_sums(TAN().fit(X, y).statistics_)
    with pytest.raises(ModelFileError, match=r"pairs|parents"):
        restored_sums(ColumnGroups, document | {"partners": partners}, arrays, {"pairs": PairCounts})
