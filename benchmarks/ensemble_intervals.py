"""Do intervals of 95 % of an ensemble's report hold the figures of new rows? Tables are drawn again and again.

linear:   300 rows, 8 numbers, log-odds linear in them
normal:   300 rows, 8 numbers, normal in each of 3 classes, with a covariance of its own
rules:    400 rows, 8 categories, a list of rules, a twentieth of the labels at random
rare:     1000 rows, 8 numbers, one row in twenty of the second class

The true error and log-loss of each model are those of 4000 new rows. Draws are written down in ensemble.json, and
ENSEMBLE.md tells of them.

    python -m benchmarks.ensemble_intervals
"""

import json
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bayeswater import BayesEnsemble, threads
from bayeswater.decision.scorecard import Scorecard
from benchmarks.accuracy import as_lines

N_DRAWS, N_NEW = 60, 4000

Rows = tuple[pd.DataFrame, np.ndarray]


def _linear(rng: np.random.Generator, n: int) -> Rows:
    numbers = rng.normal(size=(n, 8))
    odds = numbers @ np.linspace(-1.5, 1.5, 8)
    return pd.DataFrame(numbers).rename(columns=str), (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def _normal(rng: np.random.Generator, n: int) -> Rows:
    y, shape = rng.integers(0, 3, n), np.random.default_rng(0).normal(size=(3, 8, 8)) + 2 * np.eye(8)
    return pd.DataFrame(np.einsum("nij,nj->ni", shape[y], rng.normal(size=(n, 8)))).rename(columns=str), y


def _rules(rng: np.random.Generator, n: int) -> Rows:
    cells = rng.integers(0, 3, (n, 8))
    met = [(cells[:, :2] == 0).all(axis=1), (cells[:, 2:5] > 0).all(axis=1), cells[:, 5] == 1]
    y = np.where(rng.random(n) < 0.05, rng.integers(0, 3, n), np.select(met, [1, 2, 0], 1))
    return pd.DataFrame(cells.astype(str)).rename(columns=str).astype("category"), y


def _rare(rng: np.random.Generator, n: int) -> Rows:
    numbers = rng.normal(size=(n, 8))
    odds = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] - 3.5
    return pd.DataFrame(numbers).rename(columns=str), (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


TABLES: dict[str, tuple[Callable[[np.random.Generator, int], Rows], int]] = {
    "linear": (_linear, 300),
    "normal": (_normal, 300),
    "rules": (_rules, 400),
    "rare": (_rare, 1000),
}


def drawn(name: str, preset: str, draw: int) -> list[list[float]]:
    """Give the interval of the error and the true one, and those of the log-loss."""
    make, n_rows = TABLES[name]
    X, y = make(np.random.default_rng([draw, n_rows]), n_rows + N_NEW)
    columns = {column: "categorical" for column in X if not pd.api.types.is_numeric_dtype(X[column])}
    model = BayesEnsemble(preset, random_state=draw, columns=columns).fit(X[:n_rows], y[:n_rows])
    card = Scorecard.of(model.predict_log_proba(X[n_rows:]), np.searchsorted(model.classes_, y[n_rows:]))
    told = (model.report_.error, 1 - card.accuracy), (model.report_.log_loss, card.log_loss)
    return [[round(float(v), 6) for v in (figure.low, figure.high, true)] for figure, true in told]


def section(done: dict[str, Any]) -> Iterator[str]:
    """Tell how often the true figures were in their intervals; nothing where none were drawn."""
    found = {key: np.array(values) for key, values in done.items() if key.startswith("intervals|")}
    if not found:
        return
    yield from ["## The intervals of the report", "", " ".join(__doc__.split("\n\n")[0].split()), ""]
    yield from [f"- {' '.join(line.split())}" for line in __doc__.split("\n\n")[1].split("\n")]
    yield from ["", "Share of the draws whose true figure, of 4000 new rows, was in the interval of 95 %.", ""]
    yield from ["| table, preset | draws | error | log-loss |", "|---|---|---|---|"]
    names = dict.fromkeys(key.rpartition("|")[0] for key in found)
    for name in names:
        yield _row(name.removeprefix("intervals|").replace("|", ", "), [own for k, own in found.items() if name in k])
    yield from [_row("all", list(found.values())), ""]


def _row(title: str, draws: list[np.ndarray]) -> str:
    low, high, true = np.stack(draws).transpose(2, 0, 1)  # (n_draws, 2) each
    share = ((low <= true) & (true <= high)).mean(axis=0)
    return f"| {title} | {len(draws)} | {100 * share[0]:.1f} % | {100 * share[1]:.1f} % |"


def main() -> None:
    """Draw what is not drawn yet, and write the page."""
    from benchmarks import ensemble_page as page  # which asks for the section

    done = json.loads(page.FOLDS.read_text())
    with warnings.catch_warnings(), threads(1), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for preset, draw in product(("balanced", "best"), range(N_DRAWS)):
            for name in TABLES:
                key = f"intervals|{name}|{preset}|{draw}"
                if key not in done:
                    done[key] = drawn(name, preset, draw)
            page.FOLDS.write_text(as_lines(done))
            print(*section(done), sep="\n", flush=True)
    page.write(done)


if __name__ == "__main__":
    main()
