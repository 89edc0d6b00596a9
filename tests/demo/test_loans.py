"""The table of loans: what it holds, that it is drawn alike each time, and how well the best classifier can do."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy import stats

from bayeswater import ParameterError
from bayeswater.data.reading.column_kinds import kind_of
from bayeswater.demo.loans import (
    AGE_DEVIATION,
    DAYS,
    EARNINGS,
    INCOME_DEVIATION,
    LATE,
    LATE_SHARE,
    MISSING_SHARE,
    OCCUPATIONS,
    PURPOSES,
    REPAID,
    SAVINGS_DEVIATION,
    day_weights,
    loans,
    shares,
)

SCHEMA = {
    "application_id": (pa.string(), "identifier"),
    "applied": (pa.date32(), "date"),
    "age": (pa.int64(), "number"),
    "income": (pa.float64(), "number"),
    "savings": (pa.float64(), "number"),
    "past_delays": (pa.int64(), "number"),
    "occupation": (pa.string(), "category"),
    "owns_home": (pa.bool_(), "flag"),
    "purpose": (pa.string(), "text"),
    "outcome": (pa.string(), "category"),
}


@pytest.fixture(scope="module")
def table():
    return loans()


@pytest.fixture(scope="module")
def many():
    return loans(20_000, random_state=1)


def test_every_kind_of_column_is_there(table):
    assert {name: table[name].type for name in table.column_names} == {name: kind for name, (kind, _) in SCHEMA.items()}
    found = {name: kind_of(name, table[name], declared=False).kind for name in table.column_names}
    assert found == {name: kind for name, (_, kind) in SCHEMA.items()}


def test_the_same_state_gives_the_same_table_and_another_state_another(table):
    assert table.equals(loans(600, random_state=0))
    assert not table.equals(loans(600, random_state=1))
    assert loans(1).schema == table.schema


def test_a_table_without_rows_is_refused():
    with pytest.raises(ParameterError, match="n_rows is 0; at least one application must be drawn"):
        loans(0)


def test_only_the_columns_that_say_so_have_missing_cells(table, many):
    assert {name for name in table.column_names if table[name].null_count} == set(MISSING_SHARE)
    for name, share in MISSING_SHARE.items():
        assert abs(many[name].null_count / many.num_rows - share) < 0.01  # six deviations and more


def test_the_cells_are_within_their_bounds(many):
    assert pc.min_max(many["age"]).as_py() == {"min": 18, "max": 80}
    assert pc.min_max(many["applied"]).as_py() == {"min": DAYS[0].item(), "max": DAYS[-1].item()}
    assert pc.min(many["income"]).as_py() > 0
    assert 0.3 < pc.mean(pc.equal(many["savings"], 0).cast(pa.int8())).as_py() < 0.5
    assert pc.count_distinct(many["application_id"]).as_py() == many.num_rows
    assert all(purpose.startswith(PURPOSES) for purpose in many["purpose"].drop_null().to_pylist())


# ---------------------------------------------------------------------- the best classifier


def log_joint(table, share, of):
    """Add up what is known of each row, cell by cell; a missing cell adds nothing."""
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    occupation = np.array([OCCUPATIONS.index(cell) if cell else -1 for cell in column["occupation"]])
    # The last row of each table stands for a missing cell.
    log_occupation = np.log([*shares(of.occupations), 1.0])
    earnings = np.array(EARNINGS)
    income_given = stats.norm.pdf(np.log(column["income"])[:, None], of.log_income + earnings, INCOME_DEVIATION)
    income_alone = income_given @ shares(of.occupations)
    income = np.where(occupation < 0, income_alone, income_given[np.arange(len(occupation)), occupation])
    purpose = [
        next((i for i, words in enumerate(PURPOSES) if cell and cell.startswith(words)), -1)
        for cell in column["purpose"]
    ]
    age = column["age"]
    above = np.where(age == 80, np.inf, age + 0.5)
    below = np.where(age == 18, -np.inf, age - 0.5)
    ages = stats.norm(of.age_mean, AGE_DEVIATION)
    some_savings = np.where(column["savings"] > 0, column["savings"], 1.0)
    savings = np.where(
        column["savings"] > 0,
        (1 - of.no_savings) * stats.norm.pdf(np.log(some_savings), of.log_savings, SAVINGS_DEVIATION),
        np.where(column["savings"] == 0, of.no_savings, 1.0),
    )
    owns_home = {True: of.owns_home, False: 1 - of.owns_home, None: 1.0}
    day = shares(day_weights(of, DAYS))[(column["applied"] - DAYS[0]).astype(int)]
    return (
        np.log(share)
        + log_occupation[occupation]
        + np.where(np.isnan(income), 0.0, np.log(income))
        + np.log([*shares(of.purposes), 1.0])[purpose]
        + np.where(np.isnan(age), 0.0, np.log(ages.cdf(above) - ages.cdf(below)))
        + np.log(savings)
        + stats.poisson.logpmf(column["past_delays"], of.delays)
        + np.log([owns_home[cell] for cell in column["owns_home"]])
        + np.log(day)
    )


def test_the_best_classifier_errs_in_about_one_row_of_seven(many):
    late, repaid = log_joint(many, LATE_SHARE, LATE), log_joint(many, 1 - LATE_SHARE, REPAID)
    is_late = many["outcome"].to_numpy() == "late"
    error = ((late > repaid) != is_late).mean()
    assert 0.12 < error < 0.18
    # It knows how often it errs: that is what makes it the best, and shows that the densities are those drawn from.
    risk = 1 / (1 + np.exp(np.abs(late - repaid)))
    assert abs(risk.mean() - error) < 4 * np.sqrt(error * (1 - error) / many.num_rows)
