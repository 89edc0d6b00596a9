"""What `help` says of a classifier: all of it, without a look at another one."""

import inspect
import re

import pytest

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesEnsemble,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
)
from bayeswater.models.settings import documented_as_in

OF_STATES = (AODE, A2DE, TAN, SPODE, KDB, SKDB, NetworkClassifier)
DROP_INS = (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)


@pytest.mark.parametrize("kind", [*OF_STATES, *DROP_INS])
def test_every_parameter_is_described_in_full(kind):
    text = inspect.getdoc(kind)
    described = [name for names in re.findall(r"^(\w+(?:, \w+)*) : ", text, re.MULTILINE) for name in names.split(", ")]
    assert set(inspect.signature(kind).parameters) <= set(described)
    assert "as in `" not in text


@pytest.mark.parametrize("kind", [*OF_STATES, NaiveBayes, BayesEnsemble])
def test_every_public_method_says_what_it_takes_and_gives(kind):
    methods = [
        value for name, value in inspect.getmembers(kind) if not name.startswith("_") and inspect.isfunction(value)
    ]
    for method in methods:
        text = inspect.getdoc(method)
        takes = [name for name in inspect.signature(method).parameters if name != "self"]
        if text.startswith("Refuse"):
            assert "Raises\n------" in text, method
            continue
        assert "Returns\n-------" in text, method
        assert not takes or "Parameters\n----------" in text, method


def test_what_is_said_elsewhere_is_told_as_it_is_told_there():
    class Other:
        """Another.

        Parameters
        ----------
        a, b : float, default 1
            Both.
        c : bool
        """

    @documented_as_in(Other)
    class Own:
        """One.

        Parameters
        ----------
        b, c : as in `Other`
        d : int
        """

    assert Own.__doc__.split("----------\n")[1] == "b : float, default 1\n    Both.\nc : bool\nd : int\n"
