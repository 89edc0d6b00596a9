"""One of the routes that rows can take, whatever it costs."""

import numpy as np

from bayeswater.inference.exact import forecast, marginals

ROUTES = ["logarithms", "one tree", "tree of a pattern", "rows one by one"]


def force_route(monkeypatch, route):
    """Let all rows with several missing cells take this route."""
    monkeypatch.setattr(marginals, "worth_compiling", lambda cells: route != "logarithms")
    monkeypatch.setattr(marginals, "NUMPY_CELLS", np.inf)
    by_pattern, by_row = route == "tree of a pattern", route == "rows one by one"
    costs = {
        "of_looking": by_pattern or by_row,
        "of_making": by_pattern,
        "of_passing": by_pattern,
        "of_single_rows": by_row,
    }
    for name, free in costs.items():
        monkeypatch.setattr(forecast, name, (lambda *_: -1.0) if free else (lambda *_: np.inf))
