"""What is printed for people: names as they are, and never as the markup of the library that prints them."""

import pytest

from bayeswater import BayesianNetwork

FIRST, SECOND, STATE = "pay[b]", "is[/i]", ":heart: [red]"
YES_NO = {"yes": 0.5, "no": 0.5}
OTHER = {STATE: 0.5, "no": 0.5}


@pytest.fixture
def paths(tmp_path):
    there = BayesianNetwork([(FIRST, SECOND)], {FIRST: OTHER, SECOND: {STATE: YES_NO, "no": YES_NO}})
    back = BayesianNetwork([(SECOND, FIRST)], {SECOND: YES_NO, FIRST: {"yes": OTHER, "no": OTHER}})
    there.write(tmp_path / "there.bif")
    back.write(tmp_path / "back.bif")
    (tmp_path / "rows.csv").write_text(f"{FIRST},{SECOND}\n{STATE},yes\nno,no\n")
    return {name: tmp_path / name for name in ("there.bif", "back.bif", "rows.csv")}


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("inspect", "there.bif", "--column", SECOND), (f"P({SECOND} | {FIRST})", STATE)),
        (("query", "there.bif", f"P('{SECOND}' | '{FIRST}'='{STATE}')"), (f"| '{FIRST}'=':heart:", "[red]", SECOND)),
        (("compare-structures", "there.bif", "back.bif"), (f"{FIRST} -> {SECOND}",)),
        (("score", "there.bif", "rows.csv"), (FIRST, SECOND)),
    ],
)
def test_names_are_printed_as_they_are(run, paths, arguments, shown):
    answer = run(*(paths.get(word, word) for word in arguments))
    assert answer.code == 0, answer.err
    for name in shown:
        assert name in answer.out


def test_structures_without_a_difference_need_no_table(run, paths):
    answer = run("compare-structures", paths["there.bif"], paths["there.bif"])
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("1 arc in both; structural Hamming distance 0")
    assert answer.out.endswith("they are equivalent\n")
