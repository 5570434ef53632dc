"""Values survive JSON, and input that does not fit its declared type is reported with path and reason."""

from enum import StrEnum

import pytest

from fairlead.core.errors import MalformedRecord
from fairlead.core.serialization import Mismatch, convert, plain, revived
from fairlead.core.values import dataclass


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    level: Level = Level.LOW
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    parts: tuple[Part, ...] = ()
    tags: frozenset[str] = frozenset()
    note: tuple[str, ...] | str = ""


WHOLE = Whole((Part("a", Level.HIGH, 2.0), Part("b")), frozenset({"x", "y"}), ("one", "two"))


def test_a_value_survives_the_round_trip():
    assert revived(Whole, plain(WHOLE)) == WHOLE
    assert convert(Whole, plain(WHOLE)) == (WHOLE, ())


def test_unknown_keys_are_ignored():
    assert convert(Part, {"name": "a", "colour": "red"}) == (Part("a"), ())


def test_every_mismatch_is_reported_with_its_path():
    value, mismatches = convert(
        Whole, {"parts": [{"name": 1}, {"name": "b", "level": "middle"}, "c"], "note": 3}
    )

    assert value is None
    assert [(mismatch.path, mismatch.expected) for mismatch in mismatches] == [
        ("parts[0].name", "str"),
        ("parts[1].level", "Level"),
        ("parts[2]", "a map"),
        ("note", "str"),
    ]
    assert str(mismatches[0]) == "parts[0].name: expected str, not 1"


def test_a_missing_field_is_a_mismatch_of_its_record():
    assert convert(Part, {"level": "low"}, "part") == (None, (Mismatch("part", "Part", ["level"]),))


@pytest.mark.parametrize("value", [True, "1", None])
def test_an_integer_is_neither_a_boolean_nor_a_text(value: object):
    assert convert(int, value, "count")[1] == (Mismatch("count", "int", value),)


def test_a_stored_record_raises_at_the_first_mismatch():
    with pytest.raises(MalformedRecord, match="name: expected str, found 1"):
        revived(Part, {"name": 1, "level": "middle"}, "job.json")
