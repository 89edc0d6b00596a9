"""Applications for loans, drawn at random: a table as tables are, with numbers, categories, dates, text and holes.

The outcome is drawn first and every other cell given the outcome, so the best possible classifier is known; it errs
in about one row of seven. All columns are independent given the outcome but two: what someone earns depends on the
occupation too. A naive Bayes classifier counts that evidence twice, which is what calibration is there for.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.records import record
from bayeswater.typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

LATE_SHARE = 0.35

OCCUPATIONS = ("clerk", "craftsman", "driver", "farmer", "nurse", "salesperson", "student", "teacher")

EARNINGS = (0.0, 0.1, -0.1, -0.2, 0.1, 0.0, -0.9, 0.3)
"""What each occupation adds to the logarithm of the income."""

PURPOSES = (
    *("used car for the way to work", "repair of the leaking roof", "new kitchen for our flat"),
    *("tools for my own workshop", "school fees for two children", "heat pump and better windows"),
    *("old debts on three cards", "long trip around the islands", "wedding of my daughter"),
    *("big screen and a new phone", "rent that is overdue since spring", "shares that will surely rise"),
)

DAYS = np.arange("2023-01-01", "2025-01-01", dtype="datetime64[D]")
"""Two years of applications."""

DETAILS = ("", "please answer soon", "as discussed on the phone", "second application this year")
"""What some applicants write behind the purpose, whatever becomes of the loan."""

MISSING_SHARE = {"age": 0.02, "income": 0.05, "savings": 0.08, "occupation": 0.05, "owns_home": 0.03, "purpose": 0.04}
"""Share of the cells that are missing, whatever they would hold."""


@record
class Applicants:
    """The distributions of those of one outcome."""

    age_mean: float  # normal with deviation AGE_DEVIATION, rounded, between 18 and 80
    log_income: float  # mean of the logarithm, which is normal with deviation INCOME_DEVIATION
    no_savings: float  # share of those who have none
    log_savings: float  # of the others, as for the income
    delays: float  # mean of the Poisson distribution of past delays
    owns_home: float  # share
    occupations: tuple[float, ...]  # parts, in the order of OCCUPATIONS
    purposes: tuple[float, ...]  # parts, in the order of PURPOSES
    weekend: float  # applications on a day of the weekend, for one on a working day
    december: float  # applications on a day in December, for one on another day


AGE_DEVIATION, INCOME_DEVIATION, SAVINGS_DEVIATION = 12.0, 0.35, 1.3

REPAID = Applicants(
    age_mean=45,
    log_income=8.05,
    no_savings=0.35,
    log_savings=8.2,
    delays=0.4,
    owns_home=0.5,
    occupations=(3, 3, 2, 2, 3, 2, 1, 3),
    purposes=(4, 4, 3, 3, 3, 3, 2, 1, 2, 1, 1, 1),
    weekend=0.6,
    december=0.8,
)

LATE = Applicants(
    age_mean=39,
    log_income=7.75,
    no_savings=0.55,
    log_savings=7.5,
    delays=1.5,
    owns_home=0.33,
    occupations=(2, 2, 3, 2, 2, 4, 3, 1),
    purposes=(3, 2, 2, 2, 2, 1, 4, 3, 2, 3, 3, 2),
    weekend=1.0,
    december=1.6,
)


def loans(n_rows: int = 600, random_state: int = 0) -> "pa.Table":
    """Draw applications and what became of them: the last column, `outcome`, is "repaid" or "late".

    `income` is for a month, `savings` are all there is.

    >>> table = loans()
    >>> table.shape, table.column_names[:4]
    ((600, 10), ['application_id', 'applied', 'age', 'income'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if n_rows < 1:
        raise ParameterError(f"n_rows is {n_rows}; at least one application must be drawn")
    rng = np.random.default_rng(random_state)
    is_late = rng.random(n_rows) < LATE_SHARE
    repaid, late = _draw(REPAID, int((~is_late).sum()), rng), _draw(LATE, int(is_late.sum()), rng)
    place = np.argsort(np.argsort(is_late, kind="stable"))  # where each row stands when the repaid come first
    cells = {name: pa.array(np.concatenate([repaid[name], late[name]])[place]) for name in repaid}
    for name, share in MISSING_SHARE.items():
        cells[name] = pc.if_else(pa.array(rng.random(n_rows) < share), None, cells[name])
    numbers = [f"L-{100_000 + i}" for i in range(n_rows)]
    return pa.table({"application_id": numbers, **cells, "outcome": np.where(is_late, "late", "repaid")})


def _draw(of: Applicants, n_rows: int, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the cells of applicants of one outcome."""
    occupation = rng.choice(len(OCCUPATIONS), size=n_rows, p=shares(of.occupations))
    income = rng.lognormal(of.log_income + np.array(EARNINGS)[occupation], INCOME_DEVIATION)
    savings = rng.lognormal(of.log_savings, SAVINGS_DEVIATION, size=n_rows)
    purpose = rng.choice(np.array(PURPOSES, dtype=object), size=n_rows, p=shares(of.purposes))
    detail = rng.choice(np.array(DETAILS, dtype=object), size=n_rows)
    return {
        "applied": rng.choice(DAYS, size=n_rows, p=shares(day_weights(of, DAYS))),
        "age": np.clip(np.rint(rng.normal(of.age_mean, AGE_DEVIATION, size=n_rows)), 18, 80).astype(np.int64),
        "income": np.round(income, 2),
        "savings": np.where(rng.random(n_rows) < of.no_savings, 0.0, np.round(savings, 2)),
        "past_delays": rng.poisson(of.delays, size=n_rows),
        "occupation": np.array(OCCUPATIONS, dtype=object)[occupation],
        "owns_home": rng.random(n_rows) < of.owns_home,
        "purpose": np.array(
            [", ".join(filter(None, words)) for words in zip(purpose, detail, strict=True)], dtype=object
        ),
    }


def day_weights(of: Applicants, days: Array) -> Array:
    """Weigh the days on which people apply: a busy day counts for more than a quiet one."""
    on_weekend = np.is_busday(days, weekmask="Sat Sun")
    in_december = days.astype("datetime64[M]").astype(np.int64) % 12 == 11
    return np.where(on_weekend, of.weekend, 1.0) * np.where(in_december, of.december, 1.0)


def shares(parts: Any) -> Array:
    """Divide parts by their sum."""
    return np.asarray(parts, dtype=np.float64) / np.sum(parts)
