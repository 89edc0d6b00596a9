"""Equations of XDSL: what is linear is read, what is not is refused."""

import pytest

from bayeswater.files.networks.equations import EquationError, Linear, read_equation, written_equation

STATES = {"s": ["no", "yes"], "t": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "codes", "expected"),
    [
        ("y=1+2*x", {}, Linear(1.0, {"x": 2.0})),
        ("y = -(x - 3) / 2 + 2*Normal(1, 0.5)", {}, Linear(3.5, {"x": -0.5}, 1.0)),
        ("Normal(2*x + z, 3)", {}, Linear(0.0, {"x": 2.0, "z": 1.0}, 9.0)),
        ("y=Choose(s, 1, Choose(t, x, 2.5e-1))", {"s": 1, "t": 1}, Linear(0.25)),
        ('y=Switch(s, "yes", 5, 6)', {"s": 0}, Linear(6.0)),
        ('y=Switch(s, "yes", 5, 6)', {"s": 1}, Linear(5.0)),
        ('y=If(t="b", x, 1) + 1', {"t": 1}, Linear(1.0, {"x": 1.0})),
    ],
)
def test_linear_equations_are_read(text, codes, expected):
    assert read_equation(text, STATES, ["x", "z"])(codes) == expected


@pytest.mark.parametrize(
    "text",
    ["y=x*z", "y=1/x", "y=Exp(x)", "y=Normal(0,x)", "y=1+", "y=w", "y=x x", "y=(1", "y=x^2", "y=Choose(s,1)", "("],
)
def test_others_are_refused_with_the_reason(text):
    with pytest.raises(EquationError):
        read_equation(text, STATES, ["x", "z"])({"s": 1, "t": 0})


def test_what_is_written_is_read_again():
    lines = [Linear(0.1, {"x": -1 / 3}, 2.25), Linear(-5.0, {"x": 1e-17}), Linear(0.0), Linear(1.0, {"x": 2.0}, 4.0)]
    text = written_equation("y", lines, [("s", 2), ("t", 2)])
    found = read_equation(text, STATES, ["x"])
    for k, line in enumerate(lines):
        assert found({"s": k // 2, "t": k % 2}) == line


def test_deep_nesting_is_refused_in_words():
    for text in ("(" * 5000 + "1", "-" * 5000 + "1"):
        with pytest.raises(EquationError, match="deep"):
            read_equation(text, {}, [])({})
