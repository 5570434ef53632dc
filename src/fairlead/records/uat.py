"""UAT.md: what a person has tried, and what came of it."""

import re

from fairlead.errors import Located
from fairlead.records.keys import text_of
from fairlead.text.document import Document
from fairlead.values import dataclass

_TEST = re.compile(r"###\s+(\d{1,4})[.)]?\s+(.+)")
_FIELD = re.compile(r"(expected|result|reported|reason|severity):\s*(.*)")


@dataclass(frozen=True, slots=True)
class Trial:
    """One test that a person was asked to make."""

    number: int
    name: str
    expected: str = ""
    result: str = "pending"  # pass, issue, skipped, blocked
    reported: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Uat:
    """A session of them."""

    status: str
    trials: tuple[Trial, ...]


def read_uat(path: str, text: str) -> Uat:
    """A session, as far as it can be read."""
    with Located(path):
        document = Document(text)
        status = text_of(document.shown_front, "status").casefold()
    rows: list[tuple[int, str, int, dict[str, str]]] = []
    last = ""
    for at, line in enumerate(document.lines, 1):
        words = line.text
        if match := _TEST.match(words):
            rows.append((int(match[1]), match[2].strip(), at, {}))
            last = ""
        elif words.startswith("#"):
            last = "#"
        elif rows and last != "#":
            if match := _FIELD.match(words):
                last = match[1]
                rows[-1][3].setdefault(last, match[2].strip().strip("|"))
            elif last == "expected" and words.startswith(" "):
                rows[-1][3][last] = f"{rows[-1][3][last]} {words.strip()}".strip()
    return Uat(status, tuple(_trial(*row) for row in rows))


def _trial(number: int, name: str, line: int, fields: dict[str, str]) -> Trial:
    told = fields.get("result", "").strip("[]\"' ").casefold().split()
    result = told[0].strip(".,:;*") if told else "pending"
    return Trial(
        number, name, fields.get("expected", ""), {"passed": "pass"}.get(result, result),
        fields.get("reported", "").strip("\"'"), line,
    )  # fmt: skip
