"""Posteriors of networks of the public repositories, found once by summation in float64 with other code than ours.

Rounded to ten decimals (probabilities of evidence have more). The classic cases of Lauritzen and Spiegelhalter (asia)
are among them. A number alone is the probability of the first state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reference:
    """A network, what is observed, the probability of that, and marginals given it."""

    network: str
    marginals: Mapping[str, float | tuple[float, ...]]
    """Of the first state, or of as many as there are."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    probability: float = 1.0
    """Of the evidence."""


SICK = {"BP": "LOW", "HRBP": "HIGH", "SAO2": "LOW", "PAP": "HIGH", "HISTORY": "TRUE"}

REFERENCES = (
    Reference(
        "asia", {"tub": 0.0104, "lung": 0.055, "bronc": 0.45, "either": 0.064828, "xray": 0.11029004, "dysp": 0.4359706}
    ),
    Reference(
        "asia",
        {
            "asia": 0.0139836605,
            "tub": 0.1139333254,
            "smoke": 0.7856103861,
            "lung": 0.6212527967,
            "bronc": 0.6818685385,
            "either": 0.728725093,
        },
        {"xray": "yes", "dysp": "yes"},
        0.0706701044,
    ),
    Reference(
        "asia",
        {"tub": 0.087750965, "lung": 0.0995251451, "bronc": 0.8114020716},
        {"asia": "yes", "dysp": "yes"},
        0.004501375,
    ),
    Reference(
        "asia",
        {"tub": 0.0727595386, "lung": 0.1455190772, "bronc": 0.8672582076},
        {"asia": "yes", "dysp": "yes", "smoke": "yes"},
        0.0028175,
    ),
    Reference("cancer", {"Cancer": 0.01163, "Xray": 0.208141, "Dyspnoea": 0.3040705}),
    Reference("cancer", {"Cancer": 0.1294964029}, {"Xray": "positive", "Smoker": "True"}, 0.06672),
    Reference(
        "earthquake",
        {"Burglary": 0.5565220622, "Earthquake": 0.3517693613},
        {"JohnCalls": "True", "MaryCalls": "True"},
        0.0106438889,
    ),
    Reference("survey", {"T": (0.561833976, 0.280857252, 0.157308772)}),
    Reference("survey", {"T": (0.56896, 0.27312, 0.15792)}, {"S": "F", "E": "uni"}, 0.1112),
    Reference(
        "alarm",
        {
            "HR": (0.0140053714, 0.1711087703, 0.8148858583),
            "BP": (0.3899930877, 0.2047077625, 0.4052991498),
            "CO": (0.1723430731, 0.1844673596, 0.6431895672),
            "SAO2": (0.7964263472, 0.0316157755, 0.1719578773),
            "CATECHOL": 0.1001342843,
            "VENTLUNG": (0.7426392623, 0.2199898004, 0.0116437228, 0.0257272146),
            "PRESS": (0.0272144536, 0.2538232026, 0.2110182438, 0.5079441001),
        },
    ),
    Reference(
        "alarm",
        {
            "LVFAILURE": 0.8979491473,
            "HYPOVOLEMIA": 0.2101619659,
            "ANAPHYLAXIS": 0.0155981186,
            "PULMEMBOLUS": 0.1556767985,
            "INTUBATION": (0.9084105995, 0.0331332753, 0.0584561252),
            "KINKEDTUBE": 0.0470934614,
            "CATECHOL": 0.0023010212,
        },
        SICK,
        0.00129641310229,
    ),
    Reference(
        "child",
        {
            "Disease": (0.0553262022, 0.3567322618, 0.2428743105, 0.1914770111, 0.0714054936, 0.0821847209),
            "Sick": 0.342681275,
        },
        {"LowerBodyO2": "<5", "CO2Report": ">=7.5"},
        0.0959153209702,
    ),
    Reference("insurance", {"PropCost": (0.5629455909, 0.3151875948, 0.1050702943, 0.0167965201)}),
    Reference(
        "insurance",
        {"Accident": (0.0003517857, 0.0051348314, 0.2786157944, 0.7158975885)},
        {"PropCost": "Million", "Age": "Adolescent"},
        0.00503952794005,
    ),
    Reference(
        "hailfinder",
        {
            "R5Fcst": (0.2520648054, 0.4405994793, 0.3073357153),
            "PlainsFcst": (0.6136511897, 0.2382400215, 0.1481087888),
        },
    ),
    Reference(
        "hepar2",
        {"PBC": 0.4768817576, "Cirrhosis": (0.0573887659, 0.022675339, 0.9199358951)},
        {"ascites": "present", "jaundice": "present"},
        0.0370820126785,
    ),
    Reference("win95pts", {"Problem1": 0.572553964}),
)
