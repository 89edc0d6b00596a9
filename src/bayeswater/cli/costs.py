"""A file of costs, and what decisions by it come to."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeswater.records import record

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeswater.decision.loss import Loss


NO_COSTS = dict.fromkeys(["cost", "cost_of_likeliest_class", "expected_cost", "actions", "decisions"])
"""What a document says of costs where none were given."""


@record
class Costs:
    """The costs of a file, for the classes of a model, and the columns of the data that hold some of them."""

    loss: "Loss"
    columns: tuple[str, ...]

    @classmethod
    def read(cls, path: Path, model: Any) -> "Costs":
        """Read a file of costs; what is odd about it is said."""
        from bayeswater.cli.terminal import warnings_once
        from bayeswater.decision.loss import Loss

        with warnings_once():
            loss = Loss.read(path).for_classes(model.classes_.tolist())
        return cls(loss, tuple(sorted({cost for cost in loss.table.by_row.values() if isinstance(cost, str)})))

    @property
    def other_actions(self) -> list[Any]:
        """Actions that are no classes, such as to refuse."""
        return [action for action in self.loss.table.actions if action not in self.loss.table.classes]

    def action_type(self, class_type: "pa.DataType") -> "pa.DataType":
        """Type of a column of actions: that of the classes, unless there are others of another type."""
        import pyarrow as pa

        same = pa.types.is_string(class_type) or not self.other_actions
        return class_type if same else pa.string()

    def decide(self, log_proba: Any, table: "pa.Table") -> tuple[Any, Any]:
        """Codes of the actions of least expected cost (n_rows,), and these costs."""
        code = self.loss.best_action(log_proba=log_proba, X=table, return_index=True)
        return code, self.loss.expected_loss(log_proba=log_proba, X=table)


@dataclass
class CostsSoFar:
    """What decisions have cost: those of least expected cost, and those for the likeliest class."""

    costs: Costs
    of_decisions: float = 0.0
    of_predictions: float = 0.0
    expected: float = 0.0
    decisions: Any = field(default=0)  # rows by their true class and the action (n_classes, n_actions)

    def add(self, table: "pa.Table", log_proba: Any, truth: Any, predicted: list[Any]) -> None:
        """Add some rows, whose true classes are given by their codes (n_rows,)."""
        import numpy as np

        loss = self.costs.loss
        labels, actions = loss.table.classes, loss.table.actions
        code, risk = self.costs.decide(log_proba, table)
        true_labels = [labels[k] for k in truth]
        self.expected += float(risk.sum())
        self.of_decisions += float(loss.realised([actions[i] for i in code], true_labels, X=table).sum())
        if loss.table.decides_classes:
            self.of_predictions += float(loss.realised(predicted, true_labels, X=table).sum())
        shape = len(labels), len(actions)
        self.decisions += np.bincount(truth * shape[1] + code, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.decisions.sum())

    @property
    def n_other_actions(self) -> dict[str, int]:
        """In how many rows each action was taken that is no class."""
        count = dict(zip(self.costs.loss.table.actions, self.decisions.sum(axis=0).tolist(), strict=True))
        return {str(action): count[action] for action in self.costs.other_actions}

    def document(self) -> dict[str, Any]:
        """Give what was found as a document."""
        decides_classes = self.costs.loss.table.decides_classes
        return {
            "cost": self.of_decisions / self.n_rows,
            "cost_of_likeliest_class": self.of_predictions / self.n_rows if decides_classes else None,
            "expected_cost": self.expected / self.n_rows,
            "actions": list(self.costs.loss.table.actions),
            "decisions": self.decisions.tolist(),
        }
