"""Categories and flags, by their labels: P(state | class) = (N_kv + alpha) / (N_k + S alpha).

A category is one of S labels; a flag (`bernoulli`) is False or True. Counts, smoothing, leave-one-out and draws are
those of all states (`states`).
"""

from reprlib import repr as shortened
from typing import Any, ClassVar

import numpy as np

from bayeswater.data.reading.coded_table import CodedTable, Rules, encode_frame, report_unseen
from bayeswater.data.reading.column_plan import Column
from bayeswater.data.reading.raw_table import RawTable
from bayeswater.data.variable import Schema, Variable
from bayeswater.errors import DataError
from bayeswater.estimate.dirichlet import Beta, Dirichlet
from bayeswater.families.family import Settings, require_sums
from bayeswater.families.states import StateFamily, without_unknown
from bayeswater.phrases import own_reasons
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.typing import Array

own_reasons(
    {
        "categorical": "类别",
        "bernoulli": "是否（伯努利）",
    }
)


class Categorical(StateFamily):
    """Categories and flags, by their labels."""

    key: ClassVar = "categories"
    families: ClassVar = ("categorical", "bernoulli")
    has_labels: ClassVar = True
    usual_of: ClassVar = {"category": "categorical", "flag": "bernoulli"}

    @classmethod
    def kinds_of(cls, family: str) -> tuple[str, ...] | None:
        """Tell that flags are a kind of their own; any column can have categories."""
        return ("flag",) if family == "bernoulli" else None

    def encode(self, raw: RawTable, known: Schema | None, settings: Settings, *, learning: bool) -> CodedTable:
        """Code the labels; flags are False and True."""
        flags = [column.name for column in self.columns if column.family == "bernoulli"]
        frame = raw.labels(self.names, flags=flags, learning=learning)
        rules = Rules(
            settings.model, settings.missing == "error", known, grow=learning, as_found=learning and settings.as_found
        )
        coded = encode_frame(frame, rules)
        if coded.unseen:
            report_unseen(coded.unseen, coded.shape[0], settings.unseen)
        return without_unknown(coded, [column.source for column in self.columns], settings.unknown)

    def drawn(self, variable: Variable, j: int, state: Array, rng: np.random.Generator) -> Any:
        """Labels of the states that were drawn, with all others that there are."""
        import pyarrow as pa

        labels = variable.labels.tolist()
        kind = pa.uint64() if any(type(label) is int and label >= 2**63 for label in labels) else None
        try:
            states = pa.array(labels, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"column {variable.name!r} has labels of several types, {shortened(labels)}, of which no column "
                "of a table can be made; give its labels one type"
            ) from error
        return pa.DictionaryArray.from_arrays(pa.array(state, mask=state == len(labels)), states)

    def prior_of(self, column: Column, settings: Settings) -> Dirichlet | None:
        """Give the prior of a column; that of a flag names its states."""
        prior: Dirichlet | None = super().prior_of(column, settings)
        if column.family == "bernoulli" and isinstance(prior, Beta):
            return Beta({True: prior.present, False: prior.absent})
        return prior

    def domain(self, sums: CategoryCounts) -> Schema:
        """Give the labels."""
        return sums.schema

    def restored(self, arrays: dict[str, Array], classes: Variable, domain: Any) -> CategoryCounts:
        """Make the counts of states that were written down."""
        return CategoryCounts.from_arrays(arrays, classes=classes, schema=domain)

    @classmethod
    def require_column(cls, column: Column, group: Any, j: int, slack: float) -> None:
        """Refuse flags that are none."""
        if column.family == "bernoulli":
            states = group.schema[j]
            are_flags = not states.is_coded and all(type(state) is bool for state in states.states)
            require_sums(are_flags, f"the states of column {column.name!r} are {states.states!r:.200}, and no flags")
