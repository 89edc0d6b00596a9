"""The kernel that scores a column of families against the reference that counts each of them."""

import numpy as np
import pytest
from tests.oracles.chained_rows import chained_rows

from bayeswater.kernels.threads import threads
from bayeswater.structure import local_scores as local_scores_module
from bayeswater.structure.hill_climbing import hill_climb
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.scores import Score


def both(codes, n_states, score, weight=None):
    fast, slow = LocalScores(codes, n_states, score, weight), LocalScores(codes, n_states, score, weight)
    fast._uses_kernel, slow._uses_kernel = True, False
    return fast, slow


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "bdeu", "k2", "fnml", "qnml"])
@pytest.mark.parametrize("parents", [(), (1,), (0, 4), (0, 2, 3, 5)])
@pytest.mark.parametrize("n_rows", [1, 63, 700])
def test_a_column_holds_the_scores_of_all_its_families(name, parents, n_rows):
    fast, slow = both(*chained_rows(n_rows, [2, 3, 1, 4, 2, 3, 5, 2], seed=n_rows), Score(name))
    for y in (6, 7):
        found, expected = fast.column(y, frozenset(parents)), slow.column(y, frozenset(parents))
        counted = np.isfinite(found)
        np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-12, atol=1e-9)
        assert counted[[*parents, y]].all()
        assert (expected[~counted] <= expected[y]).all()  # what was not counted could not have gained


def fractions(n_rows):
    return np.random.default_rng(n_rows).choice([0.0, 0.1, 1 / 3, 1.0, 7.5], n_rows) + 1e-3


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "bdeu", "k2", "qnml"])
@pytest.mark.parametrize("parents", [(), (1,), (0, 4), (0, 2, 3, 5)])
@pytest.mark.parametrize("n_rows", [1, 63, 700])
def test_a_column_of_weighted_rows_holds_the_scores_of_all_its_families(name, parents, n_rows):
    codes, n_states = chained_rows(n_rows, [2, 3, 1, 4, 2, 3, 5, 2], seed=n_rows)
    fast, slow = both(codes, n_states, Score(name), fractions(n_rows))
    for y in (0, 6, 7):
        own = frozenset(parents) - {y}
        found, expected = fast.column(y, own), slow.column(y, own)
        counted = np.isfinite(found)
        np.testing.assert_allclose(found[counted], expected[counted], rtol=1e-12, atol=1e-9)
        assert counted[[*own, y]].all()
        assert (expected[~counted] <= expected[y]).all()  # what was not counted could not have gained


@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_whole_weights_are_as_many_rows(name):
    codes, n_states = chained_rows(200, [2, 3, 2, 4], seed=5)
    weight = np.arange(200) % 4
    weighted, _ = both(codes, n_states, Score(name), weight)
    repeated, _ = both(np.repeat(codes, weight, axis=1), n_states, Score(name))
    for y, parents in ((0, [1, 2]), (3, [])):
        found, expected = (families.column(y, frozenset(parents)) for families in (weighted, repeated))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_columns_of_weighted_rows_do_not_depend_on_the_number_of_threads():
    codes, n_states = chained_rows(700, [2, 3, 2, 4, 3], seed=6)
    wanted = [(y, frozenset([(y + 1) % 5])) for y in range(5)]
    columns = []
    for n in (1, 3):
        families, _ = both(codes, n_states, Score("bdeu"), fractions(700))
        with threads(n):
            columns.append([column.tobytes() for column in families.columns(wanted)])
    assert columns[0] == columns[1]


def test_a_search_by_the_kernel_finds_what_one_by_the_reference_finds(monkeypatch):
    codes, n_states = chained_rows(300, [2, 3, 2, 4, 3], seed=7)
    weight = fractions(300)
    found = []
    for cells in (1, np.inf):
        monkeypatch.setattr("bayeswater.structure.local_scores.worth_compiling", lambda n, least=cells: n >= least)
        families = LocalScores(codes, n_states, Score("bic"), weight)
        assert families._uses_kernel == (cells == 1)
        found.append(hill_climb(families, Knowledge.of([str(v) for v in range(5)]), (frozenset(),) * 5)[0])
    assert found[0] == found[1]


def test_counts_beyond_the_tables_are_worked_out(monkeypatch):
    monkeypatch.setattr("bayeswater.structure.local_scores.TABLE_LENGTH", 10)
    for name in ("bic", "bdeu"):
        fast, slow = both(*chained_rows(400, [2, 3, 2, 2], seed=3), Score(name))
        found, expected = fast.column(0, frozenset([1])), slow.column(0, frozenset([1]))
        np.testing.assert_allclose(found[np.isfinite(found)], expected[np.isfinite(found)], rtol=1e-12)


def test_columns_beyond_the_budget_are_counted_again_and_that_is_told():
    codes, n_states = chained_rows(100, [2, 3, 2], seed=1)
    families = LocalScores(codes, n_states, Score("bic"), cache_bytes=600)
    first = families.column(0, frozenset())
    assert not families.is_full
    second = families.column(1, frozenset())
    assert families.is_full
    np.testing.assert_array_equal(families.column(1, frozenset()), second)
    assert families.column(0, frozenset()) is first


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "bdeu", "k2", "fnml", "qnml"])
def test_what_was_counted_before_changes_no_score(name):
    codes, n_states = chained_rows(700, [2, 3, 1, 4, 2, 3], seed=2)
    wanted = [(y, frozenset(own) - {y}) for own in ((), (1,), (0, 4), (1, 3), (0, 1, 3)) for y in range(6)]
    one, _ = both(codes, n_states, Score(name))
    for (y, own), column in zip(wanted, one.columns(wanted), strict=True):
        alone, _ = both(codes, n_states, Score(name))
        # The same counts, their terms added up in another order.
        np.testing.assert_allclose(column, alone.column(y, own), rtol=1e-12, atol=1e-9)


def test_a_set_that_was_counted_for_one_family_is_not_counted_for_another():
    codes, n_states = chained_rows(700, [2, 3, 2, 4], seed=2)
    families, _ = both(codes, n_states, Score("bdeu"))
    families.column(0, frozenset())
    assert families.n_counted == 4  # 0 alone, and three pairs
    families.column(1, frozenset())
    assert families.n_counted == 4 + 2  # {0, 1} and its parts are known
    families.column(2, frozenset([0, 1]))
    before = families.n_counted
    families.column(0, frozenset([1, 2]))
    assert families.n_counted == before + 1  # of {0, 1, 2, 3} and {1, 2, 3} the smaller one is new


def test_sets_beyond_the_budget_are_counted_again_and_that_is_told(monkeypatch):
    monkeypatch.setattr("bayeswater.structure.local_scores.FEWEST_SLOTS", 16)
    codes, n_states = chained_rows(200, [2, 3, 2, 4], seed=3)
    little, _ = both(codes, n_states, Score("bic"))
    little._most_slots = 16
    _, slow = both(codes, n_states, Score("bic"))
    wanted = [(y, frozenset([(y + 1) % 4, (y + 2) % 4])) for y in range(4)] * 2
    for y, own in wanted:
        found, expected = little.leaving(y, own), slow.leaving(y, own)
        np.testing.assert_allclose(found[[y, *own]], expected[[y, *own]], rtol=1e-12)
    assert little.is_full and little._n_sets <= 8


def test_the_table_of_sets_grows_as_fast_as_sets_come(monkeypatch):
    monkeypatch.setattr("bayeswater.structure.local_scores.FEWEST_SLOTS", 2)
    codes, n_states = chained_rows(50, [2] * 20, seed=3)
    families, _ = both(codes, n_states, Score("bic"))
    families.columns([(y, frozenset()) for y in range(20)])  # many more sets at once than it has slots
    assert families._n_sets == 1 + 20 + 20 * 19 // 2
    assert 2 * families._n_sets <= len(families._sets) <= 2**11


@pytest.mark.parametrize("name", ["bic", "bdeu", "k2"])
@pytest.mark.parametrize("weight", [None, fractions(300)])
def test_leaving_tells_what_a_column_tells_of_a_variable_and_its_parents(name, weight):
    codes, n_states = chained_rows(300, [2, 3, 2, 4, 3], seed=8)
    for families in both(codes, n_states, Score(name), weight):
        for own in ((), (2,), (0, 1, 4)):
            alone = families.leaving(3, frozenset(own))
            np.testing.assert_allclose(alone[[3, *own]], families.column(3, frozenset(own))[[3, *own]], rtol=1e-12)
            assert families.of(3, own) == pytest.approx(alone[3], rel=1e-12)


@pytest.mark.parametrize("name", ["bdeu", "k2", "fnml"])
def test_columns_that_wait_keep_their_tables_when_there_is_no_room_for_more(name, monkeypatch):
    monkeypatch.setattr(local_scores_module, "MOST_TABLES", 3)
    fast, slow = both(*chained_rows(200, [2, 3, 4, 5, 6, 7, 8, 9], seed=1), Score(name))
    keys = [(y, frozenset(own)) for y in range(8) for own in ((), ((y + 1) % 8,))]
    for (y, own), found in zip(keys, fast.columns(keys), strict=True):
        np.testing.assert_allclose(found[y], slow.of(y, own), rtol=1e-12)


def test_more_parents_than_a_float_can_count_their_configurations_are_never_taken():
    fast, _ = both(*chained_rows(2, [16] * 260, seed=0), Score("bic"))  # 16 ** 256 is 2 ** 1024
    assert fast.of(0, range(1, 259)) == -np.inf
