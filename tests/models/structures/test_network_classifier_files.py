"""Model files of NetworkClassifier: what is loaded is what was saved, and what no fit makes is refused."""

import copy

import numpy as np
import pytest
from tests.files.hostile import forged, unpacked
from tests.models.same_model import reloaded
from tests.models.semi_naive.saved_models import N_ROWS, field
from tests.models.semi_naive.saved_models import table as discrete_table

from bayeswater import ModelFileError, NetworkClassifier, load, save


def table():
    """Rows with a column that is called as the class is."""
    frame, labels = discrete_table()
    return frame.rename(columns={"flag": "class"}), labels


@pytest.mark.parametrize(
    "model",
    [
        NetworkClassifier(),
        NetworkClassifier("tree", structure_score=("bdeu", 2.0), alpha=0.5),
        NetworkClassifier(selection="cross-validated", seed=3),
        NetworkClassifier("naive", columns={"size": {"cuts": (0.0, 1.0)}, "grade": "ignored"}, unseen="error"),
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", [None, "fractions"])
def test_a_model_that_was_saved_is_loaded_to_the_bit(model, weights, tmp_path):
    frame, labels = table()
    weight = None if weights is None else np.random.default_rng(1).choice([0.25, 1.0, 3.5], N_ROWS)
    model = model.fit(frame, labels, weight)
    found = reloaded(model, tmp_path / "model.bayes")
    assert vars(found).keys() == vars(model).keys()
    assert repr(found.get_params()) == repr(model.get_params())
    assert repr(found.columns_) == repr(model.columns_)
    assert found.network_.variables == model.network_.variables
    assert found.network_.dag == model.network_.dag
    assert [t.tobytes() for t in found.network_.core.tables] == [t.tobytes() for t in model.network_.core.tables]
    assert (found.structure_, vars(found).get("cv_log_loss_")) == (model.structure_, vars(model).get("cv_log_loss_"))
    assert (found.classes_.dtype, found.classes_.tolist()) == (model.classes_.dtype, model.classes_.tolist())
    assert found.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    for rows in (frame, frame[["grade", "class", "size", "colour"]].assign(grade=None)):
        assert found.predict_joint_log_proba(rows).tobytes() == model.predict_joint_log_proba(rows).tobytes()


def test_a_model_of_an_array_is_loaded(tmp_path):
    X = np.random.default_rng(0).integers(0, 3, size=(N_ROWS, 3))
    model = NetworkClassifier().fit(X, X[:, 0] > 0)
    found = reloaded(model, tmp_path / "model.bayes")
    assert found.predict_joint_log_proba(X).tobytes() == model.predict_joint_log_proba(X).tobytes()
    assert not hasattr(found, "feature_names_in_")


def test_a_model_that_has_learned_nothing_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(NetworkClassifier(), tmp_path / "model.bayes")


def numbers(change):
    return lambda document, arrays: arrays.__setitem__("tables", change(arrays["tables"]))


def moved(tables):
    tables = tables.copy()
    tables[0] += 0.25
    return tables


FORGERIES = {
    "no such structure": (field("structure", "forest"), "none of"),
    "a structure that is a list": (field("structure", ["naive"]), "none of"),
    "a class that is not parent of all": (field("structure", "naive"), "not parent of every column"),
    "a cycle": (field("parents", [[1], [0], [], [], []]), "cycle"),
    "parents of nobody": (field("parents", [[], [0], [0], [0], [9]]), "parents"),
    "parents that are texts": (field("parents", [[], ["0"], [], [], []]), "no numbers"),
    "too few parents": (field("parents", [[], [0]]), "5 variables"),
    "losses of unknown structures": (field("log_loss", {"forest": 1.0}), "log-losses"),
    "losses that are texts": (
        field("log_loss", dict.fromkeys(["learned", "augmented", "tree", "naive"], "low")),
        "log-l",
    ),
    "classes that are codes": (field("classes", 2), "no classes"),
    "other columns": (field("n_features", 7), "fitted on 7 columns"),
    "names of other columns": (field("feature_names", ["a", "b", "c", "d"]), "not those of the plan"),
    "a frame of nobody": (field("frame", "excel"), "which is none of"),
    "an unknown parameter": (field("parameters", {"depth": 3}), "none of those of NetworkClassifier"),
    "a parameter out of range": (field("parameters", {"alpha": -1.0}), "alpha"),
    "a field too many": (field("secret", 1), "its document holds"),
    "no columns": (field("columns", []), "no column"),
    "rows that do not sum to one": (numbers(moved), "sum"),
    "a number too few": (numbers(lambda tables: tables[:-1]), "numbers, and not"),
    "negative probabilities": (numbers(lambda tables: -tables), "its|negative|probabilit"),
    "nothing but NaN": (numbers(lambda tables: tables * np.nan), "."),
    "tables of integers": (numbers(lambda tables: np.zeros(len(tables), dtype=np.int64)), "int64"),
    "an array too many": (lambda document, arrays: arrays.update(more=np.zeros(3)), "its arrays are"),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "model.bayes"
    frame, labels = table()
    save(NetworkClassifier().fit(frame, labels), path)
    return unpacked(path.read_bytes())


@pytest.mark.parametrize("name", FORGERIES)
def test_what_no_fit_makes_is_refused(name, honest, tmp_path):
    change, told = FORGERIES[name]
    header, arrays = copy.deepcopy(honest)
    change(header, arrays)
    path = tmp_path / "model.bayes"
    path.write_bytes(forged(header, arrays))
    with pytest.raises(ModelFileError, match=told):
        load(path)
