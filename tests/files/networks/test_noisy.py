"""Noisy-MAX and noisy-OR against the definition: every cause acts on its own, and the strongest effect shows."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bayeswater.errors import NetworkFileError
from bayeswater.files.networks import dsl, xdsl
from bayeswater.files.networks.document import NetworkDocument, NodeDocument, WrittenNoisyOr

HEAD = """<smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="on" /><state id="off" /><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="b"><state id="no" /><state id="some" /><state id="all" /><probabilities>0.5 0.25 0.25</probabilities></cpt>
"""
TAIL = "</nodes></smile>"
MAX = """<noisymax id="m"><state id="high" /><state id="low" /><state id="none" /><parents>a b</parents>
<strengths>0 1 2 1 0</strengths>
<parameters>0.5 0.25 0.25 0 0 1  0.125 0.5 0.375 0.25 0.25 0.5 0 0 1  0.0625 0.0625 0.875</parameters></noisymax>
"""
OR = """<noisymax id="o"><state id="true" /><state id="false" /><parents>a c</parents>
<strengths>0 1 1 0</strengths><parameters>0.75 0.25 0 1 0.5 0.5 0 1 0.125 0.875</parameters></noisymax>
<cpt id="c"><state id="x" /><state id="y" /><probabilities>1 0</probabilities></cpt>
"""
EXACT = [Fraction(n, 16) for n in (8, 4, 4, 0, 0, 16, 2, 8, 6, 4, 4, 8, 0, 0, 16, 1, 1, 14)]


def test_noisy_max_is_written_out_as_the_strongest_of_independent_effects():
    network = xdsl.read(HEAD + MAX + TAIL, "n.xdsl")
    (node,) = [node for node in network.nodes if node.name == "m"]
    columns = [EXACT[k : k + 3] for k in range(0, 18, 3)]
    of_a = {0: columns[0], 1: columns[1]}
    of_b = {2: columns[2], 1: columns[3], 0: columns[4]}  # in the order of their strengths: all, some, no
    for a, b in product(range(2), range(3)):
        expected = [Fraction(0)] * 3
        for effects in product(range(3), repeat=3):
            chance = of_a[a][effects[0]] * of_b[b][effects[1]] * columns[5][effects[2]]
            expected[min(effects)] += chance  # the first state is the strongest
        assert node.table[a, b].tolist() == list(map(float, expected))  # sixteenths: no rounding
    assert node.kind == "noisy_max"
    assert node.noisy_max.ranking == ((0, 1), (2, 1, 0))
    assert network.notes == ()


def test_noisy_max_of_two_states_is_kept_as_a_noisy_or():
    network = xdsl.read(HEAD + OR + TAIL, "n.xdsl")
    node = network.nodes[2]
    assert node.kind == "noisy_or"
    assert node.noisy_or == WrittenNoisyOr(effect=0, cause=(0, 1), link=(0.75, 0.5), leak=0.125)
    for a, c in product(range(2), range(2)):
        fails = Fraction(7, 8) * (Fraction(1, 4) if a == 0 else 1) * (Fraction(1, 2) if c == 1 else 1)
        assert node.table[a, c].tolist() == [float(1 - fails), float(fails)]
    assert network.notes == ()


def test_a_cause_that_does_nothing_in_either_state_keeps_the_one_that_is_named_first():
    text = OR.replace("0.75 0.25", "0 1").replace("0.5 0.5", "0 1")
    node = xdsl.read(HEAD + text + TAIL, "n.xdsl").nodes[2]
    assert node.noisy_or == WrittenNoisyOr(effect=0, cause=(0, 1), link=(0.0, 0.0), leak=0.125)


def test_a_cause_that_always_does_something_makes_no_noisy_or():
    network = xdsl.read(HEAD + OR.replace("0.75 0.25 0 1", "0.75 0.25 0.5 0.5") + TAIL, "n.xdsl")
    node = network.nodes[2]
    assert (node.kind, node.noisy_or) == ("noisy_max", None)
    assert node.table[1, 0].tolist() == [1 - 0.5 * 0.875, 0.5 * 0.875]


def test_the_effect_may_be_the_second_state():
    one, other = WrittenNoisyOr(0, (0,), (0.75,), 0.125), WrittenNoisyOr(1, (0,), (0.75,), 0.125)
    assert np.array_equal(one.table(), other.table()[:, ::-1])


@pytest.mark.parametrize("module", [xdsl, dsl])
def test_a_noisy_max_and_the_ranking_of_its_causes_are_kept(module):
    network = xdsl.read(HEAD + MAX + TAIL, "n.xdsl")
    again = module.read(module.write(network).text, "n")
    assert again.nodes == network.nodes


def test_a_small_link_keeps_its_digits():
    assert WrittenNoisyOr(0, (0,), (1e-20,), 0.0).table()[0, 0] == 1e-20


def written_with(table) -> str:
    rule = WrittenNoisyOr(0, (0,), (0.3,), 0.1)
    cause = NodeDocument("a", ("x", "y"), (), np.array([0.5, 0.5]))
    effect = NodeDocument("b", ("x", "y"), ("a",), table(rule.table()), "noisy_or", (), rule)
    return xdsl.write(NetworkDocument("n", (cause, effect))).text


def test_a_noisy_or_whose_table_was_rounded_in_another_order_is_written_and_one_with_another_table_is_not():
    assert "noisymax" in written_with(lambda table: np.nextafter(table, 0.5))
    with pytest.raises(NetworkFileError, match="is said to be a noisy-OR, and its table is not the one that follows"):
        written_with(lambda table: table[::-1])


@pytest.mark.parametrize(
    ("old", "new", "at", "problem"),
    [
        ("0 1 2 1 0<", "0 1 2 1<", "5:19", "needs 5 strengths, and 4 are given"),
        ("0 1 2 1 0<", "0 1 2 1 1<", "5:16", "the strengths of 'b' have to be the numbers of its states"),
        ("<strengths>0 1 2 1 0</strengths>", "", "4:1", "has no <strengths>"),
        ("0.0625 0.0625 0.875", "0.0625 0.875", "6:83", "needs 18 numbers, and 17 are given"),
        ("0.5 0.25 0.25 0 0 1  0", "0.5 0.25 0.5 0 0 1  0", "6:13", "sums to 1.25"),
    ],
)
def test_noisy_max_with_wrong_numbers_is_refused(old, new, at, problem):
    with pytest.raises(NetworkFileError) as caught:
        xdsl.read(HEAD + MAX.replace(old, new) + TAIL, "n.xdsl")
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"n.xdsl:{at}: ")
