"""`A2DE`: averaged estimators, each with another two columns as parents of all the others."""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.super_pairs import SuperPairs
from bayeswater.models.semi_naive.aode import AODE, WAY_TO_PARENTS
from bayeswater.models.semi_naive.learning import StateRows, pairs_of
from bayeswater.models.semi_naive.state_classifier import StateClassifier
from bayeswater.models.settings import column_place, documented_as_in, require_min_support
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.pair_counts import TripleCounts
from bayeswater.statistics.sums import Sums


@documented_as_in(AODE)
class A2DE(StateClassifier):
    """Averaged two-dependence estimators: the mean over i, j of P(y, x_i, x_j) prod_c P(x_c | y, x_i, x_j).

    Every two columns in turn are the parents of all the others, so dependences of three columns are seen. Probabilities
    are read off counts of triples, whose number grows with the cube of the number of states: the size of the counts is
    forecast, and refused if too large, before a row is counted. Two columns are parents only where their values were
    counted together `min_support` times. Where no two are, the row is scored by `AODE`, and where no single column is a
    parent either, by naive Bayes.

    Rows are read as by `AODE`. A missing cell is neither parent nor child.

    Parameters
    ----------
    min_support : float, default 1
        Rows that two values must have been seen in together for their columns to be parents.
    super_parents : as in `AODE`
    columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

    See Also
    --------
    AODE : Averaged one-dependence estimators.
    KDB : Naive Bayes with k parents for each column.

    Notes
    -----
    With n rows, d columns of s states and K classes, `fit` takes O(n d^3) time and the counts of triples O(K d^3 s^3)
    memory; `predict` takes O(n d^3 K).

    Examples
    --------
    Whether an odd number of three flags is set is told by all of them together, and by no two:

    >>> from itertools import product
    >>> import pyarrow as pa
    >>> flags = list(product([False, True], repeat=3)) * 3
    >>> table = pa.table({name: [row[j] for row in flags] for j, name in enumerate("abc")})
    >>> model = A2DE().fit(table, [sum(row) % 2 for row in flags])
    >>> model.predict(table).tolist() == [sum(row) % 2 for row in flags]
    True
    """

    def __init__(
        self,
        *,
        min_support: float = 1,
        super_parents: str | None = None,
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        class_weight: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.min_support = min_support
        self.super_parents = super_parents
        super().__init__(columns, discretize, alpha, smoothing, class_prior, class_weight, missing, unseen, calibrate)

    _way_to_parents = WAY_TO_PARENTS

    def _counts(self, rows: StateRows) -> TripleCounts:
        return TripleCounts.of(rows.table.coded, rows.labels, rows.weight)

    def _read_with(self, sums: Sums[ColumnGroups], structure: None) -> SuperPairs:
        counts = pairs_of(sums)
        assert isinstance(counts, TripleCounts)
        return SuperPairs(self._prior(sums), self._estimate(sums), counts, float(self.min_support))

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        require_min_support(self.min_support)

    def pair_table(self, first: str, second: str) -> Any:
        """Give P(class, state of one column, state of another) as a labelled frame.

        Parameters
        ----------
        first, second : str or int
            Names of two columns, or in a table without names their positions.

        Returns
        -------
        frame
            Of the library that `fit` was given.

        See Also
        --------
        triple_table : Give P(state of a column | class, states of its two parents) as a labelled frame.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import A2DE
        >>> X = pd.DataFrame(
        ...     {"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5, "c": ["u", "v"] * 10}
        ... )
        >>> A2DE().fit(X, ["same", "other", "other", "same"] * 5).pair_table("a", "b").shape
        (4, 4)
        """
        i, j = self._places(first, second)
        share = np.exp(self._joint().log_root((max(i, j), min(i, j))))
        return self._names.joint_frame([i, j], share if i > j else share.swapaxes(0, 1))

    def triple_table(self, column: str, parents: tuple[str, str]) -> Any:
        """Give P(state of a column | class, states of its two parents) as a labelled frame.

        Parameters
        ----------
        column : str or int
            Name of a column, or in a table without names its position.
        parents : pair of str or int
            Two other columns.

        Returns
        -------
        frame
            Of the library that `fit` was given.

        See Also
        --------
        pair_table : Give P(class, state of one column, state of another) as a labelled frame.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import A2DE
        >>> X = pd.DataFrame(
        ...     {"a": ["no", "no", "yes", "yes"] * 5, "b": ["no", "yes", "no", "yes"] * 5, "c": ["u", "v"] * 10}
        ... )
        >>> A2DE().fit(X, ["same", "other", "other", "same"] * 5).triple_table("a", ("b", "c")).shape
        (8, 5)
        """
        j, *above = self._places(column, *parents)
        joint: SuperPairs = self._joint()
        return self._names.conditional_frame(j, above, np.exp(joint.log_given(j, (above[0], above[1]))))

    def _places(self, *names: str) -> list[int]:
        self._require_fitted()
        known = pairs_of(self.statistics_).schema.names
        places = [column_place(name, known, "column") for name in names]
        if len(set(places)) < len(places):
            raise ParameterError(f"{list(names)} names a column twice; give different columns")
        return places

    @property
    def n_parameters(self) -> int:
        """Free parameters of all estimators: K v_i v_j - 1 of two parents, and K v_i v_j (v_c - 1) of each child."""
        return int(self._joint().n_parameters)
