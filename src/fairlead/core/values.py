"""Dataclasses that cost almost nothing to define.

The standard library compiles six methods for every dataclass, half a millisecond each, and
`phase execute` loads 120 of them. These classes share their methods and compile nothing: see
decision 10. They are written and type-checked like dataclasses, and the library's `fields`,
`replace` and `asdict` accept them.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, ge, gt, le, lt
from typing import TYPE_CHECKING, Any, NoReturn

_Method = Callable[..., Any]


def names_of(value: object) -> tuple[str, ...]:
    """The fields of a value or its class, in order; empty for anything else."""
    kind = value if isinstance(value, type) else type(value)
    shape: _Shape | None = getattr(kind, "__shape__", None)
    return shape.names if shape else ()


class _Field:
    """A field with more than a default."""

    __slots__ = ("compare", "default_factory")

    def __init__(
        self, *, default_factory: Callable[[], object] | None = None, compare: bool = True
    ) -> None:
        self.default_factory = default_factory
        self.compare = compare


class _Shape:
    """The fields of a class and their defaults."""

    __slots__ = ("compared", "defaults", "factories", "names")

    def __init__(self, names: tuple[str, ...], declared: dict[str, object]) -> None:
        self.names = self.compared = names
        self.defaults: dict[str, object] = {}
        self.factories: dict[str, Callable[[], object]] = {}
        for name, default in declared.items():
            if not isinstance(default, _Field):
                self.defaults[name] = default
                continue
            if default.default_factory:
                self.factories[name] = default.default_factory
            if not default.compare:
                self.compared = tuple(other for other in self.compared if other != name)

    def trailing_defaults(self) -> dict[int, tuple[object, ...]]:
        """The defaults that complete so many positional values; without factories only."""
        trailing: dict[int, tuple[object, ...]] = {len(self.names): ()}
        for at in reversed(range(len(self.names))):
            if self.names[at] not in self.defaults:
                break
            trailing[at] = (self.defaults[self.names[at]], *trailing[at + 1])
        return trailing

    def filled(self, given: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
        """Every field by its name. Raises TypeError for too many, too few or unknown arguments."""
        arguments = {**dict(zip(self.names, given)), **named}  # noqa: B905  # counted below
        made = {name: make() for name, make in self.factories.items() if name not in arguments}
        values = {**self.defaults, **made, **arguments}
        if len(arguments) != len(given) + len(named) or values.keys() != set(self.names):
            count = f"{len(given)} values and {', '.join(named) or 'no names'}"
            raise TypeError(f"{count} given for the fields {', '.join(self.names)}")
        return values


class _Described:
    """`__dataclass_fields__`, built when the library asks for it."""

    def __get__(self, _: object, kind: Any) -> dict[str, Any]:
        import dataclasses

        shape: _Shape = kind.__shape__
        fields = []
        for name in shape.names:
            words: dict[str, Any] = {"compare": name in shape.compared}
            if name in shape.defaults:
                words["default"] = shape.defaults[name]
            if name in shape.factories:
                words["default_factory"] = shape.factories[name]
            fields.append((name, kind.__annotations__[name], dataclasses.field(**words)))
        made: Any = dataclasses.make_dataclass(kind.__name__, fields)
        kind.__dataclass_fields__ = made.__dataclass_fields__
        return made.__dataclass_fields__  # type: ignore[no-any-return]


def _value(*, frozen: bool = False, slots: bool = False, order: bool = False) -> _Method:
    """The decorator `dataclass`; see the docstring of the module."""

    def made(kind: Any) -> Any:
        names = tuple(kind.__annotations__)
        members = {name: value for name, value in vars(kind).items() if name not in _NOT_COPIED}
        shape = _Shape(names, {name: members.pop(name) for name in names if name in members})
        # With the class in the key, attrgetter returns a tuple even for a single field.
        key = attrgetter(*shape.compared, "__class__")
        shared = {
            "__shape__": shape,
            "__match_args__": names,
            "__dataclass_fields__": _Described(),
            "__repr__": _repr,
            "__eq__": _eq(key),
            "__hash__": (lambda self: hash(key(self))) if frozen else None,
        }
        if frozen:
            shared |= {"__setattr__": _frozen, "__delattr__": _frozen}
        if order:
            shared |= {f"__{than.__name__}__": _order(than, key) for than in (lt, le, gt, ge)}
        if slots:
            shared["__slots__"] = names
        made = type(kind)(kind.__name__, kind.__bases__, {**shared, **members})
        made.__qualname__ = kind.__qualname__
        made.__init__ = _slots_init(made, shape) if slots else _dict_init(shape)
        return made

    return made


_NOT_COPIED = frozenset({"__dict__", "__weakref__"})


def _slots_init(kind: type, shape: _Shape) -> _Method:
    names = dict.fromkeys(shape.names).keys()
    setters = tuple(getattr(kind, name).__set__ for name in names)
    pairs = tuple(zip(names, setters, strict=True))
    trailing = shape.trailing_defaults()

    def init(self: object, *given: object, **named: object) -> None:
        if not named and len(given) in trailing:
            for put, value in zip(setters, given + trailing[len(given)]):  # noqa: B905  # as many
                put(self, value)
            return
        if named.keys() != names:
            named = shape.filled(given, named)
        for name, put in pairs:
            put(self, named[name])

    return init


def _dict_init(shape: _Shape) -> _Method:
    names = dict.fromkeys(shape.names).keys()

    def init(self: object, *given: object, **named: object) -> None:
        vars(self).update(named if named.keys() == names else shape.filled(given, named))

    return init


def _eq(key: Callable[[object], object]) -> _Method:
    def eq(self: object, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return eq


def _order(than: _Method, key: Callable[[object], object]) -> _Method:
    def compared(self: object, other: object) -> Any:
        if other.__class__ is self.__class__:
            return than(key(self), key(other))
        return NotImplemented

    return compared


def _repr(self: object) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names_of(self))
    return f"{type(self).__qualname__}({fields})"


def _frozen(self: object, name: str, _: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _replaced(value: Any, /, **changes: object) -> Any:
    """A copy of the value with other values for these fields."""
    return type(value)(**{name: getattr(value, name) for name in names_of(value)} | changes)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _value, _Field, _replaced
