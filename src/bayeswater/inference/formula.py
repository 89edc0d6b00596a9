"""What a cell is read as, and what it adds to the log-joints, as plain data.

Whoever scores rows without this library, in SQL or C for one, needs no more of a law than that. A cell is read as one
of these forms; what is none of its own is left out, as unseen:

- `NumberForm`: a number within limits
- `LabelForm`: a state, by its label
- `BinForm`: a state, by the cuts that a number lies between
- `WordForm`: words, with how often each is there

and a formula says what it adds to the log-joint of each class, up to what all classes share: `Lookup`, `Distance`,
`Weights`, `Circle`, `WordWeights`, `ScaledWords`. Arrays end with one entry for each class.
"""

from math import inf
from typing import Any

from bayeswater.data.reading.text import TextAnalyser
from bayeswater.records import record
from bayeswater.typing import Array


@record
class NumberForm:
    """A number over `low`, or from it on (`is_closed`), and under `high`; whole where only counts can be."""

    low: float = -inf
    high: float = inf
    is_closed: bool = False
    is_whole: bool = False


@record
class LabelForm:
    """One of some labels; its state is the place in the list."""

    labels: tuple[Any, ...]

    @property
    def n_states(self) -> int:
        """Number of labels."""
        return len(self.labels)


@record
class BinForm:
    """A number, whose state is the number of cuts, in rising order, that it reaches or (`above`) passes."""

    cuts: tuple[float, ...]
    above: bool = False

    @property
    def n_states(self) -> int:
        """Number of bins."""
        return len(self.cuts) + 1


@record
class WordForm:
    """Known words of a text, in order; None where they are codes of a hash, or columns of a block."""

    words: tuple[str, ...] | None
    analyser: TextAnalyser | None


CellForm = NumberForm | LabelForm | BinForm | WordForm


@record
class Lookup:
    """What each state adds: (n_states + 1, n_classes), missing cells last, which may be a state of their own.

    A cell that is unseen adds nothing.
    """

    log_likelihood: Array
    missing_is_state: bool


@record
class Distance:
    """Normal or Student's t: intercept - weight times z, or log(1 + z), for z = (scale (x - mean))^2.

    Arrays are (n_classes,); with `is_log`, x is the logarithm of the number.
    """

    intercept: Array
    weight: Array
    mean: Array
    scale: Array
    is_student: bool
    is_log: bool


@record
class Weights:
    """A line: intercept (n_classes,) and weights (n_features, n_classes) of the number or of its logarithms.

    Features are "x", or "log x" and "log(1 - x)". A weight of -inf makes a feature other than 0 impossible.
    """

    features: tuple[str, ...]
    weights: Array
    intercept: Array


@record
class Circle:
    """Von Mises: intercept - 2 kappa sin(pi x / period - mu / 2)^2; arrays are (n_classes,)."""

    period: float
    mu: Array
    kappa: Array
    intercept: Array


@record
class WordWeights:
    """What each word adds (n_words, n_classes), as often as it is there or, `once`, once; and any text: (n_classes,).

    With `certain`, an infinite weight makes its class certain rather than impossible.
    """

    weights: Array
    intercept: Array
    once: bool
    certain: bool = False


@record
class ScaledWords:
    """What each word adds (n_words, n_classes) in a text of length 1, and any text with a known word: (n_classes,).

    A word is a mark, or (not `is_marked`) the logarithm of 1 + its count; all are divided by their length together or,
    `by_root`, by its root.
    """

    weights: Array
    intercept: Array
    is_marked: bool
    by_root: bool = False


Formula = Lookup | Distance | Weights | Circle | WordWeights | ScaledWords
