"""Cars in every combination of six properties, judged by a rule: a table whose counts can be worked out by anyone.

A full factorial, as the car table of UCI is, with a rule of our own in place of its labels.
"""

from itertools import product

PRICES = ("vhigh", "high", "med", "low")
PROPERTIES = {
    "buying": PRICES,
    "maint": PRICES,
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}


def cars() -> list[tuple[str, ...]]:
    """All 1728 cars, the last property changing fastest."""
    return list(product(*PROPERTIES.values()))


def judgement(car: tuple[str, ...]) -> str:
    """Judge a car: unsafe or for two it is out; then comfort is weighed against the price."""
    level = {name: PROPERTIES[name].index(value) for name, value in zip(PROPERTIES, car, strict=True)}
    if level["safety"] == 0 or level["persons"] == 0:
        return "unacc"
    comfort = level["lug_boot"] + min(level["doors"], 2) + level["safety"]
    price = min(level["buying"], level["maint"])  # 0 is the dearest
    if comfort + price < 3:
        return "unacc"
    if level["buying"] < 2 or comfort < 4:
        return "acc"
    return "vgood" if level["safety"] == 2 and comfort + price > 5 else "good"
