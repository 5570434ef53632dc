"""Any field of STATE.md by its name: what it says, and another value for it.

A name is a key of the frontmatter, with dots for what is inside (`progress.percent`), the label
of a field in the body, or the title of a section. What follows from the files cannot be set, nor
a status that they contradict.
"""

from datetime import datetime

from fairlead.errors import DerivedValue, UnknownField
from fairlead.model.recorded import COUNTERS
from fairlead.model.standing import Standing
from fairlead.model.status import Status, normalise
from fairlead.records.activity import DATED
from fairlead.records.digest import field_of, with_words
from fairlead.records.position import is_paused
from fairlead.records.recorded import position_section
from fairlead.records.session import SECTIONS, with_pause_said
from fairlead.records.state import stamped
from fairlead.records.truths import untrue_words
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.inline import one_line, plain_text
from fairlead.text.outline import Section
from fairlead.text.scalars import Plain, is_null

_SYNC = "fairlead state sync"
_DERIVED = {
    **{f"progress.{name}": _SYNC for name in (*COUNTERS, "percent")},
    "progress": _SYNC,
    "total plans completed": "fairlead state record-metric",
    "last_updated": "any command that changes STATE.md",
    **dict.fromkeys(
        ("active_phase", "current_phase", "phase", "current phase"), "fairlead state begin-phase"
    ),
    **dict.fromkeys(("current_plan", "plan", "current plan"), "fairlead state advance-plan"),
    "current_phase_name": _SYNC,
    "current phase name": _SYNC,
    "next_action": _SYNC,
    "next_phases": _SYNC,
    "current_task": "fairlead state gate",
}
_SESSION = ("last session", "stopped at", "resume file", "paused at")
_POSITION = ("phase", "plan", "status", "last activity", "progress")
_MIRRORS = {"stopped_at": "Stopped at", "last_activity": "Last activity", "paused_at": "Paused at"}
_KEYS = {label.casefold(): key for key, label in _MIRRORS.items()} | {"status": "status"}


def get_value(document: Document, name: str) -> object:
    """What a field says, as a value; a section is its text."""
    path = _path(document, name)
    if path is not None:
        return _plain(document.value(*path))
    field = _field(document, name)
    if field is not None:
        return plain_text(field.value)
    section = document.section(name, levels=range(1, 7))
    if section is not None:
        return _text(document, section)
    raise UnknownField(name, known_names(document))


def set_value(document: Document, name: str, value: str, now: datetime) -> Document:
    """Another value for one field; its twin in the frontmatter follows."""
    document.require_writable()
    command = _DERIVED.get(name.casefold())
    path = _path(document, name)
    field = _field(document, name)
    if command and (path or field or "." in name):
        raise DerivedValue(name, command)
    if path is not None:
        changed = document.set_front(path, _typed(document.value(*path), value))
        twin = _field(changed, _MIRRORS.get(name, ""))
        if twin:
            changed = changed.set_field(twin, one_line(value))
        elif name == "status" and normalise(value) is Status.PAUSED:
            changed = _with_pause(changed, now)
    elif field is not None:
        changed = document.set_field(field, one_line(value))
        for key, told in _twins(_KEYS.get(name.casefold(), ""), one_line(value)).items():
            if key in document.shown_front:
                changed = changed.set_front((key,), told)
    else:
        raise UnknownField(name, known_names(document))
    return stamped(changed, now) if changed.text != document.text else document


def _with_pause(document: Document, now: datetime) -> Document:
    """The document that says in a second place that it is paused: one alone is left of an old pause."""
    changed = with_pause_said(document)
    field = _field(changed, "Status")
    if is_paused(changed) or (field and normalise(field.value) is Status.PAUSED):
        return changed
    # A person's own line stays as it is.
    return changed.set_front(("paused_at",), now.date().isoformat(), after="status")


def set_true_value(
    document: Document, name: str, value: str, standing: Standing, now: datetime
) -> Document:
    """Another value for one field, if the files do not contradict it; its twin stays true as well."""
    changed = set_value(document, name, value, now)
    before, untrue = untrue_words(document, standing), untrue_words(changed, standing)
    is_key = name in document.shown_front
    if any(each.casefold() == name.casefold() and each.islower() == is_key for each in untrue):
        raise DerivedValue(name, _SYNC)
    made = {each: true for each, true in untrue.items() if each not in before}
    return with_words(changed, made)


def _twins(key: str, value: str) -> dict[str, str]:
    """What the frontmatter says where the body says this: a day, a stage, or the same."""
    match key:
        case "":
            return {}
        case "status":
            status = normalise(value)
            return {} if status is Status.UNKNOWN else {key: str(status)}
        case "last_activity":
            dated = DATED.match(value)
            if dated is None:
                return {key: value}
            return {key: dated["date"]} | (
                {"last_activity_desc": dated["told"]} if dated["told"] else {}
            )
        case _:
            return {key: value}


def known_names(document: Document) -> tuple[str, ...]:
    """The names that can be asked for, as far as they are usual."""
    names = list(document.shown_front)
    names += [name.capitalize() for name in (*_POSITION, *_SESSION) if _field(document, name)]
    return tuple(names)


def _path(document: Document, name: str) -> tuple[str, ...] | None:
    """The path of a frontmatter key; a key that holds a dot itself is found as it is."""
    if name in document.shown_front:
        return (name,)
    path = tuple(name.split("."))
    return path if len(path) > 1 and document.value(*path) is not None else None


def _field(document: Document, name: str) -> Field | None:
    """The field in the section it belongs to, else anywhere in the body."""
    if not name.strip():
        return None
    if name.casefold() == "total phases":
        return field_of(document, "Total Phases") or document.field(name)
    section = None
    if name.casefold() in _SESSION:
        section = next((s for title in SECTIONS if (s := document.section(title))), None)
    elif name.casefold() in _POSITION:
        section = position_section(document)
    found = document.field(name, section) if section else None
    return found or document.field(name)


def _typed(held: object, value: str) -> str | None:
    """`null` empties a key, as people write it; everything else is text."""
    return None if value == "null" and not isinstance(held, dict | list) else value


def _plain(held: object) -> object:
    if isinstance(held, dict):
        return {key: _plain(value) for key, value in held.items()}
    if isinstance(held, list):
        return [_plain(value) for value in held]
    if is_null(held):
        return None
    # A bare number is one; 04 and 4.10 are names.
    is_number = (
        isinstance(held, Plain)
        and held.isascii()
        and held.isdigit()
        and len(held) < 16
        and (held == "0" or held[0] != "0")
    )
    return int(str(held)) if is_number else str(held)


def _text(document: Document, section: Section) -> str:
    lines = document.section_lines(section)
    return document.text[lines[0].start : lines[-1].end].strip() if lines else ""
