"""`A2DE`: averaged two-dependence estimators, each with two other columns as the parents of all the others."""

from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.inference.super_pairs import SuperPairs
from bayeswater.models.semi_naive.aode import AODE
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
    columns, discretize, alpha, smoothing, class_prior, missing, unseen, calibrate : as in `AODE`

    Attributes
    ----------
    columns_, classes_, class_count_, class_log_prior_, statistics_ : as in `AODE`

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
        columns: Any = None,
        discretize: str = "mdl",
        alpha: float = 1.0,
        smoothing: str = "m-estimate",
        class_prior: Any = None,
        missing: str = "ignore",
        unseen: str = "ignore",
        calibrate: bool = False,
    ) -> None:
        self.min_support = min_support
        self.columns = columns
        self.discretize = discretize
        self.alpha = alpha
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate

    def _counts(self, rows: StateRows) -> TripleCounts:
        return TripleCounts.of(rows.table.coded, rows.labels, rows.weight)

    def _read_with(self, sums: Sums[ColumnGroups], structure: None) -> SuperPairs:
        counts = pairs_of(sums)
        assert isinstance(counts, TripleCounts)
        return SuperPairs(self._prior(sums), self._estimate(sums), counts, float(self.min_support))

    def _require_reading_parameters(self) -> None:
        super()._require_reading_parameters()
        require_min_support(self.min_support)

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and P(class, state) of each column, as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name. `pair_table` and `triple_table` give
        what rows are scored by.

        Returns
        -------
        dict {name: frame}, of the library whose frames `fit` was given
        """
        self._require_fitted()
        return self._names.joint_tables(self._joint().estimate, self._class_table())

    def pair_table(self, first: str, second: str) -> Any:
        """Give P(class, state of one column, state of another) as a labelled frame.

        Parameters
        ----------
        first, second : names of two columns, or in a table without names their positions

        Returns
        -------
        frame of the library that `fit` was given
        """
        i, j = self._places(first, second)
        share = np.exp(self._joint().log_root((max(i, j), min(i, j))))
        return self._names.joint_frame([i, j], share if i > j else share.swapaxes(0, 1))

    def triple_table(self, column: str, parents: tuple[str, str]) -> Any:
        """Give P(state of a column | class, states of its two parents) as a labelled frame.

        Parameters
        ----------
        column : name of a column, or in a table without names its position
        parents : those of two others

        Returns
        -------
        frame of the library that `fit` was given
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
        joint: SuperPairs = self._joint()
        k, v = joint.estimate.n_classes, joint.estimate.n_states.tolist()
        free = [max(n - 1, 0) for n in v]
        if len(v) < 2:
            return k - 1 + k * sum(free)
        return sum(k * v[i] * v[j] * (1 + sum(free) - free[i] - free[j]) - 1 for i, j in joint.pairs)
