"""`NetworkClassifier`: the class as a variable of a learned network, with exact posteriors whatever is missing."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.networks.nets import asia, joint_by_enumeration

from bayeswater import CategoricalNB, DataError, NetworkClassifier, ParameterError, SchemaError, UnseenCategoryWarning
from bayeswater.errors import StatisticsError
from bayeswater.models.structures.class_networks import SELECTION_FOLDS, folds


def patients(n=600, seed=0):
    """Findings, and whether there is a bronchitis."""
    rows = asia().sample(n, random_state=seed).to_pandas().astype(str)
    return rows.drop(columns="bronc"), rows["bronc"].to_numpy()


def parity(n=400, seed=0):
    """The class is whether two columns are equal: no column tells anything alone."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.choice(["no", "yes"], n), "b": rng.choice(["no", "yes"], n), "c": rng.choice(list("xy"), n)}
    )
    y = np.where((X["a"] == X["b"]) ^ (rng.random(n) < 0.05), "same", "other")
    return X, y


@pytest.mark.parametrize("structure", ["learned", "augmented", "tree", "naive"])
def test_posteriors_are_those_of_the_whole_joint_for_every_pattern_of_missing_cells(structure):
    X, y = parity()
    model = NetworkClassifier(structure, structure_score="bdeu").fit(X, y)
    joint = joint_by_enumeration(model.network_.core)  # axes: class, a, b, c
    cells = list(product(["no", "yes", None], ["no", "yes", None], ["x", "y", None]))
    rows = pd.DataFrame(cells, columns=["a", "b", "c"])
    code = {"no": 0, "yes": 1, "x": 0, "y": 1}
    expected = []
    for row in cells:
        known = tuple(slice(None) if cell is None else slice(code[cell], code[cell] + 1) for cell in row)
        expected.append(joint[(slice(None), *known)].sum(axis=(1, 2, 3)))
    expected = np.array(expected)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(rows)), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(model.log_evidence(rows), np.log(expected.sum(axis=1)), rtol=1e-12, atol=1e-12)
    assert (model.predict(rows) == model.classes_[expected.argmax(axis=1)]).all()


def test_without_arcs_among_columns_it_is_naive_bayes():
    X, y = patients()
    mine = NetworkClassifier("naive").fit(X, y).predict_log_proba(X)
    naive = CategoricalNB(alpha=1, class_alpha=1).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(mine, naive, rtol=1e-10, atol=1e-12)


def test_the_class_is_where_the_structure_says():
    X, y = patients(1500)
    graphs = {s: NetworkClassifier(s).fit(X, y).network_.dag for s in ("learned", "augmented", "tree", "naive")}
    for shape in ("augmented", "tree", "naive"):
        assert all(graphs[shape].node("class") in own for own in graphs[shape].parents[1:])
    assert max(map(len, graphs["tree"].parents)) == 2
    assert max(map(len, graphs["naive"].parents)) == 1
    blanket = {graphs["learned"].names[v] for v in graphs["learned"].markov_blanket(0)}
    assert {"smoke", "dysp"} <= blanket and "asia" not in blanket


def test_cross_validation_takes_a_structure_that_sees_what_two_columns_say_together():
    X, y = parity()
    model = NetworkClassifier(selection="cross-validated", structure_score="bdeu").fit(X, y)
    losses = model.cv_log_loss_
    assert set(losses) == {"learned", "augmented", "tree", "naive"}
    assert model.structure_ == min(losses, key=losses.get) != "naive"
    assert losses["naive"] == pytest.approx(np.log(2), abs=0.05)
    assert losses[model.structure_] < 0.3
    assert model.score(X, y) > 0.9
    again = NetworkClassifier(selection="cross-validated", structure_score="bdeu").fit(X, y)
    assert again.cv_log_loss_ == losses
    assert not hasattr(NetworkClassifier().fit(X, y), "cv_log_loss_")


def test_every_fold_has_its_share_of_every_class():
    classes = np.repeat([0, 1, 2], [50, 20, 7])
    fold = folds(classes, 0)
    for k in range(3):
        counts = np.bincount(fold[classes == k], minlength=SELECTION_FOLDS)
        assert counts.max() - counts.min() <= 1


def test_rows_with_missing_cells_are_learned_from():
    X, y = patients(1500)
    rng = np.random.default_rng(1)
    lacking = X.mask(rng.random(X.shape) < 0.2)
    new, truth = patients(3000, seed=9)
    model = NetworkClassifier("augmented").fit(lacking, y)
    whole = lacking.notna().all(axis=1).to_numpy()
    dropped = NetworkClassifier("augmented").fit(lacking[whole], y[whole])

    def log_loss(model):
        return -model.predict_log_proba(new)[np.arange(len(new)), (truth == model.classes_[1]).astype(int)].mean()

    assert log_loss(model) < log_loss(dropped)
    with pytest.raises(DataError, match="missing"):
        NetworkClassifier(missing="error").fit(lacking, y)


@pytest.mark.parametrize("structure", ["learned", "augmented"])
def test_whole_weights_are_as_many_rows(structure):
    X, y = patients(150)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = NetworkClassifier(structure).fit(X, y, sample_weight=weight)
    repeated = NetworkClassifier(structure).fit(X.loc[np.repeat(X.index, weight)], np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-10)


def test_numbers_are_cut_where_that_tells_the_classes_apart():
    rng = np.random.default_rng(3)
    age = rng.normal(50, 15, 500)
    X = pd.DataFrame({"age": age, "city": rng.choice(["A", "B"], 500)})
    model = NetworkClassifier().fit(X, np.where(age > 60, "old", "young"))
    assert model.columns_["age"].family == "binned"
    assert model.predict(pd.DataFrame({"city": ["A", "B"], "age": [30.0, 80.0]})).tolist() == ["young", "old"]


@pytest.mark.parametrize("library", [pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow(), np.asarray])
def test_frames_of_all_libraries_and_arrays_are_the_same_rows(library):
    X, y = patients(200)
    expected = NetworkClassifier().fit(X, y).predict_log_proba(X)
    np.testing.assert_array_equal(NetworkClassifier().fit(library(X), y).predict_log_proba(library(X)), expected)


def test_a_category_that_was_never_seen_is_a_missing_cell():
    X, y = patients(200)
    model = NetworkClassifier().fit(X, y)
    row = X.iloc[:1].assign(dysp="perhaps")
    with pytest.warns(UnseenCategoryWarning, match="'dysp' = 'perhaps' in 1 of 1 rows"):
        found = model.predict_log_proba(row)
    np.testing.assert_array_equal(found, model.predict_log_proba(X.iloc[:1].assign(dysp=None)))
    with pytest.raises(DataError, match="never counted"):
        model.set_params(unseen="error").predict(row)


def test_a_column_that_is_not_there_is_named():
    X, y = patients(100)
    with pytest.raises(SchemaError, match="'dysp'"):
        NetworkClassifier().fit(X, y).predict(X.drop(columns="dysp"))


def test_logarithms_of_probabilities_go_on_where_probabilities_end():
    y = np.repeat(["a", "b"], 50)
    X = np.repeat((y == "b").astype(int)[:, None], 200, axis=1)
    log_proba = NetworkClassifier("naive").fit(X, y).predict_log_proba(X[:1])
    expected = -200 * np.log(51)  # P(0 | a) = 51 / 52 and P(0 | b) = 1 / 52, 200 times
    assert log_proba[0, 1] == pytest.approx(expected, rel=1e-12)
    assert log_proba[0, 1] < np.log(np.finfo(float).smallest_subnormal)


def test_decisions_are_those_of_least_expected_cost():
    X, y = patients()
    model = NetworkClassifier().fit(X, y)
    assert (model.decide(X) == model.predict(X)).all()
    costs = {"no": {"no": 0, "yes": 20}, "yes": {"no": 1, "yes": 0}}  # of an action, for each truth
    proba = model.predict_proba(X)
    yes = list(model.classes_).index("yes")
    treated = model.decide(X, loss=costs) == "yes"
    assert (treated == (20 * proba[:, yes] > 1 * (1 - proba[:, yes]))).all()
    least = np.minimum(20 * proba[:, yes], 1 - proba[:, yes])
    np.testing.assert_allclose(model.expected_loss(X, loss=costs), least, rtol=1e-9)


def test_it_is_a_network_like_any_other():
    X, y = patients()
    model = NetworkClassifier().fit(X, y)
    network = model.to_network(class_name="bronchitis")
    assert network.names == ("bronchitis", *X.columns)
    row = X.iloc[0].to_dict()
    posterior = network.query("bronchitis", row)
    expected = model.predict_proba(X.iloc[:1])[0]
    for label, probability in zip(model.classes_, expected, strict=True):
        assert posterior[label] == pytest.approx(probability, rel=1e-12)
    assert model.n_parameters == network.n_parameters


def test_a_column_called_class_stays_beside_the_class():
    X, y = parity()
    model = NetworkClassifier().fit(X.rename(columns={"a": "class"}), y)
    assert model.network_.names == ("(class)", "class", "b", "c")


def test_a_pickled_model_answers_the_same():
    X, y = patients(200)
    model = NetworkClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    assert again.network_ == model.network_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": "forest"}, "structure is 'forest'; it can be one of"),
        ({"selection": "aic"}, "selection is 'aic'; it can be one of"),
        ({"structure_score": "accuracy"}, "choose one of"),
        ({"method": "best"}, "method is 'best'; it can be one of"),
        ({"discretize": "by hand"}, "discretize is 'by hand'"),
        ({"alpha": -1}, "alpha=-1"),
        ({"alpha": [1, 2]}, "give one number"),
        ({"missing": "state"}, "missing is 'state'"),
        ({"unseen": "guess"}, "unseen is 'guess'"),
        ({"max_parents": 0, "structure": "augmented"}, "max_parents"),
    ],
)
def test_parameters_out_of_range_are_refused(settings, message):
    X, y = parity(40)
    with pytest.raises(ParameterError, match=message):
        NetworkClassifier(**settings).fit(X, y)


def test_classifiers_of_networks_are_not_added_and_say_what_to_do():
    model = NetworkClassifier()
    for add in (lambda: model + model, lambda: sum([model, model])):
        with pytest.raises(StatisticsError, match="call fit with all rows"):
            add()
