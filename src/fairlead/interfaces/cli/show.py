"""Showing: the only place from which anything reaches a terminal.

Every text passes through `visible`, so that nothing a file, an agent or a person wrote can
steer the terminal; our own colours are added after that. With `--json` one document goes out,
and it says the same as the exit code.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

import click

from fairlead.errors import FairleadError, OutputFault
from fairlead.text.visible import is_unseen, visible
from fairlead.values import names_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fairlead.store.files import Outcome

JSON_VERSION = 1
STREAM = "fairlead.workstream"  # where the chosen one stands in the command's context
COLOR = "fairlead.color"  # where the chosen colour mode stands in the command's context

_COMMAND = re.compile(r"\bfairlead(?: [a-z][a-z-]*)+")
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_PLAIN = frozenset({str, int, bool, type(None)})
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Styled(NamedTuple):
    """A text in one of our own styles."""

    text: str
    style: str


Part = str | Styled
Cells = tuple[Part, ...]


_BELOW = 12  # lines of a text below its first


class Screen:
    """One stream, with or without colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        context = click.get_current_context(silent=True)
        color = context.meta.get(COLOR, "auto") if context else "auto"
        self._has_color = color == "always" or (color == "auto" and _wants_color(stream))

    def line(self, *parts: Part) -> None:
        """Write one line."""
        self._write("".join(self._rendered(part) for part in parts) + "\n")

    def document(self, content: dict[str, Any]) -> None:
        """Write one JSON document."""
        self._write(_json_seen(_json(content, "\n")) + "\n")

    def drawn(self, view: RenderableType) -> None:
        """Write what rich draws, in our few colours."""
        import shutil

        from rich.console import Console

        color: Literal["standard"] | None = "standard" if self._has_color else None
        page = io.StringIO()
        Console(
            file=page,
            force_terminal=self._has_color,
            color_system=color,
            width=shutil.get_terminal_size().columns,
            highlight=False,
            markup=False,
            emoji=False,
        ).print(view)
        lines = page.getvalue().rstrip("\n").split("\n")
        self._write("".join(f"{line.rstrip()}\n" for line in lines))

    def raw(self, text: str) -> None:
        """Write a text of our own making, such as a completion script."""
        self._write(text)

    def _rendered(self, part: Part) -> str:
        if isinstance(part, str):
            return visible(part)
        shown = visible(part.text)
        return f"\x1b[{_STYLES[part.style]}m{shown}\x1b[0m" if self._has_color else shown

    def _write(self, text: str) -> None:
        try:
            # A character that the terminal's encoding lacks is shown by its number.
            encoding = self._stream.encoding or "utf-8"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except BrokenPipeError:
            self.gone()
        except OSError as problem:
            raise OutputFault(problem.strerror or str(problem)) from problem

    def gone(self) -> None:
        """The reader has gone: the rest goes nowhere, and the command keeps its own exit code."""
        give_up_output(self._stream)


def give_up_output(stream: TextIO | None = None) -> None:
    """Let nobody write there again: Python would try once more at its end, and change the code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def report(content: Any, lines: Iterable[Sequence[Part]], *, as_json: bool) -> None:
    """Show a result: its lines to a person, or itself as JSON."""
    screen = Screen(sys.stdout)
    if as_json:
        screen.document({"version": JSON_VERSION, "ok": True, **_members(content)})
        return
    for parts in lines:
        screen.line(*parts)


def counted(number: int, noun: str) -> str:
    """`1 difference`, `2 differences`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_terminal() -> bool:
    """Whether a page can be drawn: what is piped stays plain lines."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def draw(view: RenderableType) -> None:
    """Show a page on the terminal."""
    Screen(sys.stdout).drawn(view)


def in_full(lead: Part, text: str) -> list[Sequence[Part]]:
    """A text behind its lead; further lines, such as a program's last words, stand below it."""
    first, *more = text.splitlines() or [""]
    lines: list[Sequence[Part]] = [(lead, first), *((f"    | {line}",) for line in more[:_BELOW])]
    left = len(more) - _BELOW
    return [*lines, (f"    | and {left} lines more",)] if left > 0 else lines


def first_line(text: str) -> str:
    """What there is room for where there is one line."""
    return text.partition("\n")[0]


def rows(table: Sequence[Cells]) -> list[Sequence[Part]]:
    """Cells in aligned columns, one row a line."""
    widths: list[int] = []
    for cells in table:
        widths += [0] * (len(cells) - len(widths))
        for at, cell in enumerate(cells):
            widths[at] = max(widths[at], _width(_text(cell)))
    lines: list[Sequence[Part]] = []
    for cells in table:
        parts: list[Part] = []
        for at, cell in enumerate(cells):
            gap = " " * (widths[at] - _width(_text(cell)) + 2) if at < len(cells) - 1 else ""
            parts += [cell, gap]
        lines.append(parts)
    return lines


def boxed(title: str, inside: Sequence[Sequence[Part]]) -> list[Sequence[Part]]:
    """Lines in a box with a title."""
    widths = [sum(_width(_text(part)) for part in line) for line in inside]
    room = max([*widths, _width(title) + 1])
    lines: list[Sequence[Part]] = [(f"╭─ {title} {'─' * (room - _width(title) - 1)}╮",)]
    for line, width in zip(inside, widths, strict=True):
        lines.append(("│ ", *line, " " * (room - width), " │"))
    return [*lines, (f"╰{'─' * (room + 2)}╯",)]


def _text(part: Part) -> str:
    return visible(part if isinstance(part, str) else part.text)


def _width(text: str) -> int:
    """How many columns a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(mark) else 2 if unicodedata.east_asian_width(mark) in "WF" else 1
        for mark in text
    )


class Manner(NamedTuple):
    """How a change is made and told: in earnest or not, to a person or a program."""

    dry_run: bool
    as_json: bool


def report_change(
    outcome: Outcome,
    manner: Manner,
    done: str,
    unchanged: str = "",
    *,
    diff: bool = True,
    **more: object,
) -> None:
    """Show what a command changed, or in a dry run would change."""
    for notice in outcome.notices:
        warn(str(notice))
    places = outcome.places
    content = {
        **more,
        "changed": list(outcome.paths),
        "moved": [{"from": move.source, "to": move.target} for move in places.moves],
        "made": list(places.folders),
        "dry_run": manner.dry_run,
        "notices": [str(notice) for notice in outcome.notices],
    }
    lines: list[Sequence[Part]] = []
    if not outcome.changes and not places:
        lines.append((unchanged,))
    elif manner.dry_run:
        lines.append(("Nothing was written. This would change:",))
        for change in outcome.changes:
            lines += (
                diff_lines(change.path, change.old, change.new) if diff else [(f"  {change.path}",)]
            )
    else:
        lines.append((Styled("✓ ", "green"), in_stream(done)))
        lines += [(Styled(f"  {path}", "dim"),) for path in outcome.paths]
    if outcome.changes or places:
        lines += [(Styled(f"  {move.source} → {move.target}", "dim"),) for move in places.moves]
        lines += [(Styled(f"  {folder}/", "dim"),) for folder in places.folders]
    report(content, lines, as_json=manner.as_json)


def driver_lines() -> list[Sequence[Part]]:
    """What a person runs once in each clone, so that git knows our driver."""
    from fairlead.records.attributes import GIT_COMMANDS

    told = "Run these once in each clone, so that it knows how:"
    return [(told,), *((f"  {command}",) for command in GIT_COMMANDS)]


def in_stream(text: str) -> str:
    """A text of ours whose commands name the workstream that was named, where they take one."""
    context = click.get_current_context(silent=True)
    named = context.meta.get(STREAM, "") if context else ""
    if context is None or not named or "--ws " in text:
        return text
    from fairlead.model.ids import stream_words

    root, option = context.find_root(), stream_words(named).strip()

    def completed(found: re.Match[str]) -> str:
        command, words = root.command, found[0].split(" ")
        for at, word in enumerate([*words[1:], ""], 1):
            inner = command.get_command(root, word) if isinstance(command, click.Group) else None
            if inner is None:
                takes = any("--ws" in each.opts for each in command.params)
                return " ".join((*words[:at], *([option] if takes else ()), *words[at:]))
            command = inner
        return found[0]

    return _COMMAND.sub(completed, text)


def warn(message: str) -> None:
    """Say something beside the result."""
    Screen(sys.stderr).line(Styled("note: ", "yellow"), message)


def show_error(error: FairleadError, *, as_json: bool) -> None:
    """Say what went wrong and what to do next."""
    if as_json:
        body = {"code": error.code, "message": str(error), "hint": error.hint}
        place = {
            key: getattr(error, key) for key in ("path", "line", "column") if hasattr(error, key)
        }
        content = {"version": JSON_VERSION, "ok": False, "exit_code": error.exit_code}
        Screen(sys.stdout).document({**content, "error": {**body, **place}})
    screen = Screen(sys.stderr)
    screen.line(Styled("fairlead: ", "red"), str(error))
    if error.hint:
        screen.line(Styled("  → ", "dim"), error.hint)


def show_trace(problem: BaseException) -> None:
    """Where a fault of our own happened, for who mends it; a text in it may come from a file."""
    import traceback

    screen = Screen(sys.stderr)
    for line in "".join(traceback.format_exception(problem)).splitlines():
        screen.line(line)


def diff_lines(path: str, old: str | None, new: str) -> list[Sequence[Part]]:
    """The difference between two versions of a document."""
    import difflib

    before = (old or "").splitlines()
    marks = {"+": "green", "-": "red", "@": "cyan"}
    lines: list[Sequence[Part]] = []
    for line in difflib.unified_diff(before, new.splitlines(), path, path, n=1, lineterm=""):
        style = marks.get(line[:1])
        lines.append((Styled(line, style) if style else line,))
    return lines


def _wants_color(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _members(content: Any) -> Mapping[str, Any]:
    """A report, or a part of one, by the names of its values."""
    if isinstance(content, dict):
        return content
    return {name: getattr(content, name) for name in names_of(content)}


def _json(value: Any, gap: str) -> str:
    """A value as indented JSON: `json` itself is slow at that, and large reports are long."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        return str(value).lower()  # the truth values are numbers, too
    inner = gap + "  "
    if isinstance(value, list | tuple):
        items = [_json(each, inner) for each in value]
        return f"[{inner}{f',{inner}'.join(items)}{gap}]" if items else "[]"
    if isinstance(value, dict) or names_of(value):
        members = _members(value)
        if members and _PLAIN.issuperset(map(type, members.values())):
            return f"{{{inner}{_on_lines(inner)(members)[1:-1]}{gap}}}"
        pairs = [f"{_json(key, gap)}: {_json(each, inner)}" for key, each in members.items()]
        return f"{{{inner}{f',{inner}'.join(pairs)}{gap}}}" if pairs else "{}"
    return _ENCODER.encode(value)


@cache
def _on_lines(gap: str) -> Callable[[Any], str]:
    """An encoder that writes each member behind this gap; it cannot look into a second level."""
    return json.JSONEncoder(ensure_ascii=False, separators=(f",{gap}", ": ")).encode


def _json_seen(text: str) -> str:
    """The document with everything in its texts visible; its own line breaks are all it has."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # as nearly every one is; looking at each character takes ten times as long
    unseen = {ord(mark): _json_escaped(mark) for mark in set(text) - {"\n"} if is_unseen(mark)}
    return text.translate(unseen) if unseen else text


def _json_escaped(mark: str) -> str:
    number = ord(mark)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"
