"""Session continuity in STATE.md: when, where and how to go on.

Only three lines belong to it: `Last session`, `Stopped at` and `Resume file`, in the section for
sessions and nowhere else. What is missing is put in; every other line of the section stays.
"""

from datetime import datetime

from fairlead.model.standing import Standing
from fairlead.model.status import Status, is_default
from fairlead.records.activity import with_activity
from fairlead.records.digest import field_of, with_status, with_words
from fairlead.records.entries import at_end
from fairlead.records.gate import with_front
from fairlead.records.position import is_paused, settled
from fairlead.records.state import moment, stamped
from fairlead.records.truths import untrue_words
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.inline import one_line
from fairlead.text.outline import Section, insert_after
from fairlead.values import dataclass

SECTIONS = ("Session", "Session Continuity")
NO_FILE = "None"
_NAMES = {
    "last": ("Last session", "Last Date"),
    "stopped": ("Stopped at",),
    "file": ("Resume file",),
}
_PATHS = (".continue-here", ".ultraplan/")


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a session stopped; what is empty is not told and stays as it is."""

    at: str = ""
    resume_file: str = ""


def record_session(document: Document, stop: Stop, now: datetime) -> Document:
    """Record the end of a session."""
    document.require_writable()
    document = _with_line(document, "last", moment(now))
    if stop.at:
        at = one_line(stop.at, "where it stopped")
        document = _with_line(document, "stopped", at)
        if "stopped_at" in document.shown_front:
            document = document.set_front(("stopped_at",), at)
    if stop.resume_file:
        document = _with_line(document, "file", one_line(stop.resume_file, "the resume file"))
    elif _field(document, "file") is None:
        document = _with_line(document, "file", NO_FILE)
    return stamped(document, now)


def resume_file(document: Document) -> str:
    """The hand-over that the document names; empty if none."""
    field = _field(document, "file")
    return field.value.strip("`* ") if field else ""


def with_resume_file(document: Document, path: str) -> Document:
    """The document that names the hand-over, or no longer does; a person's own file stays."""
    field = _field(document, "file")
    if field is None or not _is_ours(field.value):
        return document
    return document.set_field(field, path or NO_FILE)


def paused(document: Document, at: str, now: datetime) -> Document:
    """The project is paused, and says where."""
    told = one_line(at, "where it is paused")
    document = with_front(document)
    if document.value("paused_at") == told:
        return document
    changed = document.set_front(("paused_at",), told, after=_after(document))
    field = changed.field("Paused at", _section(changed))
    if field:
        changed = changed.set_field(field, told)
    changed = with_pause_said(changed).set_front(("status",), str(Status.PAUSED))
    changed = with_activity(changed, "Paused", now)
    return stamped(changed, now)


def with_pause_said(document: Document) -> Document:
    """The document whose body says that it is paused, where it does not say a person's own words."""
    status = field_of(document, "Status")
    return document.set_field(status, "Paused") if status and is_default(status.value) else document


def resumed(document: Document, standing: Standing, now: datetime) -> Document:
    """The project goes on; what it was before the pause follows from the files."""
    document.require_writable()
    body = field_of(document, "Status")
    said = (document.value("status"), body.value.strip().lower() if body else "")
    if str(Status.PAUSED) not in said and not is_paused(document):
        return document
    changed = document
    if is_paused(document):
        changed = document.set_front(("paused_at",), None)
        field = changed.field("Paused at", _section(changed))
        changed = changed.set_field(field, "") if field else changed
    changed = with_status(changed, settled(standing))
    changed = with_words(changed, untrue_words(changed, standing))
    changed = with_activity(changed, "Resumed", now)
    return stamped(changed, now)


def _with_line(document: Document, kind: str, value: str) -> Document:
    field = _field(document, kind)
    if field:
        return document.set_field(field, value)
    section = _section(document)
    label = _NAMES[kind][0]
    if section is None:
        line = f"{label}: {value}"
        return document.replaced(at_end(document, f"## {SECTIONS[1]}", line))
    lines = document.section_lines(section, own=True)
    found = [
        (at, line)
        for at, line in enumerate(lines)
        for names in _NAMES.values()
        if any(_labelled(line.text, name) for name in names)
    ]
    if found:
        last = found[-1][1]
        bold = last.text.lstrip().startswith("**")
        line = f"**{label}:** {value}" if bold else f"{label}: {value}"
        return document.replaced(insert_after(document.text, last, line, document.ending))
    heading = document.lines[section.heading]
    after = lines[0] if lines and not lines[0].text.strip() else heading
    text = insert_after(document.text, after, f"{label}: {value}", document.ending)
    return _apart(document.replaced(text), after.start, f"{label}: {value}")


def _apart(document: Document, above: int, new: str) -> Document:
    """A blank line between the new line and the prose below it, so that they do not flow together."""
    lines = document.lines
    at = next(i for i, line in enumerate(lines) if line.start > above and line.text == new)
    following = lines[at + 1] if at + 1 < len(lines) else None
    if following is None or not following.text.strip():
        return document
    return document.replaced(insert_after(document.text, lines[at], "", document.ending))


def _labelled(text: str, name: str) -> bool:
    return text.strip(" \t*-+").casefold().startswith(f"{name.casefold()}:")


def _field(document: Document, kind: str) -> Field | None:
    section = _section(document)
    if section is None:
        return None
    found = (document.field(name, section) for name in _NAMES[kind])
    return next((field for field in found if field), None)


def _section(document: Document) -> Section | None:
    for title in SECTIONS:
        section = document.section(title)
        if section:
            return section
    return None


def _is_ours(value: str) -> bool:
    plain = value.strip("`* ")
    return plain.casefold() in ("", "none", "none.", "-", "—") or any(
        mark in plain for mark in _PATHS
    )


def _after(document: Document) -> str:
    return "stopped_at" if "stopped_at" in document.shown_front else "status"
