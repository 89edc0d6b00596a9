"""`Graph`: nodes and constants of an ONNX graph, as they are put together."""

from typing import Any

import numpy as np

from bayeswater.exports.form import ScoringForm


class Graph:
    """Nodes and constants; every operation gives the name of what it makes."""

    def __init__(self, form: ScoringForm) -> None:
        from onnx import helper, numpy_helper

        self.form, self.helper, self.of_array = form, helper, numpy_helper.from_array
        self.nodes: list[Any] = []
        self.held: list[Any] = []
        self.inputs: list[Any] = []
        self.refused: list[str] = []
        self.known: list[str] = []

    def constant(self, values: Any) -> str:
        """Hold an array; whole numbers are int64, others double."""
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        name = f"bayeswater/held {len(self.held)}"
        self.held.append(self.of_array(array, name))
        return name

    def __call__(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Apply an operator to names of tensors and to constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        output = f"bayeswater/{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, names, [output], domain=domain, **attributes))
        return output

    def cast(self, value: str, kind: str) -> str:
        """Turn numbers into "DOUBLE" or "INT64"."""
        from onnx import TensorProto

        return self("Cast", value, to=getattr(TensorProto, kind))

    def reduce(self, operator: str, value: str, axis: int, keepdims: int = 0) -> str:
        """Reduce along an axis; sums take it as an input, and others as an attribute."""
        if operator == "ReduceSum":
            return self(operator, value, np.array([axis]), keepdims=keepdims)
        return self(operator, value, axes=[axis], keepdims=keepdims)

    def total(self, values: list[str]) -> str:
        """Add tensors."""
        return values[0] if len(values) == 1 else self("Sum", *values)

    def at(self, value: str, axis: int) -> str:
        """Put in an axis."""
        return self("Unsqueeze", value, np.array([axis]))

    def known_share(self, known: str, usual: float, others: tuple[int, ...]) -> str:
        """Say how much a row with so many known cells has of what holds for a usual one."""
        share = self.cast(self("Greater", known, np.array(0.0)), "DOUBLE")
        for o in others:
            part = self("Div", self("Max", self("Sub", known, np.array(float(o))), np.array(0.0)), np.array(usual - o))
            share = self("Mul", share, part)
        return share
