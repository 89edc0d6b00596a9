"""`AsNetwork`: a classifier whose joint distribution is a Bayesian network, and gives it."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.models.class_name import class_name
from bayeswater.typing import Array

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork

StateShares = tuple[str, Sequence[Any], Array]
"""Name of a column, its states, and P(state | class) (n_states, n_classes)."""


@dataclass(frozen=True)
class NetworkTables:
    """A Bayesian network as plain values.

    `names` are its variables, the class first; `states` the states of each; `parents` the places of the parents of
    each; `tables` P(variable | parents), with one axis for each parent in their order and the last for the variable.
    """

    names: tuple[str, ...]
    states: tuple[Sequence[Any], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]

    @classmethod
    def of_star(cls, classes: Array, log_prior: Array, columns: Iterable[StateShares]) -> "NetworkTables":
        """Make the class the only parent of every column; one without a value in any row tells nothing."""
        known = [column for column in columns if len(column[1])]
        names = [name for name, _, _ in known]
        return cls(
            (class_name(names), *names),
            (tuple(classes.tolist()), *(states for _, states, _ in known)),
            ((), *((0,) for _ in known)),
            (np.exp(log_prior), *(share.T for _, _, share in known)),
        )


class AsNetwork:
    """A classifier of columns that have states each."""

    @abstractmethod
    def network_tables(self) -> NetworkTables:
        """Give the model as a Bayesian network: the class, and every column with its parents."""

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
