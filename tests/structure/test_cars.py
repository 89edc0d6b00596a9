"""Golden values on a table that anyone can write down: all cars there are, judged by a rule.

The numbers were computed with fifty digits from the definitions (`tests/oracles/counting.py`), not by the code that is
tested.
"""

import numpy as np
import pytest
from tests.oracles.cars import PROPERTIES, cars, judgement

from bayeswater.data.labels import encode_labels
from bayeswater.data.reading.coded_table import Rules, encode_categories
from bayeswater.statistics.pair_counts import PairCounts
from bayeswater.structure.mutual_information import conditional_mutual_information, mutual_information
from bayeswater.structure.trees import k_dependence, tree_augmented

NAMES = list(PROPERTIES)

INFORMATION = {
    "buying": 0.1149605752904,
    "maint": 0.01364451254659,
    "doors": 0.01983107273193,
    "persons": 0.2294466916774,
    "lug_boot": 0.01608716824929,
    "safety": 0.2739665688719,
}
CONDITIONAL_INFORMATION = {
    ("buying", "maint"): 0.001027880454041,
    ("buying", "doors"): 0.01722155705913,
    ("maint", "doors"): 0.006555206086321,
    ("buying", "persons"): 0.0004602646614492,
    ("maint", "persons"): 0.0004602646614492,
    ("doors", "persons"): 0.002441245588871,
    ("buying", "lug_boot"): 0.01513917775133,
    ("maint", "lug_boot"): 0.01089010209196,
    ("doors", "lug_boot"): 0.02107935569599,
    ("persons", "lug_boot"): 0.001526133626395,
    ("buying", "safety"): 0.006512696103527,
    ("maint", "safety"): 0.01420008651564,
    ("doors", "safety"): 0.01000168594935,
    ("persons", "safety"): 0.0921403933764,
    ("lug_boot", "safety"): 0.01376167750963,
}


@pytest.fixture(scope="module")
def counts():
    rows = cars()
    coded = encode_categories(np.array(rows, dtype=object), Rules("TAN", refuse_missing=False))
    return PairCounts.of(coded, encode_labels(np.array([judgement(car) for car in rows])), None)


def test_what_each_property_tells_of_the_judgement(counts):
    expected = [INFORMATION[name] for name in NAMES]
    np.testing.assert_allclose(mutual_information(counts), expected, rtol=1e-12)  # thirteen digits are written


def test_what_properties_tell_of_each_other_given_the_judgement(counts):
    information = conditional_mutual_information(counts)
    for (first, second), expected in CONDITIONAL_INFORMATION.items():
        # Thirteen digits are written; terms a hundred times larger cancel in the small ones.
        assert information[NAMES.index(first), NAMES.index(second)] == pytest.approx(expected, rel=1e-12)


def test_the_tree_of_the_cars(counts):
    parent = tree_augmented(counts)
    assert {NAMES[i]: NAMES[p] if p >= 0 else None for i, p in enumerate(parent.tolist())} == {
        "safety": None,
        "persons": "safety",
        "maint": "safety",
        "lug_boot": "safety",
        "doors": "lug_boot",
        "buying": "doors",
    }


def test_the_order_and_the_parents_of_the_cars(counts):
    found = k_dependence(counts, 2)
    assert [NAMES[i] for i in found.order] == ["safety", "persons", "buying", "doors", "lug_boot", "maint"]
    assert {NAMES[i]: [NAMES[j] for j in parents] for i, parents in enumerate(found.parents)} == {
        "safety": [],
        "persons": ["safety"],
        "buying": ["safety", "persons"],
        "doors": ["buying", "safety"],
        "lug_boot": ["doors", "buying"],
        "maint": ["safety", "lug_boot"],
    }
