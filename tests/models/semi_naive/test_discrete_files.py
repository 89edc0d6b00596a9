"""Model files of SPODE, TAN and AODE: what is loaded is what was saved, and what no fit makes is refused."""

import numpy as np
import pytest
from tests.models.same_model import reloaded, require_same_model
from tests.models.semi_naive.saved_models import array, cell, field, require_kept, require_refused, table

from bayeswater import AODE, SPODE, TAN


@pytest.mark.parametrize(
    "model",
    [
        AODE(),
        AODE(select=True, weighting="mi", calibrate=True),
        AODE(columns={"size": {"cuts": (0.0, 1.0)}}, missing="state", subsumption=20),
        SPODE(),
        SPODE("size"),
        TAN(),
        TAN(parents={"size": "colour"}),
        TAN(penalty="bic", calibrate=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", [None, "fractions"])
def test_a_model_that_was_saved_is_loaded_to_the_bit_and_goes_on(model, weights, tmp_path):
    require_kept(model, weights, tmp_path / "model.bayes")


def test_a_model_of_one_column_is_loaded(tmp_path):
    frame, labels = table()
    model = AODE().fit(frame[["colour"]], labels)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, frame[["colour"]])


def family(j, value):
    return lambda document, arrays: document["columns"][j]["Column"].__setitem__(2, value)


def states(j, value):
    return lambda document, arrays: document["states"][j]["Variable"].__setitem__(1, value)


PAIRS, TABLE = "columns.pairs.pairs", "columns.pairs.table"
SELECTED = {"tuple": [{"tuple": ["size"]}, {"tuple": ["weight"]}]}

FORGERIES = {
    "pairs that do not add up": ("do not add up to the counts of the columns", cell(PAIRS, (0, 0), 99)),
    "a count moved between pairs": (
        "do not add up to the counts of the columns",
        lambda document, arrays: arrays[PAIRS].__setitem__(slice(0, 2), arrays[PAIRS][[1, 0]]),
    ),
    "columns that do not add up": ("'colour' do not add up", cell(TABLE, (0, 0), 99)),
    "a negative pair": ("never negative", cell(PAIRS, (0, 0), -1)),
    "pairs too few": ("pairs has shape", array(PAIRS, lambda pairs: pairs[1:])),
    "pairs of floats": ("pairs has shape", array(PAIRS, lambda pairs: pairs.astype(np.float64))),
    "no pairs": ("pairs has shape", lambda document, arrays: arrays.pop(PAIRS)),
    "sums of nobody": ("it has sums of", array("columns.os.system", lambda _: np.zeros(1))),
    "a family without states": ("have no states", family(0, "gaussian")),
    "a column left out": ("it has states of", family(0, "ignored")),
    "a flag that is none": ("no flags", states(2, {"tuple": [0, 1]})),
    "a state too many": ("table has shape", states(0, {"tuple": ["blue", "green", "red"]})),
    "codes without end": ("table has shape", states(0, {"range": [0, 10**18, 1]})),
    "states left out": ("it has states of", field("states", [])),
    "a structure that was not asked for": ("its structure is", field("structure", "os.system")),
    "a structure of other columns": ("its structure is", field("structure", SELECTED)),
    "a structure of numbers": ("its structure is", field("structure", {"tuple": [1, 2]})),
    "an empty structure": ("its structure is", field("structure", {"tuple": [{"tuple": []}, {"tuple": []}]})),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_file_that_no_fit_makes_is_refused(name, tmp_path):
    words, change = FORGERIES[name]
    require_refused(AODE(), change, words, tmp_path / "model.bayes")


@pytest.mark.parametrize(("model", "structure"), [(SPODE(), None), (SPODE(), "weight"), (AODE(select=True), None)])
def test_a_choice_that_is_missing_is_refused(model, structure, tmp_path):
    require_refused(model, field("structure", structure), "its structure is", tmp_path / "model.bayes")
