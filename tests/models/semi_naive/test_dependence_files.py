"""Model files of KDB, SKDB and A2DE: what is loaded is what was saved, and what no fit makes is refused."""

import copy

import numpy as np
import pandas as pd
import pytest
from tests.files.hostile import forged, unpacked
from tests.models.same_model import reloaded, require_same_model
from tests.models.semi_naive.saved_models import array, cell, field, require_kept, require_refused, table

from bayeswater import A2DE, KDB, SKDB, ModelFileError, load, save


@pytest.mark.parametrize(
    "model",
    [
        KDB(),
        KDB(3, smoothing="m-estimate", missing="state", calibrate=True),
        KDB(parents={"size": ["colour", "grade"]}, theta=0.1),
        SKDB(),
        SKDB(2, class_free=0.0, calibrate=True),
        A2DE(),
        A2DE(min_support=2, calibrate=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", [None, "fractions"])
def test_a_model_that_was_saved_is_loaded_to_the_bit_and_goes_on(model, weights, tmp_path):
    require_kept(model, weights, tmp_path / "model.bayes")


@pytest.mark.parametrize("model", [KDB(), SKDB(), A2DE()], ids=str)
@pytest.mark.parametrize("columns", [["colour"], ["colour", "grade"]])
def test_models_of_few_columns_are_loaded(model, columns, tmp_path):
    frame, labels = table()
    model = model.fit(frame[columns], labels)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, frame[columns])


def test_a_column_of_many_states_is_loaded(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical([f"v{i % 300}" for i in range(900)]), "b": ["x", "y", "z"] * 300})
    model = KDB().fit(frame, np.arange(900) % 2)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, frame)


COUNT, CELL, START, SQUARED = ("columns.families." + name for name in ("count", "cell", "start", "squared"))
TRIPLES = "columns.pairs.triples"
PARENTS = {"size": ["colour", "grade"]}

FORGERIES = {
    "a count of a family": (KDB, "do not add up|not as often|as often as", cell(COUNT, (0, 0), 99)),
    "a negative count": (KDB, "never negative", cell(COUNT, (0, 0), -1)),
    "a cell beyond its domain": (KDB, "beyond its domain", cell(CELL, (0, 0), 200)),
    "a cell of a fraction": (KDB, "beyond its domain", array(CELL, lambda cells: cells + 0.5)),
    "cells in another order": (KDB, "not in the order", array(CELL, lambda cells: cells[::-1].copy())),
    "families that start elsewhere": (KDB, "start does not cut", cell(START, 0, 1)),
    "counts of floats": (KDB, "count has shape", array(COUNT, lambda count: count.astype(np.float64))),
    "squared weights of too few classes": (KDB, "squared has shape", array(SQUARED, lambda squared: squared[1:])),
    "squared weights of floats": (KDB, "squared has shape", array(SQUARED, lambda squared: squared * 0.5)),
    "no cells": (KDB, "its arrays are", lambda document, arrays: arrays.pop(CELL)),
    "no families": (
        KDB,
        "it has sums of",
        lambda document, arrays: [arrays.pop(name) for name in (COUNT, CELL, START, SQUARED)],
    ),
    "parents of nobody": (KDB, "its parents", field("parents", [[0], [9], [], []])),
    "parents that are no numbers": (KDB, "its parents", field("parents", [["0"], [], [], []])),
    "parents of too few": (KDB, "its parents", field("parents", [[]])),
    "a column that is its own parent": (KDB, "parents", field("parents", [[], [1, 3], [], []])),
    "other parents": (KDB, "beyond its domain|does not meet|not in the order", field("parents", [[], [3, 0], [], []])),
    "parents too many": (KDB, "has shape|beyond|not in", field("parents", [[], [0, 2, 3], [], []])),
    "a structure of KDB": (KDB, "its structure is", field("structure", {"tuple": [1, {"tuple": ["size"]}]})),
    "no structure of SKDB": (SKDB, "its structure is", field("structure", None)),
    "a structure without a parent": (SKDB, "its structure is", field("structure", {"tuple": [1, {"tuple": ["size"]}]})),
    "more parents than counted": (SKDB, "its structure is", field("structure", {"tuple": [3, {"tuple": []}]})),
    "a flag of parents": (SKDB, "its structure is", field("structure", {"tuple": [True, {"tuple": []}]})),
    "columns of nobody": (SKDB, "its structure is", field("structure", {"tuple": [1, {"tuple": ["os"]}]})),
    "a column twice": (SKDB, "its structure is", field("structure", {"tuple": [0, {"tuple": ["colour", "colour"]}]})),
    "a triple": (A2DE, "triples of columns .* do not add up", cell(TRIPLES, (0, 0), 99)),
    "triples too few": (A2DE, "triples has shape", array(TRIPLES, lambda triples: triples[1:])),
    "no triples": (A2DE, "triples has shape", lambda document, arrays: arrays.pop(TRIPLES)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_file_that_no_fit_makes_is_refused(name, tmp_path):
    kind, words, change = FORGERIES[name]
    model = kind() if kind is A2DE else kind(parents=PARENTS)
    require_refused(model, change, words, tmp_path / "model.bayes")


def test_parents_that_go_round_are_refused(tmp_path):
    path = tmp_path / "model.bayes"
    frame, labels = table()
    pair = frame[["colour", "flag"]]
    save(KDB(parents={"colour": ["flag"]}).fit(pair, labels), path)
    document, arrays = copy.deepcopy(unpacked(path.read_bytes()))
    save(KDB(parents={"flag": ["colour"]}).fit(pair, labels), path)
    _, turned = copy.deepcopy(unpacked(path.read_bytes()))
    # The family of "colour" is taken from the one file, that of "flag" from the other: all counts are those of rows.
    first, second = arrays[START][1], turned[START][1]
    document["parents"] = [[1], [0]]
    arrays[START] = np.array([0, first, first + len(turned[COUNT]) - second])
    arrays[CELL] = np.concatenate([arrays[CELL][:first], turned[CELL][second:]])
    arrays[COUNT] = np.concatenate([arrays[COUNT][:first], turned[COUNT][second:]])
    path.write_bytes(forged(document, arrays))
    with pytest.raises(ModelFileError, match="its structure is"):
        load(path)
