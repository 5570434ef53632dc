"""Source code as text: its language by file name, and where its comments and strings are.

The scanner knows no grammar, only how each family of languages writes comments and strings.
Blanking keeps the length and the lines, so an offset is valid in every view of a file.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern

_BY_ENDING = {
    "py": "python", "pyw": "python", "pyi": "python-types",
    "js": "js", "mjs": "js", "cjs": "js", "jsx": "js", "ts": "js", "tsx": "js", "mts": "js", "cts": "js",
    "vue": "markup", "svelte": "markup", "astro": "markup", "html": "markup", "htm": "markup",
    "go": "go", "rs": "rust", "java": "java", "kt": "java", "cs": "java", "swift": "java",
    "php": "java", "c": "java", "cc": "java", "cpp": "java", "scala": "java", "dart": "java",
    "rb": "ruby", "rake": "ruby", "sh": "shell", "bash": "shell", "zsh": "shell", "bats": "shell",
    "css": "css", "scss": "css", "less": "css", "sql": "sql",
    "md": "markdown", "mdx": "markdown", "rst": "markdown",
    "json": "data", "yml": "settings", "yaml": "settings", "toml": "settings", "ini": "settings",
    "cfg": "settings", "env": "settings", "conf": "settings", "tf": "settings",
}  # fmt: skip
CODE = frozenset(("python", "js", "go", "rust", "java", "ruby", "shell"))
FILLER = "\x01"
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_TICKS = r"`(?:\\.|[^`\\])*`"
_BLOCK = r"/\*[\s\S]*?(?:\*/|\Z)"  # an unclosed comment extends to the end of the file
_REGEX = r"(?<=[=(,:\[!&|?{};+\n])[ \t]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*"
_TRIPLE = r"\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z)"
_FAMILIES = {
    "python": (r"#[^\n]*", f"{_TRIPLE}|{_QUOTED}"),
    "js": (rf"//[^\n]*|{_BLOCK}", f"{_QUOTED}|{_TICKS}|{_REGEX}"),
    "go": (rf"//[^\n]*|{_BLOCK}", f"{_QUOTED}|{_TICKS}"),
    "rust": (rf"//[^\n]*|{_BLOCK}", r"\"(?:\\.|[^\"\\])*\"|'(?:\\.[^'\n]*|[^'\\\n])'"),
    "java": (rf"//[^\n]*|{_BLOCK}", f"{_TRIPLE}|{_QUOTED}"),
    "ruby": (r"(?<![\w\"'{$])#(?!\{)[^\n]*|^=begin\b[\s\S]*?^=end\b", _QUOTED),
    "shell": (r"(?<![\w$\"'{(])#[^\n]*", r"\"(?:\\[\s\S]|[^\"\\])*\"|'[^']*'"),
    "css": (_BLOCK, _QUOTED),
    "sql": (rf"--[^\n]*|{_BLOCK}", _QUOTED),
    "settings": (r"(?m:(?<!\S)[#;][^\n]*)", _QUOTED),
    "markup": (r"<!--[\s\S]*?(?:-->|\Z)", r"(?!)"),
    "markdown": (r"<!--[\s\S]*?(?:-->|\Z)", r"(?!)"),
}
_FAMILIES["python-types"] = _FAMILIES["python"]
_SCANNERS = {
    family: lazy_pattern(f"(?P<comment>{comment})|(?P<string>{string})", re.MULTILINE)
    for family, (comment, string) in _FAMILIES.items()
}
_ALL_BUT_LINES = lazy_pattern(r"[^\n]")


class Piece(NamedTuple):
    """A comment or a string, and its first line."""

    line: int
    text: str


def language_of(path: str) -> str:
    """Return the language family of a file by its name; empty if it is unknown."""
    name = path.rpartition("/")[2].lower()
    if name.startswith(".env"):
        return "settings"
    return _BY_ENDING.get(name.rpartition(".")[2], "") if "." in name else ""


class Code:
    """One file of source code."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.language = language_of(path)

    @cached_property
    def _parts(self) -> list[tuple[bool, int, int]]:
        scanner = _SCANNERS.get(self.language)
        matches = scanner.finditer(self.text) if scanner else ()
        return [(match.lastgroup == "comment", *match.span()) for match in matches]

    @cached_property
    def uncommented(self) -> str:
        """The text with comments replaced by spaces."""
        return self._blanked((start, end) for is_comment, start, end in self._parts if is_comment)

    @cached_property
    def bare(self) -> str:
        """The text with comments replaced by spaces and the contents of strings by `FILLER`."""
        inner = ((s + 1, e - 1) for is_comment, s, e in self._parts if not is_comment)
        pieces, at, text = [], 0, self.uncommented
        for start, end in inner:
            pieces += [text[at:start], _ALL_BUT_LINES.sub(FILLER, text[start:end])]
            at = end
        return "".join((*pieces, text[at:]))

    @cached_property
    def comments(self) -> tuple[Piece, ...]:
        """Every comment."""
        return tuple(self._pieces(is_comment=True))

    @cached_property
    def strings(self) -> tuple[Piece, ...]:
        """Every string, with its quotes."""
        return tuple(self._pieces(is_comment=False))

    def line_at(self, offset: int) -> int:
        """Return the line number of an offset."""
        return self.text.count("\n", 0, offset) + 1

    def _pieces(self, *, is_comment: bool) -> Iterator[Piece]:
        line, seen = 1, 0
        for kind, start, end in self._parts:
            line, seen = line + self.text.count("\n", seen, start), start
            if kind is is_comment:
                yield Piece(line, self.text[start:end])

    def _blanked(self, spans: Iterator[tuple[int, int]]) -> str:
        pieces, at = [], 0
        for start, end in spans:
            pieces += [self.text[at:start], _ALL_BUT_LINES.sub(" ", self.text[start:end])]
            at = end
        return "".join((*pieces, self.text[at:]))


def closing(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`, or the end of the text."""
    return _pairs(text, text[start]).get(start, len(text))


@lru_cache(maxsize=16)
def _pairs(text: str, opens: str) -> dict[int, int]:
    """Return the offset after the end of every bracket of a kind, in one pass."""
    closes = {"(": ")", "{": "}", "[": "]", "<": ">"}[opens]
    ends: dict[int, int] = {}
    waiting: list[int] = []
    for match in re.finditer(f"[{re.escape(opens + closes)}]", text):
        if match[0] == opens:
            waiting.append(match.start())
        elif waiting:
            ends[waiting.pop()] = match.end()
    return ends
