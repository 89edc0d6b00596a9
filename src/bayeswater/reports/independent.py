"""`INDEPENDENT`: models whose log-odds are sums over columns, each by itself, so that a nomogram adds up to them."""

from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.feature_nb import BernoulliNB
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.mixed.naive_bayes import NaiveBayes

INDEPENDENT = (NaiveBayes, GaussianNB, CategoricalNB, BernoulliNB)
