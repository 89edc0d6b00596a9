"""`cross_validate_structure`: rows held out, by hand, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from tests.oracles.pc_of_bnlearn import NAMES, rows

from bayeswater import (
    BayesianNetwork,
    BayesWarning,
    DataError,
    ImpossibleEvidenceWarning,
    MixedNetwork,
    ParameterError,
    cross_validate_structure,
    learn_structure,
)


def frame(table=1, n_rows=400):
    return pd.DataFrame(rows(table)[0][:4, :n_rows].T.astype(str), columns=list(NAMES[:4]))


def test_a_fold_loses_what_the_network_of_the_other_rows_says_of_it():
    data = frame()
    fold_of = np.arange(len(data)) % 3
    found = cross_validate_structure(data, method="hill_climb", folds=fold_of)
    for fold in range(3):
        learned = learn_structure(data[fold_of != fold], method="hill_climb")
        assert list(found.graphs[fold].edges()) == list(learned.graph.edges())
        loss = -np.mean(learned.network.log_evidence(data[fold_of == fold]))
        assert found.losses[fold] == pytest.approx(loss, rel=1e-12)
    assert found.loss == pytest.approx(found.losses @ found.n_rows / len(data))


def mixed_frame():
    rng = np.random.default_rng(5)
    sex, x = rng.choice(["f", "m"], 240), rng.normal(size=240)
    return pd.DataFrame({"sex": sex, "x": x, "y": 2 * x + (sex == "m") + 0.3 * rng.normal(size=240)})


@pytest.mark.parametrize("method", ["hill_climb", "pc"])
def test_numbers_that_stay_numbers_lose_what_the_mixed_network_of_the_other_rows_says(method):
    data, fold_of = mixed_frame(), np.arange(240) % 3
    found = cross_validate_structure(data, method=method, folds=fold_of, numbers="gaussian")
    for fold in range(3):
        learned = learn_structure(data[fold_of != fold], method=method, numbers="gaussian")
        assert list(found.graphs[fold].edges()) == list(learned.graph.edges())
        network = MixedNetwork.from_data(learned.graph, data[fold_of != fold], equivalent_sample_size=1.0)
        loss = -np.mean(network.log_probability(data[fold_of == fold]))
        assert found.losses[fold] == pytest.approx(loss, rel=1e-12)


def test_a_given_graph_with_numbers_takes_its_columns_alone_and_needs_no_state_in_every_fold():
    data = mixed_frame().assign(z=1.0)
    data.loc[0, "sex"] = "x"
    found = cross_validate_structure(data, "sex; x -> y", folds=np.arange(240) % 2, score="bic-cg")
    assert np.isfinite(found.losses).all()


def test_a_row_that_exact_numbers_make_impossible_has_an_infinite_loss():
    data = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "y": [2.0, 4, 6, 8, 10, 13]})
    with pytest.warns(BayesWarning, match="no variance"):
        found = cross_validate_structure(data, "x -> y", folds=[0, 0, 0, 1, 1, 1], numbers="gaussian")
    assert found.loss == np.inf and found.standard_error == np.inf


@pytest.mark.parametrize("target", ["a", "c"])
def test_a_target_is_predicted_from_all_others(target):
    data, fold_of = frame(n_rows=120), np.arange(120) % 3
    found = cross_validate_structure(data, "a -> b -> c; b -> d; a -> d", folds=fold_of, target=target)
    for fold in range(3):
        network = BayesianNetwork.from_data(
            "a -> b -> c; b -> d; a -> d",
            data[fold_of != fold],
            states={name: sorted(set(data[name])) for name in data},
            equivalent_sample_size=1.0,
        )
        chances, likeliest = [], []
        for row in data[fold_of == fold].to_dict("records"):
            truth = row.pop(target)
            answer = network.query(target, row)
            chances.append(answer[truth])
            likeliest.append(answer.mode == truth)
        assert found.losses[fold] == pytest.approx(-np.mean(np.log(chances)), rel=1e-9)
        assert found.errors[fold] == pytest.approx(1 - np.mean(likeliest))
    assert repr(found).splitlines()[0].startswith(f"Log-loss of {target!r} {found.loss:.4f} nats")
    assert "<th>error</th>" in found._repr_html_()


def test_a_number_is_predicted_with_its_squared_error():
    data, fold_of = mixed_frame(), np.arange(240) % 3
    found = cross_validate_structure(data, "sex -> y <- x", folds=fold_of, target="y", numbers="gaussian")
    network = MixedNetwork.from_data("sex -> y <- x", data[fold_of != 0], equivalent_sample_size=1.0)
    errors = [
        row["y"] - network.query("y", {"sex": row["sex"], "x": row["x"]}).mean
        for row in data[fold_of == 0].to_dict("records")
    ]
    assert found.errors[0] == pytest.approx(np.mean(np.square(errors)), rel=1e-9)
    assert found.errors.max() < 0.2 and np.isfinite(found.losses).all()


def test_without_imagined_rows_a_row_may_be_impossible():
    data = pd.DataFrame({"a": list("xxxxyyyy"), "b": list("uuuuuuuv")})
    found = cross_validate_structure(data, "a -> b", folds=[0, 0, 1, 1, 0, 0, 1, 1], equivalent_sample_size=0)
    assert found.losses[0] == pytest.approx(np.log(2) * 3 / 2) and found.losses[1] == np.inf
    with pytest.warns(ImpossibleEvidenceWarning, match="1 of 4 rows"):
        missed = cross_validate_structure(
            data, "a -> b", folds=[0, 0, 1, 1, 0, 0, 1, 1], equivalent_sample_size=0, target="a"
        )
    assert missed.losses[1] == np.inf and missed.errors[1] == 0.5 and np.isfinite(missed.losses[0])


def test_a_given_graph_stays_and_every_row_is_held_out_once():
    data = frame()
    found = cross_validate_structure(data, "a -> b; c; d", folds=7, seed=3)
    assert all(list(dag.edges()) == [("a", "b")] for dag in found.graphs)
    assert found.n_rows.sum() == len(data) and np.ptp(found.n_rows) <= 1
    assert found.loss == cross_validate_structure(data, "a -> b; c; d", folds=7, seed=3).loss
    assert found.standard_error > 0


def test_what_is_known_holds_in_every_fold_and_the_report_can_be_read():
    found = cross_validate_structure(frame(), method="iamb", folds=3, required="d -> a", forbidden="b -> *")
    for dag in found.graphs:
        assert ("d", "a") in dag.edges() and not [arc for arc in dag.edges() if arc[0] == "b"]
    lines = repr(found).splitlines()
    assert lines[0].startswith(f"Log-loss of a row {found.loss:.4f} nats") and len(lines) == 5
    assert "<th>log-loss</th>" in found._repr_html_()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folds": 1}, "folds is 1; give a number from 2"),
        ({"folds": [0, 1]}, "folds has shape"),
        ({"folds": np.zeros(400)}, "and 1 folds"),
        ({"equivalent_sample_size": -1}, "equivalent_sample_size is -1"),
        ({"target": "z"}, "target is 'z', which is no variable"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_means_nothing_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        cross_validate_structure(frame(), **settings)


def test_missing_cells_are_refused():
    data = frame()
    data.loc[3, "a"] = None
    with pytest.raises(DataError, match="1 cells are missing"):
        cross_validate_structure(data)
