"""Identifiers."""

import pytest

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId, slug


def test_phases_are_ordered_by_their_parts() -> None:
    texts = ["2", "2.1", "2.2", "2.10", "2A", "2B", "10"]
    assert sorted(map(PhaseId.parse, reversed(texts))) == [PhaseId.parse(text) for text in texts]


@pytest.mark.parametrize(
    ("one", "other"), [("4", "04"), ("04.5", "4.5"), ("12a", "12A"), ("PROJ-07", "7")]
)
def test_spelling_does_not_distinguish_phases(one: str, other: str) -> None:
    assert PhaseId.parse(one) == PhaseId.parse(other)
    assert str(PhaseId.parse(one)) == one


def test_four_ten_is_not_four_one() -> None:
    assert PhaseId.parse("4.10") != PhaseId.parse("4.1")
    assert (PhaseId.parse("4.10").padded, PhaseId.parse("04.10").short) == ("04.10", "4.10")


@pytest.mark.parametrize(
    "text", ["", "x", "4.", "1..2", "../1", "1; rm", "-1", "4,5", "1" * 9, "١"]
)
def test_a_text_that_is_no_phase_is_refused(text: str) -> None:
    with pytest.raises(MalformedId):
        PhaseId.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("OAuth2 Handler", "oauth2-handler"), ("--a__b--", "a-b"), ("東京", "")]
)
def test_slugs_are_ascii(text: str, expected: str) -> None:
    assert slug(text) == expected
