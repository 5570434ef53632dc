import dataclasses
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from fairlead.core.values import dataclass, field, names_of, replace

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Buoy:
    """A value with a default and a place of its own for each list."""

    name: str
    depth: int = 3
    lights: list[str] = field(default_factory=list)

    @property
    def is_lit(self) -> bool:
        return bool(self.lights)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A value whose wording does not count."""

    number: int
    text: str = field(compare=False)


@dataclass(frozen=True)
class Chart:
    """A value without slots."""

    marks: tuple[Mark, ...] = ()


@dataclass(slots=True)
class Tally:
    """What may change."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class Box(Generic[Content]):
    """A value of something."""

    content: Content


@dataclass(frozen=True, slots=True)
class Nothing:
    """A value without fields."""


def test_a_value_is_created_by_position_by_name_and_by_both():
    whole = Buoy("red", 4, ["a"])

    assert Buoy(name="red", depth=4, lights=["a"]) == whole
    assert Buoy("red", lights=["a"], depth=4) == whole
    assert (whole.name, whole.depth, whole.lights) == ("red", 4, ["a"])
    assert whole.is_lit


def test_missing_fields_get_defaults_and_lists_are_not_shared():
    first, second = Buoy("red"), Buoy("red")

    assert first == Buoy("red", 3, [])
    assert first.lights is not second.lights
    assert Chart() == Chart(())


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        (("red", 4, [], 5), {}),
        (("red",), {"name": "green"}),
        (("red",), {"colour": "green"}),
        ((), {"depth": 4, "lights": []}),
        ((), {"name": "red", "depth": 4, "colour": "green"}),
        ((), {"depth": 4, "lights": [], "colour": "green"}),
        (("red", 4, []), {"colour": "green"}),
    ],
)
def test_too_many_too_few_and_unknown_fields_are_refused(
    given: tuple[object, ...], named: dict[str, object]
):
    make: Callable[..., object] = Buoy

    with pytest.raises(TypeError, match="for the fields name, depth, lights"):
        make(*given, **named)


def test_a_frozen_value_does_not_change():
    buoy, chart = Buoy("red"), Chart()

    with pytest.raises(dataclasses.FrozenInstanceError):
        buoy.depth = 5  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del buoy.depth
    with pytest.raises(dataclasses.FrozenInstanceError):
        chart.marks = ()  # type: ignore[misc]
    assert (buoy, chart) == (Buoy("red"), Chart())


def test_a_value_that_is_not_frozen_changes_and_has_no_hash():
    tally = Tally()
    tally.count += 1

    assert tally == Tally(1)
    with pytest.raises(TypeError):
        hash(tally)
    with pytest.raises(AttributeError):
        tally.other = 1  # type: ignore[attr-defined]


def test_values_are_equal_by_their_fields_and_their_class():
    @dataclass(frozen=True, slots=True)
    class Other:
        number: int
        text: str

    unlike: list[object] = [Mark(2, "a"), Other(1, "a"), (1,), (1, Mark), None]

    assert Mark(1, "a") == Mark(1, "b")
    assert all(Mark(1, "a") != each for each in unlike)
    assert len({Mark(1, "a"), Mark(1, "b"), Mark(2, "a"), Nothing(), Nothing()}) == 3


def test_values_are_ordered_by_their_compared_fields():
    content = [Mark(2, "a"), Mark(1, "z"), Mark(1, "a")]

    assert [mark.text for mark in sorted(content)] == ["z", "a", "a"]
    assert Mark(1, "z") <= Mark(1, "a") < Mark(2, "")
    assert Mark(2, "") > Mark(1, "") >= Mark(1, "a")
    with pytest.raises(TypeError):
        assert Mark(1, "") < 2  # type: ignore[operator]


def test_a_value_prints_its_fields_and_matches_by_them():
    assert repr(Mark(1, "a")) == "Mark(number=1, text='a')"
    match Mark(1, "a"):
        case Mark(number, text):
            assert (number, text) == (1, "a")


def test_replace_keeps_the_other_fields():
    assert replace(Buoy("red", 4, ["a"]), depth=5) == Buoy("red", 5, ["a"])
    with pytest.raises(TypeError):
        replace(Buoy("red"), colour="green")  # type: ignore[call-arg]


def test_only_values_have_field_names():
    assert names_of(Buoy) == names_of(Buoy("red")) == ("name", "depth", "lights")
    assert names_of(Box(1)) == ("content",)
    assert names_of("red") == names_of(str) == ()


def test_the_standard_library_accepts_these_values():
    buoy: Any = Buoy("red", lights=["a"])

    assert dataclasses.is_dataclass(Buoy)
    assert [each.name for each in dataclasses.fields(Buoy)] == ["name", "depth", "lights"]
    assert dataclasses.asdict(buoy) == {"name": "red", "depth": 3, "lights": ["a"]}
    assert dataclasses.replace(buoy, depth=4) == Buoy("red", 4, ["a"])
    assert [each.compare for each in dataclasses.fields(Mark)] == [True, False]
