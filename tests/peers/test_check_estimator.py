"""scikit-learn's estimator checks, all of them; one gives models of counts numbers under 0, whatever their tags say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.peers.older import skipped_before

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
    Discretizer,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
)

TREES = ["trees-sqrt", "trees-half", "trees-all"]
# Ensembles have few members: what the checks ask for does not depend on how many, and they fit hundreds of times.
MODELS = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(),
    BernoulliNB(),
    CategoricalNB(),
    NaiveBayes(),
    AODE(),
    SPODE(),
    TAN(),
    A2DE(),
    KDB(),
    SKDB(),
    NetworkClassifier(),
    GaussianClassifier(),
    BayesEnsemble(members={"aode": 1, "trees-sqrt": 2, "trees-all": 1}),
    Discretizer(),
    # Settings that change the contract: whether missing cells are taken, labels needed, weights learned from the rows.
    GaussianNB(missing="ignore"),
    BernoulliNB(missing="ignore"),
    CategoricalNB(missing="state"),
    NaiveBayes(missing="state", calibrate=True),
    NaiveBayes(weights="learned"),
    AODE(missing="error"),
    # scikit-learn knows models that take missing cells and models that do not; ledoit_wolf takes them in predict alone.
    GaussianClassifier(shrinkage="ledoit_wolf", missing="error"),
    BayesEnsemble(
        "best", members={"kdb": 1, "aode": 1, "linear": 0, "boosted": 0, **dict.fromkeys(TREES, 1)}, missing="error"
    ),
    Discretizer("equal_frequency"),
]


def of_counts(estimator):
    """Name the check of class weights where a model takes counts or codes: it does not heed `positive_only`."""
    is_of_counts = isinstance(estimator, MultinomialNB | ComplementNB | CategoricalNB)
    return {"check_class_weight_classifiers": "it gives numbers under 0"} if is_of_counts else {}


# The checks give CategoricalNB fractions, and each fraction is a category of its own.
@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of classes of one row
@parametrize_with_checks(MODELS, expected_failed_checks=of_counts)
def test_every_check_of_scikit_learn_passes(estimator, check):
    # check_array_api_input skips itself unless SCIPY_ARRAY_API was set before scipy came in: the test below runs it.
    check(estimator)


@skipped_before("1.9", "there was no such check of estimators without array-API support")
def test_the_array_api_check_passes_where_scipy_has_it_switched_on():
    # For an estimator without array-API support this check gives NumPy arrays and asks for NumPy arrays back.
    root = Path(__file__).parents[2]
    files = [__file__, str(root / "tests" / "decision" / "test_calibrated.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "check_array_api", *files]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    child = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout + child.stderr
    assert "skipped" not in child.stdout, child.stdout
