"""scikit-learn's own test module for naive Bayes, run with our five classes standing in for its.

The module ships inside the installed package. Its source is run with `sklearn.naive_bayes` replaced by our
classes, and every test function it defines is taken over into this module, where pytest finds it.
"""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sklearn.tests
from tests.peers.older import skipped_before

import bayeswater

pytestmark = pytest.mark.usefixtures("road")  # small tables as these must pass through the compiled loops as well

STAND_INS = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")

SOURCE = Path(sklearn.tests.__file__).with_name("test_naive_bayes.py")

NOT_TAKEN_OVER = {
    "test_gnb_check_update_with_no_data": "calls GaussianNB._update_mean_variance, a private method",
    "test_check_alpha": "calls _check_alpha, a private method; see test_a_small_alpha_is_raised_unless_it_is_forced",
    "test_alpha_vector": "calls _check_alpha, a private method; see test_alpha_may_be_one_number_for_each_feature",
    "test_gnb_array_api_compliance": "gives array-API inputs, which we do not take",
}
"""Tests of private methods and of array-API inputs; the public part of each is a test of ours below."""


def scikit_learn_tests() -> dict[str, object]:
    """Run the source of scikit-learn's module with our classes; give the test functions it defines."""
    ours = ModuleType("sklearn.naive_bayes")
    for name in STAND_INS:
        setattr(ours, name, getattr(bayeswater, name))
    namespace: dict[str, object] = {"__name__": "sklearn.tests.test_naive_bayes", "__file__": str(SOURCE)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "sklearn.naive_bayes", ours)
        exec(compile(SOURCE.read_text(encoding="utf-8"), str(SOURCE), "exec"), namespace)
    assert all(namespace[name] is getattr(bayeswater, name) for name in STAND_INS)
    return {name: value for name, value in namespace.items() if name.startswith("test_")}


TAKEN_OVER = {name: test for name, test in scikit_learn_tests().items() if name not in NOT_TAKEN_OVER}
skipped_before("1.9", "it asked for digits that its own subtraction had lost")(TAKEN_OVER["test_predict_joint_proba"])
globals().update(TAKEN_OVER)


@pytest.fixture(params=[42, 0])
def global_random_seed(request):
    """scikit-learn's fixture: 42 is its default, the other is for good measure."""
    return request.param


@pytest.fixture
def global_dtype():
    """scikit-learn's fixture, without the float32 case that asks for parameters stored in float32: ours are float64."""
    return np.float64


def test_every_test_of_the_module_is_taken_over_or_excepted_by_name():
    defined = {node.name for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body if is_test(node)}
    assert set(TAKEN_OVER) == defined - set(NOT_TAKEN_OVER)
    assert all(globals()[name] is test for name, test in TAKEN_OVER.items())
    assert len(TAKEN_OVER) > 30


def test_only_tests_of_private_methods_and_of_array_api_inputs_are_excepted():
    text = SOURCE.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if is_test(node) and node.name in NOT_TAKEN_OVER:
            assert re.search(r"\b\w+\._[a-z]\w+\(|array_api", ast.get_source_segment(text, node)), node.name


def is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


# --- the public part of the tests that are not taken over

X = np.array([[1, 0], [1, 1]])
y = np.array([0, 1])


def test_alpha_may_be_one_number_for_each_feature():
    model = bayeswater.MultinomialNB(alpha=np.array([1, 2]), force_alpha=False).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[1 / 2, 1 / 2], [2 / 5, 3 / 5]], rtol=1e-15)
    np.testing.assert_allclose(model.predict_proba(X), [[5 / 9, 4 / 9], [25 / 49, 24 / 49]], rtol=1e-14)
    with pytest.raises(ValueError, match="All values in alpha must be greater than 0"):
        bayeswater.MultinomialNB(alpha=np.array([1.0, -0.1]), force_alpha=False).fit(X, y)
    with pytest.raises(ValueError, match="When alpha is an array, it should contains `n_features`"):
        bayeswater.MultinomialNB(alpha=np.array([1.0, 2.0, 3.0]), force_alpha=False).fit(X, y)


def test_a_small_alpha_is_raised_unless_it_is_forced():
    message = "alpha too small will result in numeric errors, setting alpha = 1.0e-10"
    for alpha, raised in [(0, 1e-10), (np.array([0.0, 1.0]), np.array([1e-10, 1.0]))]:
        with pytest.warns(UserWarning, match=re.escape(message)):
            model = bayeswater.BernoulliNB(alpha=alpha, force_alpha=False).fit(X, y)
        expected = np.log((X + raised) / (1 + 2 * np.broadcast_to(raised, 2)))
        # The logarithm of a number near 1 has the rounding of that 1.
        np.testing.assert_allclose(model.feature_log_prob_, expected, rtol=1e-14, atol=1e-15)
        with np.errstate(divide="ignore"):
            expected = np.log((X + alpha) / (1 + 2 * np.broadcast_to(alpha, 2)))
        model = bayeswater.BernoulliNB(alpha=alpha, force_alpha=True).fit(X, y)
        np.testing.assert_allclose(model.feature_log_prob_, expected, rtol=1e-14)


def test_a_part_without_rows_is_refused_and_changes_nothing():
    model = bayeswater.GaussianNB().fit(X, y)
    before = model.statistics_
    with pytest.raises(ValueError, match="0 sample"):
        model.partial_fit(np.empty((0, 2)), np.empty(0, dtype=int))
    assert model.statistics_ is before
