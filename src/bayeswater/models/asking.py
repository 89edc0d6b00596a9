"""`AskingClassifier`: a classifier of independent columns that says which missing cell is worth asking for.

Within a class the columns are independent, so that all a missing cell could tell is its own distribution in each
class. What these distributions are, each model says for itself (`_facts`); what they are worth is worked out in
`decision/`.
"""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from bayeswater.data.frames import held
from bayeswater.decision.costs_of_asking import costs_of_asking, loss_of_row
from bayeswater.decision.facts import Fact
from bayeswater.decision.loss import as_loss
from bayeswater.decision.next_best import NextBest, rank_facts
from bayeswater.errors import DataError, SchemaError
from bayeswater.models.classifier import CountingClassifier

Facts = Mapping[str, Sequence[Fact] | str]
"""For each column what its cell would tell, or why that cannot be told."""


class AskingClassifier(CountingClassifier):
    """A classifier whose columns are independent within each class."""

    @abstractmethod
    def _facts(self, X: Any) -> Facts:
        """What every cell that is missing in the one row of X would tell."""

    def next_best(self, row: Any, loss: Any = None, costs: Any = None, *, prior: Any = None) -> NextBest:
        """Say which missing cell of a row to ask for next, by what knowing it is worth minus what asking costs.

            worth = expected cost of the best action now - mean, over what the cell may hold, of that once it is known

        Exact for categories, flags and bins; counts are summed until less than 1e-12 of any class is left; for numbers
        by their density the error is stated (see `bayeswater.decision.densities`). Texts are passed over.

        Parameters
        ----------
        row : table of one row, or a dict {column: value}
            Cells that are missing (or not in the dict) are those that can be asked for, whatever ``missing`` says. In a
            column where empty is a state, a cell that is None is known to be empty; one not in the dict is not known.
        loss : Loss, or anything that `Loss` reads; default 0-1 loss
        costs : what it costs to ask: a number for all columns, or a dict {column: cost} of those that can be asked for;
            default 0
        prior : class frequencies where the row comes from, as in `decide`

        Returns
        -------
        NextBest
            The columns, the best one first; made to be printed. ``.best`` is the one to ask for, or None.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import CategoricalNB, Loss
        >>> seen = pd.DataFrame(
        ...     {"cough": ["yes", "no", "yes", "no"] * 5, "blood test": ["high", "high", "low", "low"] * 5}
        ... )
        >>> model = CategoricalNB().fit(seen, ["ill", "ill", "well", "well"] * 5)
        >>> loss = Loss({"treat": {"ill": 0, "well": 4}, "wait": {"ill": 12, "well": 0}})
        >>> print(model.next_best({"cough": "yes"}, loss, costs={"blood test": 1}))
        Ask for the blood test next: it is worth 1.33 of loss, costs 1.
        """
        self._require_fitted()
        model = self._letting_missing_in()
        if isinstance(row, Mapping):
            model = model._knowing_only(row.keys())
        X = held(model._one_row(row))
        evidence = model._evidence(X)
        if evidence.posterior.n_rows != 1:
            raise DataError(f"row has {evidence.posterior.n_rows} rows; give one")
        posterior = evidence.proba(prior)[0]
        facts = model._facts(X)
        known = costs_of_asking(costs, model._names_to_ask_for())
        strength = model._strength(X)
        asked = {name: _weakened(fact, strength) for name, fact in facts.items() if name in known}
        return rank_facts(posterior, asked, known, loss_of_row(as_loss(loss, self.classes_.tolist()), X))

    # ------------------------------------------------------------------ the row

    def _letting_missing_in(self) -> Self:
        """The same model, for which a missing cell is one that is not known yet."""
        if self.missing != "error":
            return self
        model = copy(self)
        model.missing, model._memo = "ignore", {}
        return model

    def _knowing_only(self, names: Collection[str]) -> Self:
        """The same model, for which cells of other columns than these are not known, also where empty is a state."""
        return self

    def _one_row(self, row: Any) -> Any:
        """Give a dict of cells as a table; cells that it does not name are missing."""
        if not isinstance(row, Mapping):
            return row
        names = self._names_to_ask_for()
        unknown = [name for name in row if name not in names]
        if unknown:
            raise SchemaError(f"row names {unknown[0]!r}, but there is no such column; there are {list(names)[:10]}")
        if "feature_names_in_" not in self.__dict__ and self._library is None:
            cells = [row.get(name, np.nan) for name in names]
            return np.array([cells], dtype=object if any(isinstance(cell, str) for cell in cells) else None)
        import pyarrow as pa

        return pa.table({name: [row.get(name)] for name in names})

    def _names_to_ask_for(self) -> Sequence[str]:
        """Names of the columns of a row."""
        return self._column_names()

    # ------------------------------------------------------------------ the facts

    def _strength(self, X: Any) -> float:
        """Share of its log-likelihoods that one more cell of a row counts for, where a calibration takes some back."""
        return 1.0


def _weakened(facts: Sequence[Fact] | str, strength: float) -> Sequence[Fact] | str:
    if isinstance(facts, str) or strength == 1:
        return facts
    weaker = [fact.weakened(strength) for fact in facts]
    found = [fact for fact in weaker if fact is not None]
    return found if len(found) == len(weaker) else "its density has too heavy a tail to be weakened by calibration"
