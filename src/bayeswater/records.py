"""Frozen dataclasses that are quickly made: a class of values is a `record`.

``@record`` is ``@dataclass(frozen=True)`` of the standard library: `field`, `fields`, `replace`, `asdict` and
``__post_init__`` work as there, and nothing can be assigned. The library writes six methods of each class as text and
compiles them, and with the few hundred classes that a model needs this was two thirds of the time to import one. Here
only ``__init__`` is written; the others are closures over the names of the fields. With the library's own, a program
that imports `NaiveBayes`, or ``bayeswater predict``, takes a fifth more of the processor, one that imports
`BayesianNetwork` two fifths; ``import bayeswater`` and ``bayeswater --version`` take as long as without.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"  # as a signature shows it


_FACTORY = _Factory()
"""Default of a parameter whose value a factory makes."""


@overload
def record(cls: type[T], /) -> type[T]: ...


@overload
def record(*, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: Any = None, /, *, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Any:
    """Make a class of values of one whose fields are annotated.

    Parameters
    ----------
    eq : bool, default True
        Whether objects of the same class and values are equal, and hashed by their values.
    repr : bool, default True
        Whether objects are shown with their values.
    kw_only : bool, default False
        Whether all values are given by name.

    Examples
    --------
    >>> @record
    ... class Interval:
    ...     low: float
    ...     high: float = 1.0
    >>> Interval(0.5)
    Interval(low=0.5, high=1.0)
    >>> Interval(0.5) == Interval(0.5, 1.0)
    True
    """

    def made(own: Any) -> Any:
        has_hash = vars(own).get("__hash__") is not None or ("__hash__" in vars(own) and "__eq__" not in vars(own))
        found: Any = dataclass(init=False, eq=False, repr=False, kw_only=kw_only)(own)
        _add(found, _init_of(found))
        if repr:
            _add(found, _repr_of(tuple(one.name for one in fields(found) if one.repr)))
        if eq:
            equals, hashed = _eq_and_hash_of(tuple(one.name for one in fields(found) if one.compare))
            _add(found, equals)
            if not has_hash:
                found.__hash__ = hashed
        for refuses in _refusals_of(found):
            _add(found, refuses)
        return found

    return made if cls is None else made(cls)


def _add(own: Any, method: Any) -> None:
    """Add a method, unless the class has its own."""
    if method.__name__ not in vars(own):
        method.__qualname__ = f"{own.__qualname__}.{method.__name__}"
        setattr(own, method.__name__, method)


def _init_of(own: Any) -> Any:
    """Write ``__init__``: values go to where `__setattr__` would put them, if it did not refuse."""
    names: dict[str, Any] = {"_FACTORY": _FACTORY}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = ["_values = self.__dict__"]
    for one in fields(own):
        value, default = one.name, f"_default_{one.name}"
        if one.default_factory is not MISSING:
            names[default] = one.default_factory
            value = f"{default}() if {one.name} is _FACTORY else {one.name}" if one.init else f"{default}()"
            parameter = f"{one.name}=_FACTORY"
        elif one.default is not MISSING:
            names[default] = one.default
            parameter = f"{one.name}={default}"
        else:
            parameter = one.name
        if one.init:
            parameters[bool(one.kw_only)].append(parameter)
        if one.init or one.default_factory is not MISSING:
            lines.append(f"_values[{one.name!r}] = {value}")
    if hasattr(own, "__post_init__"):
        lines.append("self.__post_init__()")
    listed = ", ".join(["self", *parameters[False], *(["*"] if parameters[True] else []), *parameters[True]])
    exec(f"def __init__({listed}):\n " + "\n ".join(lines), names)
    init = names["__init__"]
    init.__annotations__ = {one.name: one.type for one in fields(own) if one.init} | {"return": None}
    init.__module__ = own.__module__
    return init


def _repr_of(names: tuple[str, ...]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _eq_and_hash_of(names: tuple[str, ...]) -> tuple[Any, Any]:
    values: Callable[[Any], Any]
    if len(names) > 1:
        values = attrgetter(*names)
    else:

        def values(of: Any) -> tuple[Any, ...]:
            return tuple(getattr(of, name) for name in names)

    def __eq__(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__


def _refusals_of(own: Any) -> tuple[Any, Any]:
    """Refuse to assign and to delete; a class below that is no record may have attributes of its own."""
    names = frozenset(one.name for one in fields(own))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is own or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(own, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is own or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(own, self).__delattr__(name)

    return __setattr__, __delattr__
