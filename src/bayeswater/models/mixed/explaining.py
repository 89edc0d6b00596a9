"""`ExplainingClassifier`: a classifier on a mixed table that says why, how sure, and whether it ever saw the like."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.data.column_plan import Column
from bayeswater.data.frames import Alongside, held, index_of
from bayeswater.data.mixed_table import MixedTable
from bayeswater.data.raw_table import read_raw
from bayeswater.errors import ParameterError
from bayeswater.explain.credible_interval import CredibleIntervals, intervals, parameter_draws, support
from bayeswater.explain.explanations import Explanations, views_of
from bayeswater.explain.novelty import novelty as row_novelty
from bayeswater.explain.terms import Terms
from bayeswater.families.family import MixedJoint
from bayeswater.families.registry import families_of, with_new_cells
from bayeswater.inference.drawing import Stage, checked_draws, checked_seed
from bayeswater.inference.log_space import log_evidence
from bayeswater.inference.scoring import score
from bayeswater.models.calibrating import CalibratingClassifier
from bayeswater.models.streaming.answering import over_rows
from bayeswater.typing import Array, is_number


class ExplainingClassifier(CalibratingClassifier):
    """A classifier whose log-odds are a sum over columns."""

    def explain(self, X: Any, against: Any = None) -> Explanations:
        """Say for each row why it gets its class rather than another.

        Parameters
        ----------
        X : rows
        against : label, or one label for each row, optional
            The class to compare with; default the runner-up. A row that is predicted to be of that very class is
            compared with its runner-up.

        Returns
        -------
        Explanations
            For each row the exact contribution of every column to the log-odds, the largest in words, what is missing,
            and what would turn the decision. Print it, or take ``.contributions`` and ``.to_frame()``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import NaiveBayes
        >>> table = pa.table({"colour": ["red", "red", "red", "green", "green", "red"], "sweet": [1, 1, 1, 0, 0, 1]})
        >>> model = NaiveBayes(alpha=1.0).fit(table, ["apple", "apple", "apple", "pea", "pea", "pea"])
        >>> print(model.explain(pa.table({"colour": ["green"], "sweet": [None]})))
        'pea' rather than 'apple', with probability 0.75
          before the row is looked at     +0.000  'pea' is as frequent as 'apple'
          colour = green                  +1.099  3 times as likely among 'pea' as among 'apple'
          log-odds                        +1.099  3 to 1
          missing, left out: sweet
          would turn it: colour = red
        """
        X = held(X)
        joint, table = self._mixed_joint(), self._table(X)
        raw = read_raw(X, type(self).__name__).require_columns(table.plan.sources, type(self).__name__)
        terms = Terms(joint, table, self._columns_of_groups())
        verdicts = self._decided(joint, table).compared(against, self.statistics_.classes)
        alongside = Alongside(self._library, index_of(X))
        decisions = self._decisions(self._known_cells(table))
        views = views_of(terms, raw, self.statistics_.seen)
        return Explanations.of(terms, views, verdicts, decisions, self.classes_, alongside)

    def credible_interval(
        self, X: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0
    ) -> CredibleIntervals:
        """Say for each row how far P(class | row) may be from what is predicted, by how few rows it rests on.

        Parameters are drawn from their posterior given the sums: Dirichlet for the classes, categories, bins and words,
        Normal-inverse-gamma for normal columns (by the reference prior where none is given) and gamma for rates. Of a
        calibrated model each draw is calibrated by the same map, so that the interval is one of what
        `predict_proba` gives. Smoothing that was chosen automatically counts as known: of some dozens of rows intervals
        of 95 % then hold about 90 %; with ``alpha=1`` they hold what they say.

        A text that is read by complement counts, which have no posterior, is taken here as its words are counted: the
        same sums read as a multinomial. Then the interval tells how well the words of the row are known, and what is
        predicted from them by complement counts may lie beside it.

        Parameters
        ----------
        X : rows
        level : probability that the interval holds
        n_draws : draws of the parameters
        random_state : seed of the draws; the interval of a row does not depend on the other rows of X

        Returns
        -------
        CredibleIntervals
            ``probability``, ``low`` and ``high`` (n_rows, n_classes), and ``support`` (n_rows,): how many rows of the
            predicted class have the row's rarest cell.
        """
        if not (is_number(level) and 0 < level < 1):
            raise ParameterError(f"level is {level!r}; give a number between 0 and 1")
        joint, sums = self._mixed_joint(), self.statistics_
        stage = Stage(checked_seed(random_state), checked_draws(n_draws), len(self.classes_))
        draws = parameter_draws(joint.generative(), sums.columns.plan.used, self._columns_of_groups(), stage)
        table = self._table(X)
        decided = self._decided(joint, table)
        class_shape = sums.class_count.count + self._class_alpha if self._prior_is_counted else None
        known = self._known_cells(table)

        def corrected(log_proba: Array, rows: slice) -> Array:
            """Calibrate the draws of each row."""
            return self._corrected(log_proba, np.repeat(known[rows], stage.n_draws))

        correction = corrected if self._is_calibrated else None
        low, high = intervals(table, draws, class_shape, joint.log_prior, stage, level, correction)
        supporting = support(joint, table, sums.class_count.count, decided.chosen)
        alongside = Alongside(self._library, index_of(X))
        return CredibleIntervals(
            np.exp(decided.decisive), low, high, self.classes_, supporting, decided.chosen, level, alongside
        )

    def novelty(self, X: Any, *, n_draws: int = 2000, random_state: int = 0) -> Array:
        """Say how unlike the rows of the model each row is: (n_rows,), near 0 for rows unlike them.

        It is the share of rows drawn from the model that are no more probable than this one: `log_evidence` turned into
        a tail probability. Rows of the model have novelties spread evenly over 0 to 1. A row is compared with drawn
        rows that have the same cells missing, and texts of as many words. A category that was never seen, or a number
        beyond the bins of its column, is a state that the drawn rows never have, less probable than all that they have.
        Words that were never seen are left out of a text, as everywhere: one of such words alone is as usual as an
        empty one.

        Parameters
        ----------
        X : rows
        n_draws : rows to draw; no novelty is smaller than 1 / (1 + n_draws)
        random_state : seed of the draws; the novelty of a row does not depend on the other rows of X
        """
        draws, seed = checked_draws(n_draws), checked_seed(random_state)
        X = held(X)
        joint, table, groups = self._mixed_joint().generative(), self._table(X), self._columns_of_groups()
        raw = read_raw(X, type(self).__name__).require_columns(table.plan.sources, type(self).__name__)
        return row_novelty(joint, with_new_cells(table, raw), groups, draws, seed)

    @over_rows
    def log_evidence(self, X: Any) -> Array:
        """Logarithm of P(row), the sum over all classes: (n_rows,).

        A text that is read by complement counts, which score classes but are no distribution of texts, is taken here as
        its words are counted: the same sums read as a multinomial.
        """
        return log_evidence(score(self._mixed_joint().generative(), self._table(X), None))

    # ------------------------------------------------------------------ what was decided

    def _mixed_joint(self) -> MixedJoint:
        joint = self._joint()
        assert isinstance(joint, MixedJoint)
        return joint

    def _known_cells(self, table: MixedTable) -> Array:
        return self._mixed_joint().known_cells(table)

    def _columns_of_groups(self) -> Mapping[str, tuple[Column, ...]]:
        return {key: part.columns for key, part in families_of(self.statistics_.columns.plan).items()}
