"""How often `drift` calls two sets of rows of one law changed, and how often it finds a shift: simulated.

Each pair has two sets of rows of as many columns as the table says, in classes of equal size; one column is shifted by
.3 deviations, or .1 in a share of one half, in all classes. ``python -m benchmarks.false_alarms --pairs 500``
"""

import argparse

import numpy as np

from bayeswater import CategoricalNB, GaussianNB, drift

SETTINGS = ((40, 10, 2), (200, 10, 2), (200, 50, 5), *((1000, columns, k) for columns in (1, 10, 50) for k in (2, 5)))
"""Rows of each set, columns, classes."""


def changed(
    rng: np.random.Generator, setting: tuple[int, int, int], *, shares: bool, shifted: bool
) -> tuple[bool, bool]:
    """Draw a pair; tell whether anything was called changed, and whether the shifted column was."""
    n_rows, n_columns, n_classes = setting
    models = []
    for is_second in (False, True):
        move = shifted and is_second
        y = np.arange(n_rows) % n_classes
        if shares:
            chance = np.full(n_columns, 0.5)
            chance[0] += 0.1 * move
            X = (rng.random((n_rows, n_columns)) < chance).astype(np.int64)
            models.append(CategoricalNB(min_categories=2).fit(X, y))
        else:
            X = rng.normal(size=(n_rows, n_columns))
            X[:, 0] += 0.3 * move
            models.append(GaussianNB().fit(X, y))
    found = drift(*models)
    return found.has_changed, any(column.name == "x0" for column in found.changed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| law | rows | columns | classes | false alarms | shifts found |\n|---|---|---|---|---|---|")
    for shares in (False, True):
        for setting in SETTINGS:
            rng = np.random.default_rng((asked.seed, shares, *setting))
            false = np.mean([changed(rng, setting, shares=shares, shifted=False)[0] for _ in range(asked.pairs)])
            found = np.mean([changed(rng, setting, shares=shares, shifted=True)[1] for _ in range(asked.pairs // 2)])
            law = "states" if shares else "normal"
            print(f"| {law} | {setting[0]} | {setting[1]} | {setting[2]} | {false:.3f} | {found:.2f} |", flush=True)


if __name__ == "__main__":
    main()
