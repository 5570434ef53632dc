"""Sessions in STATE.md: when the last one ended, where it stopped, and whether work is paused.

The session section has three lines: `Last session`, `Stopped at` and `Resume file`. A missing
line is added; every other line of the section stays as it is.
"""

from datetime import datetime

from fairlead.core.values import dataclass
from fairlead.project.derive.position import Position
from fairlead.project.state.activity import with_activity
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import awaiting_verification, is_paused, with_fields, with_status
from fairlead.project.state.documents import moment, stamped
from fairlead.project.state.entries import at_end
from fairlead.project.state.fields import SESSION, STATE_FIELDS
from fairlead.project.state.header import with_front
from fairlead.project.state.recorded import body_field, session_section
from fairlead.project.status_words import Status, is_default
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.inline import one_line
from fairlead.text.outline import insert_after

NO_FILE = "None"
_LAST, _STOPPED, _RESUME, _PAUSED = "Last session", "Stopped at", "Resume file", "Paused at"
_LINES = (_LAST, _STOPPED, _RESUME)
_NO_FILES = ("", "none", "none.", "-", "—")
_HANDOVER_PATHS = (".continue-here", ".ultraplan/")  # parts of the paths that we write


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a session stopped; an empty value leaves its line as it is."""

    at: str = ""
    resume_file: str = ""


def record_session(document: Document, stop: Stop, now: datetime) -> Document:
    """Record the end of a session."""
    document.require_writable()
    document = _with_line(document, _LAST, moment(now))
    if stop.at:
        at = one_line(stop.at, "where it stopped")
        document = _with_line(document, _STOPPED, at)
        if document.block is not None:
            document = document.set_front(("stopped_at",), at, after="last_activity")
    if stop.resume_file:
        document = _with_line(document, _RESUME, one_line(stop.resume_file, "the resume file"))
    elif _line(document, _RESUME) is None:
        document = _with_line(document, _RESUME, NO_FILE)
    return stamped(document, now)


def resume_file(document: Document) -> str:
    """The handover file that the document names; empty if none."""
    field = _line(document, _RESUME)
    return field.value.strip("`* ") if field else ""


def with_resume_file(document: Document, path: str) -> Document:
    """The document naming this handover, or none if the path is empty.

    A file that somebody else entered stays.
    """
    field = _line(document, _RESUME)
    if field is None or not _is_written_by_us(field.value):
        return document
    return document.set_field(field, path or NO_FILE)


def paused(document: Document, at: str, now: datetime) -> Document:
    """Record that the project is paused, and where."""
    place = one_line(at, "where it is paused")
    document = with_front(document)
    if document.value("paused_at") == place:
        return document
    after = "stopped_at" if "stopped_at" in document.shown_front else "status"
    changed = document.set_front(("paused_at",), place, after=after)
    field = changed.field(_PAUSED, session_section(changed))
    if field:
        changed = changed.set_field(field, place)
    changed = with_pause_said(changed).set_front(("status",), str(Status.PAUSED))
    changed = with_activity(changed, "Paused", now)
    return stamped(changed, now)


def with_pause_said(document: Document) -> Document:
    """The document whose body status says Paused, unless a person wrote that status."""
    status = body_field(document, "Status")
    return document.set_field(status, "Paused") if status and is_default(status.value) else document


def resumed(document: Document, position: Position, now: datetime) -> Document:
    """End the pause; the status is derived from the files again."""
    document.require_writable()
    status = body_field(document, "Status")
    recorded = (document.value("status"), status.value.strip().lower() if status else "")
    if str(Status.PAUSED) not in recorded and not is_paused(document):
        return document
    changed = document
    if is_paused(document):
        # Not set to null: the reference tool takes the key itself for a pause.
        changed = document.remove_front(("paused_at",))
        field = changed.field(_PAUSED, session_section(changed))
        changed = changed.set_field(field, "") if field else changed
    changed = with_status(changed, awaiting_verification(position))
    changed = with_fields(changed, contradicted_fields(changed, position))
    changed = with_activity(changed, "Resumed", now)
    return stamped(changed, now)


def _with_line(document: Document, label: str, value: str) -> Document:
    """Set a line of the session section, or add the line, the section or both."""
    field = _line(document, label)
    if field:
        return document.set_field(field, value)
    section = session_section(document)
    if section is None:
        return document.replaced(at_end(document, f"## {SESSION[1]}", f"{label}: {value}"))
    lines = document.section_lines(section, own=True)
    ours = [
        line
        for line in lines
        if any(_has_label(line.text, name) for label in _LINES for name in _labels(label))
    ]
    if ours:
        is_bold = ours[-1].text.lstrip().startswith("**")
        line = f"**{label}:** {value}" if is_bold else f"{label}: {value}"
        return document.replaced(insert_after(document.text, ours[-1], line, document.ending))
    heading = document.lines[section.heading]
    above = lines[0] if lines and not lines[0].text.strip() else heading
    line = f"{label}: {value}"
    text = insert_after(document.text, above, line, document.ending)
    return _with_blank_below(document.replaced(text), above.start, line)


def _with_blank_below(document: Document, above: int, line: str) -> Document:
    """A blank line after a new line, so that the prose below does not join its paragraph."""
    lines = document.lines
    at = next(i for i, each in enumerate(lines) if each.start > above and each.text == line)
    following = lines[at + 1] if at + 1 < len(lines) else None
    if following is None or not following.text.strip():
        return document
    return document.replaced(insert_after(document.text, lines[at], "", document.ending))


def _line(document: Document, label: str) -> Field | None:
    section = session_section(document)
    if section is None:
        return None
    fields = (document.field(name, section) for name in _labels(label))
    return next((field for field in fields if field), None)


def _labels(label: str) -> tuple[str, ...]:
    row = STATE_FIELDS.find(label)
    return row.labels if row else (label,)


def _has_label(text: str, label: str) -> bool:
    return text.strip(" \t*-+").casefold().startswith(f"{label.casefold()}:")


def _is_written_by_us(value: str) -> bool:
    plain = value.strip("`* ")
    return plain.casefold() in _NO_FILES or any(part in plain for part in _HANDOVER_PATHS)
