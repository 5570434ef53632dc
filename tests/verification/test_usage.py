"""Patterns in links of plans: they are searched as patterns unless they could run for ever."""

import pytest

from fairlead.plans.model import Link
from fairlead.verification.usage import SourceIndex, link_fault


def fault(pattern: str, text: str) -> str:
    link = Link("a.ts", "b.ts", "", pattern)
    return link_fault(link, SourceIndex({"a.ts": text}))[0]


@pytest.mark.parametrize(
    "pattern",
    [
        r"fetch\(.*api/chat",
        r"prisma\.(find|create)",
        "(chat)+",
        r"fetch.*api.*chat",
        r"\bfetch\(",
        r"(?:await )?fetch",
    ],
)
def test_a_harmless_pattern_is_searched_as_a_pattern(pattern: str):
    text = "const a = await fetch('/api/chat'); prisma.find()\n"

    assert fault(pattern, text) == ""


@pytest.mark.parametrize(
    "pattern",
    ["(a|a)*$", "((a+))+$", "(a|aa)+$", "(?:a?b?)+x", "a*a*a*a*a*a*b", ".*.*.*.*=x", "(a*)*b"],
)
def test_a_pattern_that_could_run_for_ever_is_searched_literally(pattern: str):
    assert "is not found" in fault(pattern, "a" * 5000 + "!\n")
