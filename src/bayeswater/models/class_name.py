"""What the class is called where it stands beside columns: in tables, and as a variable of a network."""

from collections.abc import Collection


def class_name(columns: Collection[str]) -> str:
    """Give the class a name that no column has.

    >>> class_name(["age"]), class_name(["age", "class"]), class_name(["class", "(class)"])
    ('class', '(class)', '((class))')
    """
    name = "class"
    while name in columns:
        name = f"({name})"
    return name
