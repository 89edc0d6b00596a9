"""What smoothing does to an answer: the probability of yes for a row with a value that yes has never had.

    python examples/smoothing_curve.py [docs/images/smoothing.svg]

Needs matplotlib: pip install 'bayeswater[plot]'.
"""

import sys

import numpy as np
from matplotlib import pyplot

from bayeswater import CategoricalNB

X = [["tall", "rich"], ["tall", "poor"], ["tall", "rich"], ["short", "poor"], ["short", "rich"], ["tall", "poor"]]
y = ["yes", "yes", "yes", "no", "no", "no"]


def main(path: str = "smoothing.svg") -> None:
    """Read the parameters again for each smoothing, off the same counts."""
    model = CategoricalNB().fit(X, y)
    alphas = np.linspace(0, 5, 101)
    answers = [model.set_params(alpha=alpha).predict_proba([["short", "rich"]])[0, 1] for alpha in alphas]
    figure, ax = pyplot.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(alphas, answers)
    ax.axhline(0.5, color="grey", linewidth=0.8, linestyle="dotted")
    ax.set(xlabel="alpha", ylabel="P(yes | short, rich)", xlim=(0, 5), ylim=(0, 0.6))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
