"""A small twin of UCI's cars: all cars there are, judged by a rule."""

from itertools import product

import numpy as np
import pandas as pd

CARS = pd.DataFrame(
    [*product(("high", "low", "med"), ("2", "4", "more"), ("big", "small"), ("high", "low", "med"))],
    columns=["price", "seats", "boot", "safety"],
)


def verdict(price: str, seats: str, boot: str, safety: str) -> str:
    if seats == "2" or safety == "low":
        return "no"
    if price == "high":
        return "yes" if safety == "high" and boot == "big" else "no"
    return "good" if price == "low" and safety == "high" else "yes"


VERDICTS = np.array([verdict(*row) for row in CARS.itertuples(index=False)])
