"""`AsNetwork`: a classifier whose joint distribution is a Bayesian network, and gives it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork


class AsNetwork:
    """A classifier of columns that have states each."""

    def to_network(self, *, class_name: str | None = None) -> "BayesianNetwork":
        """Give the fitted model as a network, in which the class is a variable like any other.

        Its posteriors of the class are those of `predict_proba`, with cells missing or not, and before a calibration,
        which is no part of the joint distribution. Numbers that were cut into bins are variables of their bins.

        Parameters
        ----------
        class_name : name of the class variable; "class" unless told, or "(class)" beside a column of that name

        Raises
        ------
        ParameterError
            Where a column has a density or words instead of states, or missing cells are a state of their own.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import TAN
        >>> table = pa.table({"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5})
        >>> network = TAN().fit(table, ["same", "other", "other", "same"] * 5).to_network()
        >>> network
        BayesianNetwork('class -> a; class -> b; a -> b'): 3 variables, 3 edges, 7 parameters
        >>> network.query("a", {"class": "same", "b": "no"}).mode
        'no'
        """
        from bayeswater.models.network.bayesian_network import BayesianNetwork  # which knows the classifiers

        return BayesianNetwork.from_classifier(self, class_name=class_name)
