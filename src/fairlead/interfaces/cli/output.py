"""Everything that reaches the terminal, and the building blocks of pages.

A page is a list of lines, a line a sequence of parts. Every text passes through `visible`, so
text from files, agents or people cannot send control sequences to the terminal; colours are added
afterwards. With `--json` one document is printed, and it agrees with the exit code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from fairlead.core.errors import FairleadError
from fairlead.core.patterns import lazy_pattern
from fairlead.store.errors import OutputFault
from fairlead.text.printable import visible
from fairlead.views.changes import change_view
from fairlead.views.document import document, error_document, json_text

if TYPE_CHECKING:
    from fairlead.project.open_jobs import OpenJob
    from fairlead.store.files import WriteOutcome

# Keys of the click context under which options are shared with this module.
WORKSTREAM = "fairlead.workstream"
COLOR = "fairlead.color"
REHEARSAL = "fairlead.rehearsal"  # the options of a rehearsal, as given

_COMMAND = lazy_pattern(r"\b(fairlead(?: [a-z][a-z-]*)+)( [0-9][0-9.]*\b)?")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_QUOTED_LINES = 12
_BOX_EDGES = 4  # columns
_BOX_INDENT = 8  # of rows that continue a line: below the text, beside the label
_BLANKS = lazy_pattern(r"\s{8,}")


class Styled(NamedTuple):
    """A text in one of the styles above."""

    text: str
    style: str


Part = str | Styled
Line = Sequence[Part]
Cells = tuple[Part, ...]


class OutputOptions(NamedTuple):
    """The options of every command that changes something."""

    dry_run: bool
    as_json: bool


class OutputStream:
    """Standard output or standard error, with or without colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        context = click.get_current_context(silent=True)
        color = context.meta.get(COLOR, "auto") if context else "auto"
        self._has_color = color == "always" or (color == "auto" and _supports_color(stream))

    def line(self, *parts: Part) -> None:
        """Write one line."""
        self._write("".join(self._rendered(part) for part in parts) + "\n")

    def document(self, content: dict[str, Any]) -> None:
        """Write one JSON document."""
        self._write(json_text(content) + "\n")

    def raw(self, text: str) -> None:
        """Write text that Fairlead produced itself, such as a completion script."""
        self._write(text)

    def _rendered(self, part: Part) -> str:
        if isinstance(part, str):
            return visible(part)
        text = visible(part.text)
        return f"\x1b[{_STYLES[part.style]}m{text}\x1b[0m" if self._has_color else text

    def _write(self, text: str) -> None:
        try:
            # Characters that the terminal's encoding lacks are written as \u escapes.
            encoding = self._stream.encoding or "utf-8"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except BrokenPipeError:
            self.reader_closed()
        except OSError as problem:
            raise OutputFault(problem.strerror or str(problem)) from problem

    def reader_closed(self) -> None:
        """Drop further output: the command finishes and keeps its own exit code."""
        discard_output(self._stream)


def discard_output(stream: TextIO | None = None) -> None:
    """Send further output to /dev/null.

    Otherwise Python would flush the broken stream at exit, fail, and change the exit code.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def is_interactive() -> bool:
    """Whether a person can be asked: both stdin and stdout are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def terminal_width() -> int | None:
    """The columns of the terminal; None for a pipe."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return None
    import shutil  # late: it imports three compressors

    return shutil.get_terminal_size().columns


def report(content: Any, lines: Iterable[Line], *, as_json: bool) -> None:
    """Show a result: the lines to a person, or the content as JSON."""
    stream = OutputStream(sys.stdout)
    if as_json:
        stream.document(document(content))
        return
    for parts in lines:
        # Line by line, so that a closed pipe is noticed early.
        stream.line(*parts)


def report_change(
    outcome: WriteOutcome,
    output: OutputOptions,
    done: str,
    unchanged: str = "",
    *,
    diff: bool = True,
    **more: object,
) -> None:
    """Show what a command changed, or with --dry-run would change."""
    for notice in outcome.notices:
        warn(str(notice))
    places = outcome.places
    content = change_view(outcome, dry_run=output.dry_run, **more)
    lines: list[Line] = []
    if not outcome.changes and not places:
        lines.append((unchanged,))
    elif output.dry_run:
        lines.append(("Nothing was written. This would change:",))
        lines += (
            change_lines(outcome) if diff else [(f"  {change.path}",) for change in outcome.changes]
        )
    else:
        lines.append((Styled("✓ ", "green"), with_workstream(done)))
        lines += [(Styled(f"  {path}", "dim"),) for path in outcome.paths]
    if outcome.changes or places:
        lines += move_lines(outcome)
        lines += [(Styled(f"  {folder}/", "dim"),) for folder in places.folders]
    report(content, lines, as_json=output.as_json)


def move_lines(outcome: WriteOutcome) -> list[Line]:
    """The files that a command moved, one per line."""
    moves = outcome.places.moves
    return [(Styled(f"  {move.source} → {move.target}", "dim"),) for move in moves]


def change_lines(outcome: WriteOutcome) -> list[Line]:
    """The differences in all documents that a command changed."""
    return [
        line
        for change in outcome.changes
        for line in diff_lines(change.path, change.old, change.new)
    ]


def diff_lines(path: str, old: str | None, new: str) -> list[Line]:
    """The difference between two versions of a document."""
    import difflib

    before = (old or "").splitlines()
    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines: list[Line] = []
    # One line of context: documents are long, and changes are usually single lines.
    for line in difflib.unified_diff(before, new.splitlines(), path, path, n=1, lineterm=""):
        style = styles.get(line[:1])
        lines.append((Styled(line, style) if style else line,))
    return lines


def driver_lines() -> list[Line]:
    """The commands that register the merge driver in a clone."""
    from fairlead.project.first_documents import GIT_COMMANDS

    head = "Run these commands once in each clone to register the merge driver:"
    return [(head,), *((f"  {command}",) for command in GIT_COMMANDS)]


def warn(message: str) -> None:
    """Print a note to stderr."""
    OutputStream(sys.stderr).line(Styled("note: ", "yellow"), message)


def show_error(error: FairleadError, *, as_json: bool) -> None:
    """Print what is wrong and the next command to run; with --json also as a document."""
    if as_json:
        OutputStream(sys.stdout).document(error_document(error))
    stream = OutputStream(sys.stderr)
    # The output of a program can be part of a message: its lines stay lines.
    for line in quoted_lines(Styled("fairlead: ", "red"), str(error)):
        stream.line(*line)
    if error.hint:
        stream.line(Styled("  → ", "dim"), error.hint)


def show_traceback(problem: BaseException) -> None:
    """Print the traceback of a bug, line by line: it can contain text from files."""
    import traceback

    stream = OutputStream(sys.stderr)
    for line in "".join(traceback.format_exception(problem)).splitlines():
        stream.line(line)


def with_workstream(text: str) -> str:
    """The text with `--ws NAME` and `--rehearse` added to its fairlead commands, if given.

    Commands that do not take such an option stay as they are.
    """
    context = click.get_current_context(silent=True)
    options = _repeated_options(context, text) if context else {}
    if context is None or not options:
        return text
    root = context.find_root()

    def with_options(match: re.Match[str]) -> str:
        command, words, number = root.command, match[1].split(" "), match[2] or ""
        # Walk down the groups: the options go behind the last word that is a command.
        for index, word in enumerate([*words[1:], ""], 1):
            inner = command.get_command(root, word) if isinstance(command, click.Group) else None
            if inner is None:
                known = {name for parameter in command.params for name in parameter.opts}
                workstream, rehearsal = (
                    f" {options[name]}" if name in options and name in known else ""
                    for name in ("--ws", "--rehearse")
                )
                rest = "".join(f" {word}" for word in words[index:])
                return " ".join(words[:index]) + workstream + rest + number + rehearsal
            command = inner
        return match[0]

    return _COMMAND.sub(with_options, text)


def _repeated_options(context: click.Context, text: str) -> dict[str, str]:
    """The options that suggested commands repeat, by name; a text that has one keeps its own."""
    options = {"--rehearse": context.meta.get(REHEARSAL, "")}
    if workstream := context.meta.get(WORKSTREAM, ""):
        from fairlead.core.ids import stream_words

        options["--ws"] = stream_words(workstream).strip()
    return {
        name: words for name, words in options.items() if words and f"{name} " not in f"{text} "
    }


def counted(number: int, noun: str) -> str:
    """`1 difference`, `2 differences`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def job_command_lines(job: OpenJob) -> list[Line]:
    """The command that a job needs, and what it is for; nothing once the job has ended."""
    return [(f"  {job.hint} ", Styled(job.command, "cyan"))] if job.command else []


def first_line(text: str) -> str:
    """The first line of a text."""
    return text.partition("\n")[0]


def cut(text: str, width: int) -> str:
    """The text, shortened to a number of terminal columns."""
    return text if _width(text) <= width else _start_of(text, width - 1) + "…"


def _start_of(text: str, width: int) -> str:
    """The start of a text that fits into a number of columns."""
    used = 0
    for at, character in enumerate(text):
        used += _width(character)
        if used > width:
            return text[:at]
    return text


def fitted_line(line: Line, width: int) -> Line:
    """The line, cut at the edge of the terminal instead of wrapped."""
    if line_width(line) <= width:
        return wrapped_lines(line, width, breaks_words=True)[0]  # without blanks at its end
    left, parts = max(width - 1, 0), list[Part]()
    for part in line:
        text = _text(part)
        shown = _start_of(text, left)
        left -= _width(shown)
        is_cut = shown != text
        shown += "…" if is_cut else ""
        parts.append(shown if isinstance(part, str) else Styled(shown, part.style))
        if is_cut:
            break
    return parts


def line_width(line: Line) -> int:
    """The columns of a line, without blanks at its end."""
    return _width("".join(map(_text, line)).rstrip())


def wrapped_lines(line: Line, width: int, indent: int = 0, *, breaks_words: bool) -> list[Line]:
    """The line in rows of at most this width, broken at blanks; later rows are indented.

    A word that is longer than a row is broken only with `breaks_words`: a path in a pipe has to
    stay whole.
    """
    styles = [None if isinstance(part, str) else part.style for part in line for _ in _text(part)]
    text = "".join(map(_text, line)).rstrip()
    rows: list[Line] = []
    start, lead = 0, ""
    while start < len(text):
        end = start + max(len(_start_of(text[start:], width - len(lead))), 1)
        if end < len(text):
            # A row that has less than the indent of the next one would hold a label alone.
            least = start + (indent if rows == [] else 0)
            end = _row_end(text, least, end, breaks_words=breaks_words)
        row = text[start:end].rstrip()
        rows.append(((lead,) if lead else ()) + tuple(_parts(row, styles[start:end])))
        start = end + len(text[end:]) - len(text[end:].lstrip())
        lead = " " * indent
    return rows or [line]


def _row_end(text: str, least: int, end: int, *, breaks_words: bool) -> int:
    """Where a row ends: at its last blank, or else at the edge or after the long word."""
    first = least + len(text[least:]) - len(text[least:].lstrip())
    blank = end if text[end] == " " else text.rfind(" ", first, end)
    if blank >= 0:
        return blank
    after = text.find(" ", end)
    return end if breaks_words else after if after >= 0 else len(text)


def _parts(text: str, styles: Sequence[str | None]) -> Iterator[Part]:
    """A row as parts, one for each run of characters with the same style."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or styles[at] != styles[start]:
            style = styles[start]
            yield Styled(text[start:at], style) if style else text[start:at]
            start = at


def quoted_lines(lead: Part, text: str) -> list[Line]:
    """A text that may have several lines, such as the output of a program: the rest is indented."""
    first, *rest = text.splitlines() or [""]
    lines: list[Line] = [(lead, first), *((f"    | {line}",) for line in rest[:_QUOTED_LINES])]
    hidden = len(rest) - _QUOTED_LINES
    return [*lines, (f"    | and {hidden} more lines",)] if hidden > 0 else lines


def shown_command(line: str) -> str:
    """A command line in which blanks cannot push its end out of sight."""
    return _BLANKS.sub(lambda match: f" [{len(match[0])} blanks] ", line)


def table_lines(table: Sequence[Cells]) -> list[Line]:
    """Rows of cells in aligned columns."""
    widths: list[int] = []
    for cells in table:
        widths += [0] * (len(cells) - len(widths))
        for column, cell in enumerate(cells):
            widths[column] = max(widths[column], _width(_text(cell)))
    lines: list[Line] = []
    for cells in table:
        parts: list[Part] = []
        for column, cell in enumerate(cells):
            is_last = column == len(cells) - 1
            gap = "" if is_last else " " * (widths[column] - _width(_text(cell)) + 2)
            parts += [cell, gap]
        lines.append(parts)
    return lines


def box_lines(title: str, content: Sequence[Line], width: int | None = None) -> list[Line]:
    """Lines in a box with a title, no wider than the terminal; None: a pipe."""
    if width is not None:
        inner = width - _BOX_EDGES
        content = [
            row
            for line in content
            for row in wrapped_lines(line, inner, _BOX_INDENT, breaks_words=True)
        ]
    widths = [line_width(line) for line in content]
    inner = max([*widths, _width(title) + 1])
    lines: list[Line] = [(f"╭─ {title} {'─' * (inner - _width(title) - 1)}╮",)]
    for line, used in zip(content, widths, strict=True):
        lines.append(("│ ", *line, " " * (inner - used), " │"))
    return [*lines, (f"╰{'─' * (inner + 2)}╯",)]


def _text(part: Part) -> str:
    return visible(part if isinstance(part, str) else part.text)


def _width(text: str) -> int:
    """The number of terminal columns: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def _supports_color(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
