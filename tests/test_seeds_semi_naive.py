"""What the study notes say of one-dependence estimators, row by row: S16, S17, S18, S34."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from bayeswater import AODE, SPODE, TAN
from bayeswater.structure.mutual_information import conditional_mutual_information

MELONS = pd.DataFrame(
    {
        "colour": ["green", "black", "black", "green", "white", "green", "black", "black", "white", "white"],
        "root": ["curled", "curled", "curled", "bent", "bent", "stiff", "bent", "curled", "stiff", "curled"],
        "sound": ["dull", "dead", "dull", "dull", "crisp", "crisp", "dead", "dull", "crisp", "dead"],
    }
)
IS_RIPE = np.array(["yes", "yes", "yes", "yes", "no", "no", "no", "yes", "no", "no"])
ROW = pd.DataFrame({"colour": ["green"], "root": ["curled"], "sound": ["dull"]})
STATES = 3  # of every column


def count(label, **cells):
    """Rows of a class with some cells."""
    is_there = np.ones(len(IS_RIPE), dtype=bool) if label is None else label == IS_RIPE
    for column, cell in cells.items():
        is_there &= (MELONS[column] == cell).to_numpy()
    return int(is_there.sum())


def spode(label, parent):
    """P(c, x_i) prod over j != i of P(x_j | c, x_i), Laplace: both sum to one over all their cells."""
    cell = {parent: ROW[parent][0]}
    share = Fraction(count(label, **cell) + 1, len(IS_RIPE) + 2 * STATES)
    for child in MELONS.columns.drop(parent):
        together = count(label, **cell, **{child: ROW[child][0]})
        share *= Fraction(together + 1, count(label, **cell) + STATES)
    return share


def test_s16_every_column_depends_on_one_super_parent():
    for parent in MELONS:
        model = SPODE(parent, smoothing="laplace").fit(MELONS, IS_RIPE)
        expected = [float(spode(label, parent)) for label in ("no", "yes")]
        assert_allclose(np.exp(model.predict_joint_log_proba(ROW)[0]), expected, rtol=1e-13)


def test_s17_the_tree_has_the_largest_conditional_mutual_information_and_grows_from_its_root():
    model = TAN(root="sound").fit(MELONS, IS_RIPE)
    information = conditional_mutual_information(model.statistics_.columns.groups["pairs"])
    weight = dict(zip(combinations(MELONS.columns, 2), information[np.triu_indices(3, 1)], strict=True))
    best = max(combinations(weight, 2), key=lambda edges: sum(weight[edge] for edge in edges))
    found = {tuple(sorted((child, parent))) for child, parent in model.parents_.items() if parent is not None}
    assert found == {tuple(sorted(edge)) for edge in best}
    assert model.parents_["sound"] is None
    # The class is a parent of every column.
    assert model.network_tables().parents[1:] == ((0, 2), (0, 3), (0,))


def test_s18_spodes_with_enough_rows_behind_their_parent_are_averaged():
    # Of the cells of the row, "green" was seen 3 times, "curled" 5 times, "dull" 4 times.
    for least, parents in ((1, ["colour", "root", "sound"]), (4, ["root", "sound"]), (5, ["root"])):
        model = AODE(min_support=least, smoothing="laplace").fit(MELONS, IS_RIPE)
        expected = [float(sum(spode(label, parent) for parent in parents) / len(parents)) for label in ("no", "yes")]
        assert_allclose(np.exp(model.predict_joint_log_proba(ROW)[0]), expected, rtol=1e-13)


def test_s34_parents_can_be_given():
    model = TAN(parents={"root": "colour", "sound": "root"}, smoothing="laplace").fit(MELONS, IS_RIPE)
    assert model.parents_ == {"colour": None, "root": "colour", "sound": "root"}
    expected = [
        Fraction(count(label) + 1, len(IS_RIPE) + 2)
        * Fraction(count(label, colour="green") + 1, count(label) + STATES)
        * Fraction(count(label, colour="green", root="curled") + 1, count(label, colour="green") + STATES)
        * Fraction(count(label, root="curled", sound="dull") + 1, count(label, root="curled") + STATES)
        for label in ("no", "yes")
    ]
    assert_allclose(np.exp(model.predict_joint_log_proba(ROW)[0]), [float(share) for share in expected], rtol=1e-13)
