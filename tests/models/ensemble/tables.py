"""A mixed table with holes, drawn anew for every test that asks for it, and the little ensembles that learn from it."""

import numpy as np
import pandas as pd

FEW = {"aode": 2, "trees-sqrt": 3, "trees-all": 2}
"""Members that make a test quick."""

ONE = {"aode": 1, "trees-sqrt": 1, "trees-all": 1}


def mixed_frame(n_rows=240, seed=0):
    """Numbers (one with holes), categories (one with holes), a flag, and three classes that depend on them."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_rows)
    frame = pd.DataFrame(
        {
            "height": rng.normal(code, 1.0),
            "width": rng.normal(-code, 1.5),
            "colour": pd.Categorical(
                np.array(["red", "green", "blue", "grey"])[(code + rng.integers(0, 2, n_rows)) % 4]
            ),
            "shape": np.array(["round", "square"], dtype=object)[(rng.random(n_rows) < 0.2 + 0.25 * code).astype(int)],
            "new": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "width"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "shape"] = None
    return frame, np.array(["low", "mid", "top"])[code]
