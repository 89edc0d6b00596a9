"""What decisions cost, in four pictures: against the costs, the threshold, the class frequency and the rows refused.

    python examples/cost_plots.py [cost_plots.png]

Needs matplotlib: pip install 'bayeswater[plot]'.
"""

import sys

from matplotlib import pyplot

from bayeswater import Loss, NaiveBayes
from bayeswater.demo.loans import loans
from bayeswater.plots import CostCurveDisplay, ErrorRejectDisplay, PriorDisplay, ThresholdDisplay


def main(path: str = "cost_plots.png") -> None:
    """Fit on two thirds of the loans, as they are and calibrated, and draw what both make of the rest."""
    table = loans().to_pandas()
    X, y = table.drop(columns=["outcome", "application_id"]), table["outcome"]
    models = {
        "plain": NaiveBayes().fit(X[:400], y[:400]),
        "calibrated": NaiveBayes(calibrate=True).fit(X[:400], y[:400]),
    }
    loss = Loss({"repaid": {"late": 5}, "late": {"repaid": 1}})
    figure, axes = pyplot.subplots(2, 2, figsize=(10.5, 8), layout="constrained")
    for name, model in models.items():
        rows = (model, X[400:], y[400:])
        CostCurveDisplay.from_estimator(*rows, positive="late", name=name, ax=axes[0, 0])
        ThresholdDisplay.from_estimator(*rows, loss, name=name, ax=axes[0, 1])
        PriorDisplay.from_estimator(*rows, loss, positive="late", name=name, ax=axes[1, 0])
        ErrorRejectDisplay.from_estimator(*rows, name=name, ax=axes[1, 1])
    figure.savefig(path, dpi=80)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
