"""Names and numbers as network files write them: names as identifiers, floats without loss.

In formats whose names are identifiers, other characters are written as ``X_`` hexadecimal ``_``. What is escaped is an
identifier everywhere: a letter first, then letters, digits and underscores. A file with escaped names says so (`MARK`),
and only then are they read back; in any other file ``X_41_`` is a name like all others.

A float is written as the shortest text that is read back as the same float64, which is what ``repr`` gives.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import product

from bayeswater.files.networks.document import NetworkDocument, Property
from bayeswater.typing import Array

MARK = "bayeswater_names"
"""Property of a network, or target of a processing instruction, with the value `ESCAPED`."""
ESCAPED = "escaped"

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SEQUENCE = re.compile(r"X_([0-9a-f]*)_")


def escaped(name: str) -> str:
    """Write a name so that it is an identifier.

    >>> escaped("Asy/Patch"), escaped("<5"), escaped("12"), escaped("X_41_"), escaped("")
    ('AsyX_2f_Patch', 'X_3c_5', 'X_31_2', 'X_58__41_', 'X__')
    """
    if not name:
        return "X__"
    name = SEQUENCE.sub(lambda found: "X_58_" + found[0][1:], name)
    first = name[0] if IDENTIFIER.fullmatch(name[0]) else f"X_{ord(name[0]):x}_"
    return first + re.sub(r"[^A-Za-z0-9_]", lambda found: f"X_{ord(found[0]):x}_", name[1:])


def unescaped(name: str) -> str:
    """Read a name that was written by `escaped`.

    >>> [unescaped(escaped(name)) for name in ("Asy/Patch", "<5", "12", "X_41_", "", "X_", "XX_41_")]
    ['Asy/Patch', '<5', '12', 'X_41_', '', 'X_', 'XX_41_']
    """
    return SEQUENCE.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    if not found[1]:
        return ""
    code = int(found[1], 16) if len(found[1]) <= 6 else 0x110000
    return chr(code) if code < 0x110000 else found[0]


def written_names(names: Iterable[str], good: Callable[[str], bool]) -> Mapping[str, str]:
    """Give every name as it is written: all as they are if all are `good`, else those escaped that need it.

    >>> written_names(["a", "b c"], str.isidentifier)
    {'a': 'a', 'b c': 'bX_20_c'}
    """
    names = list(dict.fromkeys(names))
    if all(map(good, names)):
        return {name: name for name in names}
    return {name: name if good(name) and not SEQUENCE.search(name) else escaped(name) for name in names}


def is_identifier(name: str) -> bool:
    """Tell whether a name needs no escape."""
    return IDENTIFIER.fullmatch(name) is not None


def escape_note(written: Mapping[str, str], what: str) -> list[str]:
    """Say which names were escaped."""
    changed = [name for name in written if written[name] != name]
    if not changed:
        return []
    shown = some([f"{name!r} as {written[name]}" for name in changed])
    return [f"{len(changed)} names that are no {what} were written escaped: {shown}"]


Carries = Callable[[Property], bool]
"""Whether a format can carry a property."""


def nothing(one: Property) -> bool:
    """Carry no property."""
    return False


def loss_notes(
    document: NetworkDocument, on_network: Carries, on_node: Carries, kinds: Iterable[str] = ()
) -> list[str]:
    """Say which properties were dropped, and which nodes became plain tables, being of none of the `kinds`."""
    lost = [(one, "the network") for one in document.properties if not on_network(one)]
    lost += [(one, repr(node.name)) for node in document.nodes for one in node.properties if not on_node(one)]
    dropped = [f"{(name or value)[:40]!r} of {owner}" for (name, value), owner in lost]
    plain = [repr(node.name) for node in document.nodes if node.kind != "table" and node.kind not in kinds]
    notes = []
    if dropped:
        notes.append(f"{len(dropped)} properties that the format cannot carry were dropped: {some(dropped)}")
    if plain:
        notes.append(f"{len(plain)} deterministic or noisy nodes were written as plain tables: {some(plain)}")
    return notes


def some(names: list[str]) -> str:
    """List the first few names.

    >>> some(["a", "b", "c", "d"])
    'a, b, c, ...'
    """
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def written_numbers(values: Array, between: str) -> str:
    """Write the numbers of an array in their order.

    >>> import numpy as np
    >>> written_numbers(np.array([0.1, 1 / 3]), ", ")
    '0.1, 0.3333333333333333'
    """
    return between.join(map(repr, values.reshape(-1).tolist()))


def configurations(n_states: Iterable[int]) -> Iterable[tuple[int, ...]]:
    """Count through the states of parents, the last one fastest, as the rows of a table do.

    >>> list(configurations([2, 2]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(*(range(n) for n in n_states))
