"""A small network of a cough: what the season and smoking bring about, and what a doctor sees of it.

The probabilities are invented, and of a size that makes every question worth asking.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayeswater.models.network.bayesian_network import BayesianNetwork


def cough() -> "BayesianNetwork":
    """Give the network.

    >>> network = cough()
    >>> len(network.names), network.query("bronchitis", {"smoker": "yes"})["yes"]
    (8, 0.3)
    """
    from bayeswater.models.network.bayesian_network import BayesianNetwork

    yes_no = ("yes", "no")

    def chance(*shares: float) -> list[list[float]]:
        return [[share, 1 - share] for share in shares]

    return BayesianNetwork(
        "season -> flu; season -> cold; smoker -> bronchitis; flu -> fever; cold -> fever; flu -> cough; "
        "cold -> cough; bronchitis -> cough; bronchitis -> breathless",
        tables={
            "season": [0.3, 0.7],
            "smoker": [0.25, 0.75],
            "flu": chance(0.12, 0.02),
            "cold": chance(0.3, 0.1),
            "bronchitis": chance(0.3, 0.05),
            "fever": [chance(0.95, 0.9), chance(0.2, 0.01)],
            "cough": [[chance(0.97, 0.8), chance(0.92, 0.6)], [chance(0.93, 0.55), chance(0.8, 0.03)]],
            "breathless": chance(0.6, 0.05),
        },
        states={
            "season": ("winter", "other"),
            **dict.fromkeys(("smoker", "flu", "cold", "bronchitis", "fever", "cough", "breathless"), yes_no),
        },
    )
