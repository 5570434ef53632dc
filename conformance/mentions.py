"""A simple line-by-line reader of roadmaps for the rules, independent of the product's reader."""

import re
from functools import cached_property

_WORD = r"(?:Phase|Фаза|Этап|Fase|Etapa|Étape|Etap|Fáze|阶段|階段|フェーズ|단계)"
_ID = r"(\d+[A-Za-z]?(?:\.\d+)*)"
_THEIRS = re.compile(
    r"^ {0,3}#{2,4}\s*(?:\[[^\]\n]{1,200}\]\s*)?Phase\s+"
    r"([A-Za-z]?\d+[A-Z]?(?:[.-]\d+)*)(?:\s*\([^)\n]{0,200}\))?\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN = re.compile(r"#{2,4}\s*Phase\s+(\w[\w.-]*)(?:\s*\([^)\n]{0,200}\))?\s*:", re.IGNORECASE)
_MENTION = re.compile(
    rf"^\s*(?:#+|[-*+](?:\s+\[[ xX]\])?|\|)[^\w\n]*(?:{_WORD}\s*)?(?:[A-Z][A-Z0-9_]*-)?{_ID}(?![\w])",
    re.IGNORECASE,
)
_STRUCK = re.compile(rf"~~\W*{_WORD}\s*{_ID}", re.IGNORECASE)
_VERSION = re.compile(r"\bv\d+(?:\.\d+)+\b", re.IGNORECASE)
_MILESTONE = re.compile(
    rf"^(?:#{{1,3}}\s+(?!\W*{_WORD}\s*\d)|\s*<summary>|(?:[-*+]\s)(?=\W*v\d)).*?(v\d+(?:\.\d+)+)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_OTHER_HEADING = re.compile(rf"^#{{1,2}}\s+(?!\W*{_WORD}\s*\d)", re.IGNORECASE)


def key_of_id(number: str) -> str:
    """A phase number without leading zeros and without a project code."""
    bare = re.sub(r"^[A-Za-z][A-Za-z0-9_]*-(?=\d)", "", number)
    return re.sub(r"(?<!\d)0+(?=\d)", "", bare.upper())


def theirs(text: str) -> list[str]:
    """The numbers of the headings that the reference tool counts."""
    return [key_of_id(number) for number in _THEIRS.findall(text)]


def plain(text: str) -> list[str]:
    """The same for its state, which reads no tag before the word, but finds it anywhere."""
    return [key_of_id(number) for number in _PLAIN.findall(text) if re.search(r"\d", number)]


def struck(text: str) -> set[str]:
    """The phases that its state leaves out because they are struck through."""
    return {
        key_of_id(number)
        for number in re.findall(r"~~[^\w\n]*Phase\s+(\d+[A-Za-z]?(?:\.\d+)*)", text)
    }


class Mentions:
    """The mentions of phases in a roadmap."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.versions: dict[str, set[str]] = {}  # by phase: the milestones it is listed under
        self.struck: set[str] = set()
        self._read()

    @cached_property
    def examples(self) -> set[str]:
        """Numbers of headings that occur only in a fence or a comment."""
        return set(theirs(self.text)) - set(theirs("\n".join(self._live))) - set(self.versions)

    @cached_property
    def headings(self) -> set[str]:
        """Numbers with a heading in the reference tool's form."""
        return set(theirs("\n".join(self._live)))

    def _read(self) -> None:
        self._live: list[str] = []
        version, fence, is_comment = "", "", False
        for line in self.text.split("\n"):
            found = _FENCE.match(line)
            if fence:
                is_end = found and found[1].startswith(fence) and not line.strip(" `~")
                fence = "" if is_end else fence
                continue
            if found:
                fence = found[1]
                continue
            is_start = "<!--" in line
            if is_comment or is_start:
                is_comment = (
                    "-->" not in line.rpartition("<!--")[2] if is_start else "-->" not in line
                )
                continue
            self._live.append(line)
            version = self._after(line, version)
            self._mentioned(line, version)

    def _after(self, line: str, version: str) -> str:
        found = _MILESTONE.match(line)
        if found:
            return found[1]
        return "" if "</details>" in line or _OTHER_HEADING.match(line) else version

    def _mentioned(self, line: str, version: str) -> None:
        self.struck |= {key_of_id(number) for number in _STRUCK.findall(line)}
        found = _MENTION.match(line)
        if found and not _MILESTONE.match(line):
            own = _VERSION.search(line) if line.lstrip().startswith("|") else None
            self.versions.setdefault(key_of_id(found[1]), set()).add(own[0] if own else version)
