"""Tables of probabilities: what is kept, what is normalised, what is refused, and how it is told.

Noisy-OR and rules, against the sum over causes that act or fail, and the laws they must obey.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.networks.conditionals import Deterministic, checked_table, require_room
from bayeswater.networks.noisy_causes import NoisyOr

SMOKE, CITY = Variable("smoke", ("yes", "no")), Variable("city", ("big", "small", "none"))
CANCER = Variable("cancer", ("yes", "no"))


def test_a_row_that_sums_to_one_but_for_rounding_is_kept_bit_for_bit():
    values = np.array([[0.1, 0.9], [1 / 3, 2 / 3 + 5e-13]])
    checked = checked_table(values, CANCER, [SMOKE])
    assert np.array_equal(checked.table, values)
    assert checked.drift == 0


def test_a_row_that_has_drifted_is_divided_by_its_sum_and_no_other_is_touched():
    values = np.array([[0.1, 0.9], [0.3333333, 0.6666666]])
    checked = checked_table(values, CANCER, [SMOKE])
    assert np.array_equal(checked.table[0], values[0])
    assert np.array_equal(checked.table[1], values[1] / (values[1, 0] + values[1, 1]))
    assert checked.drift == pytest.approx(1e-7)


def test_dividing_by_the_sum_is_done_once():
    once = checked_table([[0.1, 0.9], [0.3333333, 0.6666666]], CANCER, [SMOKE]).table
    again = checked_table(once, CANCER, [SMOKE])
    assert np.array_equal(again.table, once)
    assert again.drift == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1, 0.9], [0.2, 0.81]], r"P\(cancer \| smoke='no'\) sums to 1.01, and not to 1"),
        ([[0.1, 0.9], [-0.2, 1.2]], r"P\(cancer='yes' \| smoke='no'\) is -0.2; probabilities are finite"),
        ([[0.1, np.nan], [0.2, 0.8]], r"P\(cancer='no' \| smoke='yes'\) is nan"),
        ([[0.1, np.inf], [0.2, 0.8]], r"P\(cancer='no' \| smoke='yes'\) is inf"),
        ([[np.inf, -np.inf], [0.2, 0.8]], r"P\(cancer='yes' \| smoke='yes'\) is inf"),
        ([[1e308, 1e308], [0.2, 0.8]], r"P\(cancer \| smoke='yes'\) sums to inf"),
        ([0.1, 0.9], r"has shape \(2,\), and should have \(2, 2\) for the parents \['smoke'\]"),
        ([[0.1, 0.9, 0.0], [0.2, 0.8, 0.0]], r"has shape \(2, 3\), and should have \(2, 2\)"),
        ("half", "is no array of numbers"),
        ([[0.1, 0.9], [1.0]], "is no array of numbers"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_place(values, message):
    with pytest.raises(ParameterError, match=message):
        checked_table(values, CANCER, [SMOKE])


def test_the_states_of_all_parents_are_named():
    table = np.full((2, 3, 2), 0.5)
    table[1, 2] = 0.4
    with pytest.raises(ParameterError, match=r"P\(cancer \| smoke='no', city='none'\) sums to 0.8"):
        checked_table(table, CANCER, [SMOKE, CITY])


def test_a_root_has_one_row():
    with pytest.raises(ParameterError, match=r"P\(cancer\) sums to 0.9, and not to 1; the states are \['yes', 'no'\]"):
        checked_table([0.1, 0.8], CANCER, [])
    with pytest.raises(ParameterError, match=r"and should have \(2,\) \(it has no parents\)"):
        checked_table([[0.1, 0.9]], CANCER, [])


def test_a_table_cannot_be_written_to_and_is_a_copy():
    values = np.array([0.5, 0.5])
    table = checked_table(values, CANCER, []).table
    values[0] = 1.0
    assert table.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1.0


def test_there_is_one_zero():
    assert np.signbit(checked_table([-0.0, 1.0], CANCER, []).table).tolist() == [False, False]


def test_a_table_that_no_memory_holds_is_refused_before_it_is_made():
    with pytest.raises(ResourceLimitError, match="table of 'cancer' given its 40 parents would take"):
        require_room(CANCER, [SMOKE] * 40)


def test_thirds_of_six_digits_are_a_millionth_off_and_no_more():
    variable = Variable("a", ("x", "y", "z"))
    assert checked_table([0.333333] * 3, variable, []).table.tolist() == [1 / 3] * 3
    with pytest.raises(ParameterError, match=r"sums to 0\.9999989"):
        checked_table([0.333333, 0.333333, 0.3333329], variable, [])


FEVER = Variable("fever", ("no", "yes"))
FLU = Variable("flu", ("yes", "no"))
COLD = Variable("cold", ("none", "light", "heavy"))


def absent_by_enumeration(strengths: list[Fraction], leak: Fraction) -> Fraction:
    """Sum over which of the causes, and of the leak, act: the effect is absent where none does."""
    total = Fraction(0)
    for acts in product((False, True), repeat=len(strengths) + 1):
        p = Fraction(1)
        for acting, strength in zip(acts, [leak, *strengths], strict=True):
            p *= strength if acting else 1 - strength
        total += p * (not any(acts))
    return total


def test_noisy_or_is_the_sum_over_all_causes_that_act_or_fail():
    strength = {"flu": {"yes": Fraction(3, 4)}, "cold": {"light": Fraction(1, 4), "heavy": Fraction(1, 2)}}
    leak = Fraction(1, 8)
    given = {name: {state: float(p) for state, p in by_state.items()} for name, by_state in strength.items()}
    rule = NoisyOr(given, leak=float(leak)).bound(FEVER, [FLU, COLD])
    table = rule.table(FEVER, [FLU, COLD])
    for i, flu in enumerate(FLU.states):
        for j, cold in enumerate(COLD.states):
            acting = [strength["flu"].get(flu, Fraction(0)), strength["cold"].get(cold, Fraction(0))]
            absent = absent_by_enumeration(acting, leak)
            # One rounding for each product and sum.
            assert table[i, j] == pytest.approx([float(absent), float(1 - absent)], rel=1e-15, abs=0)
    assert rule.n_parameters(FEVER, [FLU, COLD]) == 4


def test_a_number_is_the_strength_of_the_state_that_is_called_as_the_effect():
    parents = [FLU]
    short, long = NoisyOr({"flu": 0.3}), NoisyOr({"flu": {"yes": 0.3}})
    assert np.array_equal(short.bound(FEVER, parents).table(FEVER, parents), long.table(FEVER, parents))


def test_a_small_strength_keeps_its_digits():
    table = NoisyOr({"flu": 1e-20}).bound(FEVER, [FLU]).table(FEVER, [FLU])
    assert table[0, 1] == 1e-20


def test_a_cause_that_never_fails_leaves_no_doubt():
    table = NoisyOr({"flu": 1.0}, leak=0.5).bound(FEVER, [FLU]).table(FEVER, [FLU])
    assert table.tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_a_noisy_or_keeps_its_numbers_though_the_dict_it_came_from_changes():
    given = {"flu": {"yes": 0.25}}
    rule = NoisyOr(given).bound(FEVER, [FLU])
    before = rule.table(FEVER, [FLU]).tolist()
    given["flu"]["yes"] = 0.75
    given["cold"] = 0.5
    assert rule.table(FEVER, [FLU]).tolist() == before
    assert rule == NoisyOr({"flu": {"yes": 0.25}})


def test_without_causes_the_leak_remains():
    assert NoisyOr({}, leak=0.25).bound(FEVER, []).table(FEVER, []).tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (NoisyOr({"flu": 0.5}), r"names the parents \['flu'\], and they are \['cold', 'flu'\]"),
        (
            NoisyOr({"flu": 0.5, "cold": 0.5}),
            r"names the state 'yes' of 'cold', which has \['none', 'light', 'heavy'\]",
        ),
        (NoisyOr({"flu": 1.5, "cold": {}}), "the strength of flu='yes' .* is 1.5; it is a probability"),
        (NoisyOr({"flu": 0.5, "cold": {}}, leak=-1), "the leak of .* is -1; it is a probability"),
        (NoisyOr({"flu": 0.5, "cold": {}}, present="ja"), "one of them present='ja'"),
    ],
)
def test_a_noisy_or_that_does_not_fit_is_refused(rule, message):
    with pytest.raises(ParameterError, match=message):
        rule.bound(FEVER, [FLU, COLD])


def test_a_noisy_or_of_too_many_causes_is_refused_before_it_is_written_out():
    causes = [Variable(f"c{j}", ("no", "yes")) for j in range(40)]
    with pytest.raises(ResourceLimitError, match=r"would take .*; divide the causes"):
        NoisyOr({cause.name: 0.5 for cause in causes}).bound(FEVER, causes)


def test_a_noisy_or_of_sixteen_causes_has_seventeen_parameters():
    causes = [Variable(f"c{j}", ("no", "yes")) for j in range(16)]
    rule = NoisyOr({cause.name: 0.5 for cause in causes}).bound(FEVER, causes)
    assert rule.n_parameters(FEVER, causes) == 17
    assert rule.table(FEVER, causes).shape == (2,) * 17


def test_rules_of_every_form_say_the_same():
    function = Deterministic(lambda flu, cold: "yes" if flu == "yes" and cold != "none" else "no")
    mapping = Deterministic(
        {(a, b): "yes" if a == "yes" and b != "none" else "no" for a in FLU.states for b in COLD.states}
    )
    codes = Deterministic(np.array([[0, 1, 1], [0, 0, 0]]))
    bound = [rule.bound(FEVER, [FLU, COLD]) for rule in (function, mapping, codes)]
    assert bound[0] == bound[1] == bound[2]
    table = bound[0].table(FEVER, [FLU, COLD])
    assert table[..., 1].tolist() == [[0, 1, 1], [0, 0, 0]]
    assert (table.sum(axis=-1) == 1).all()
    assert bound[0].n_parameters(FEVER, [FLU, COLD]) == 0


def test_one_parent_may_be_named_without_a_tuple():
    rule = Deterministic({"yes": "yes", "no": "no"}).bound(FEVER, [FLU])
    assert np.asarray(rule.rule).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda flu, cold: "maybe", r"gives 'maybe' where its parents are \('yes', 'none'\)"),
        ({("yes", "none"): "no"}, r"gives None where its parents are \('yes', 'light'\)"),
        (np.array([0, 1]), r"has shape \(2,\) and dtype int64; give the codes 0 to 1"),
        (np.full((2, 3), 2), "give the codes 0 to 1"),
        (np.full((2, 3), 0.5), "dtype float64"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(rule, message):
    with pytest.raises(ParameterError, match=message):
        Deterministic(rule).bound(FEVER, [FLU, COLD])
