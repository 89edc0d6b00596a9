"""`Display`: what the displays share: how they come from a classifier, and where they are drawn."""

from abc import ABC, abstractmethod
from typing import Any, Generic, Self, TypeVar

from bayeswater.plots.canvas import finish

Curve = TypeVar("Curve")


class Display(ABC):
    """A curve and where it was drawn.

    Attributes
    ----------
    line_ : the main line
    ax_, figure_ : the axes and the figure it is in
    """

    name: str | None
    line_: Any
    ax_: Any
    figure_: Any

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *args: Any, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw what a fitted classifier makes of the rows X of classes y; see `from_predictions` for the options."""
        name = type(estimator).__name__ if name is None else name
        proba, labels = estimator.predict_proba(X), estimator.classes_
        return cls.from_predictions(y, proba, *args, labels=labels, name=name, ax=ax, **options)

    @classmethod
    @abstractmethod
    def from_predictions(cls, y: Any, proba: Any, *args: Any, **options: Any) -> Self:
        """Draw what probabilities (n_rows, n_classes) of rows of classes y say."""

    @abstractmethod
    def plot(self, ax: Any = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw on new axes, or on those given; `style` goes to the main line."""

    def _drawn(self, ax: Any, line: Any, x_label: str, y_label: str) -> Self:
        finish(ax, x_label, y_label)
        self.line_, self.ax_, self.figure_ = line, ax, ax.figure
        return self


class CurveDisplay(Display, Generic[Curve]):
    """A display of one curve, and the name of the classifier it is of."""

    def __init__(self, curve: Curve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name
