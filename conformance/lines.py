"""The rules of the status line: documents outside the format's constraints, rewritten within them.

Each rule rewrites STATE.md in the plain form. A difference is intended if the reference hook shows
for the plain form exactly what ours shows for the original file: both lines are predicted, and a
wrong line of ours matches no rule.
"""

import re
from collections.abc import Callable
from pathlib import Path

from conformance.counted import text_of

_LIMIT = 256 * 1024
_STAND_IN = "987654321"  # replaces a number that the other tool's pattern does not read
_FRONT = re.compile(r"\A---\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_BODY_PHASE = re.compile(
    r"^(Phase:\s*)(\d+(?:[A-Za-z](?:\.\d+)*|(?:\.\d+)+))(?=\s+of\s+\d)", re.MULTILINE
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_FOLDED = re.compile(r"^(\w+:) [>|][+-]?\n((?:[ \t]+.*\n)+)", re.MULTILINE)
_BRACKETS = re.compile(r"^(progress:) *\{(.*)\}[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#.*\n|[ \t]+#.*$", re.MULTILINE)

Ask = Callable[[str | None], str]


def line_rule(state: Path, ours: str, ask: Ask) -> str:
    """The rule that predicts a difference; `ask` returns the hook's line for a given STATE.md."""
    if state.is_symlink():
        return "line-links-and-size" if ask(None) == ours else ""
    text = text_of(state)
    original = _BODY_PHASE.search(text)
    for rule, plainly in PLAINLY.items():
        plain = plainly(text)
        if plain == text:
            continue
        text = plain
        line = ask(text)
        if (line.replace(_STAND_IN, original[2]) if original else line) == ours:
            return rule
    return ""


def _in_front(change: Callable[[str], str]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        found = _FRONT.match(text)
        return text[: found.start(1)] + change(found[1]) + text[found.end(1) :] if found else text

    return changed


def _comments(front: str) -> str:
    return _COMMENT.sub("", front)


def _values(front: str) -> str:
    front = _FOLDED.sub(lambda found: f"{found[1]} {' '.join(found[2].split())}\n", front)
    front = _BRACKETS.sub(
        lambda found: "\n".join([found[1], *(f"  {part.strip()}" for part in found[2].split(","))]),
        front,
    )
    return re.sub(r"^(\w+:) ~[ \t]*$", r"\1 null", front, flags=re.MULTILINE)


def _ends(front: str) -> str:
    return re.sub(r"^---.*\n", "", front, flags=re.MULTILINE)


def _visible(text: str) -> str:
    def escaped(found: re.Match[str]) -> str:
        number = ord(found[0])
        return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"

    return _UNSEEN.sub(escaped, text)


PLAINLY: dict[str, Callable[[str], str]] = {
    "line-links-and-size": lambda text: (
        text.encode("utf-8", "surrogateescape")[:_LIMIT].decode("utf-8", "ignore")
        if len(text) > _LIMIT
        else text
    ),
    "line-byte-order-mark": lambda text: text.removeprefix("\ufeff"),
    "line-frontmatter-end": _in_front(_ends),
    "line-comments": _in_front(_comments),
    "line-values": _in_front(_values),
    "line-phase-numbers": lambda text: _BODY_PHASE.sub(rf"\g<1>{_STAND_IN}", text, count=1),
    "line-control-characters": _visible,
}
