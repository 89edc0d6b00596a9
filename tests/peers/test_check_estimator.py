"""scikit-learn's estimator checks, all of them, with no expected failure."""

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
    NormalInverseWishart,
)

MODELS = [
    GaussianNB(),
    GaussianNB(missing="ignore"),
    MultinomialNB(),
    ComplementNB(),
    ComplementNB(norm=True),
    BernoulliNB(),
    BernoulliNB(missing="ignore"),
    CategoricalNB(),
    CategoricalNB(missing="ignore"),
    CategoricalNB(missing="state"),
    NaiveBayes(),
    NaiveBayes(family="binned", missing="state"),
    NaiveBayes(calibrate=True),
    AODE(),
    AODE(weighting="mi", subsumption=True, missing="state"),
    AODE(missing="error"),
    AODE(select=True, calibrate=True),
    SPODE(),
    TAN(),
    TAN(penalty="bic", calibrate=True),
    A2DE(),
    KDB(),
    KDB(1, smoothing="m-estimate", missing="state", calibrate=True),
    SKDB(),
    NetworkClassifier(),
    # Not selection="cross-validated": folds part equal rows, but not a row of weight two.
    NetworkClassifier("augmented", structure_score="aic", max_parents=3),
    GaussianClassifier(),
    GaussianClassifier(covariance="shared", estimate="unbiased"),
    GaussianClassifier(covariance="diagonal", shrinkage=0.1),
    GaussianClassifier(covariance="shared_diagonal", calibrate=True),
    GaussianClassifier(covariance="spherical", missing="error"),
    # scikit-learn knows models that take missing cells and models that do not; ledoit_wolf takes them in predict alone.
    GaussianClassifier(shrinkage="ledoit_wolf", missing="error"),
    GaussianClassifier(prior=NormalInverseWishart()),
    BayesEnsemble(),
    BayesEnsemble("generative", members={"kdb": 4}, missing="error"),
    BayesEnsemble("best", members={"kdb": 2, "trees-sqrt": 10, "trees-half": 8, "trees-all": 6}),
    Discretizer(),
    Discretizer(weka_exact=True, fallback=None),
    Discretizer("equal_frequency"),
    Discretizer("equal_width"),
    Discretizer("rounding"),
    Discretizer("pkid"),
    Discretizer("fixed_frequency"),
]


# The checks give CategoricalNB fractions, and each fraction is a category of its own.
@pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")
@pytest.mark.filterwarnings("ignore::bayeswater.SingularCovarianceWarning")  # of classes of one row
@parametrize_with_checks(MODELS)
def test_every_check_of_scikit_learn_passes(estimator, check):
    # check_array_api_input skips itself unless SCIPY_ARRAY_API was set before scipy came in: the test below runs it.
    check(estimator)


@skipped_before("1.9", "there was no such check of estimators without array-API support")
def test_the_array_api_check_passes_where_scipy_has_it_switched_on():
    # For an estimator without array-API support this check gives NumPy arrays and asks for NumPy arrays back.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "check_array_api", __file__]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    root = Path(__file__).parents[2]
    child = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout + child.stderr
    assert "skipped" not in child.stdout, child.stdout
