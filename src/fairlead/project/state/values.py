"""`state get` and `state set`: read or change one field of STATE.md by its name.

A name is a frontmatter key, with dots inside a map (`progress.percent`), the label of a body line
or the title of a section. A value that follows from the files cannot be set, and neither can one
that the files contradict. A field with both a key and a label is changed in both places.
"""

from datetime import datetime

from fairlead.project.derive.position import Position
from fairlead.project.errors import DerivedValue, UnknownField
from fairlead.project.state.activity import DATED
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import is_paused, with_fields
from fairlead.project.state.documents import stamped
from fairlead.project.state.fields import (
    POSITION,
    SESSION,
    STATE_FIELDS,
    FieldTable,
    StateField,
)
from fairlead.project.state.recorded import body_field
from fairlead.project.state.session import with_pause_said
from fairlead.project.status_words import Status, normalise
from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from fairlead.text.fields import Field
from fairlead.text.inline import one_line, plain_text
from fairlead.text.outline import Section
from fairlead.text.yaml_scalars import Plain, is_null

_STATUS = "status"


def get_value(document: Document, name: str, fields: FieldTable = STATE_FIELDS) -> object:
    """The value of a field; a section is its text."""
    path = _path(document, name)
    if path is not None:
        return _plain(document.value(*path))
    field = _line_of(document, name, fields)
    if field is not None:
        return plain_text(field.value)
    section = document.section(name, levels=range(1, 7))
    if section is not None:
        return _section_text(document, section)
    raise UnknownField(name, known_names(document, fields))


def set_value(
    document: Document, name: str, value: str, now: datetime, fields: FieldTable = STATE_FIELDS
) -> Document:
    """The document with another value for one field, in the frontmatter and in the body."""
    document.require_writable()
    row = fields.find(name) or fields.find(name.partition(".")[0])
    path = _path(document, name)
    if path is None and row is not None and row.key == name and document.block is not None:
        path = (name,)  # a known key that the document lacks is added
    field = _line_of(document, name, fields)
    if row is not None and (path or field or "." in name):
        _require_settable(row, name, value)
    if path is not None:
        changed = document.set_front(path, _typed(document.value(*path), value), after="status")
        changed = _with_body(changed, row if row and row.key == name else None, value, now)
    elif field is not None:
        changed = document.set_field(field, one_line(value))
        for key, text in _frontmatter_values(row, one_line(value)).items():
            if key in document.shown_front:
                changed = changed.set_front((key,), text)
    else:
        raise UnknownField(name, known_names(document, fields))
    return stamped(changed, now) if changed.text != document.text else document


def set_true_value(
    document: Document, name: str, value: str, position: Position, now: datetime
) -> Document:
    """Set a field unless the files contradict the value; correct what the change makes untrue."""
    changed = set_value(document, name, value, now)
    before = contradicted_fields(document, position)
    after = contradicted_fields(changed, position)
    is_key = name in document.shown_front
    if any(place.casefold() == name.casefold() and place.islower() == is_key for place in after):
        raise DerivedValue(name, "fairlead state sync")
    return with_fields(
        changed, {place: text for place, text in after.items() if place not in before}
    )


def known_names(document: Document, fields: FieldTable = STATE_FIELDS) -> tuple[str, ...]:
    """The names to suggest: every frontmatter key, and the position and session lines present."""
    rows = (*fields.in_section(POSITION), *fields.in_section(SESSION))
    labels = [row.labels[0] for row in rows if _line_of(document, row.labels[0], fields)]
    return (*document.shown_front, *labels)


def _require_settable(row: StateField, name: str, value: str) -> None:
    if row.command:
        raise DerivedValue(name, row.command)
    has_fixed_values = bool(row.values) and not (row.is_line_free and name != row.key)
    if has_fixed_values and value not in row.values:
        raise UnwritableValue(name, f"is one of: {', '.join(row.values)}")


def _with_body(document: Document, row: StateField | None, value: str, now: datetime) -> Document:
    """The document whose body repeats a value that was set in the frontmatter."""
    if row is None or not row.labels:
        return document
    if row.key != _STATUS:
        field = _line_of(document, row.labels[0])
        return document.set_field(field, one_line(value)) if field else document
    # The status of the body is in words of its own, so only a pause is carried over.
    return _with_pause(document, now) if normalise(value) is Status.PAUSED else document


def _with_pause(document: Document, now: datetime) -> Document:
    """Record the pause in a second place: a lone `status: paused` reads as left from an old one."""
    changed = with_pause_said(document)
    field = _line_of(changed, "Status")
    if is_paused(changed) or (field and normalise(field.value) is Status.PAUSED):
        return changed
    # The body has a person's own status, which stays.
    return changed.set_front(("paused_at",), now.date().isoformat(), after="status")


def _frontmatter_values(row: StateField | None, value: str) -> dict[str, str]:
    """The frontmatter keys that repeat a body line, each in the form that the key has."""
    if row is None or not row.key:
        return {}
    match row.key:
        case "status":
            status = normalise(value)
            return {} if status is Status.UNKNOWN else {row.key: str(status)}
        case "last_activity":
            dated = DATED.match(value)
            if dated is None:
                return {row.key: value}
            text = {"last_activity_desc": dated["text"]} if dated["text"] else {}
            return {row.key: dated["date"]} | text
        case _:
            return {row.key: value}


def _path(document: Document, name: str) -> tuple[str, ...] | None:
    """The path of a frontmatter key; a key that itself contains a dot comes first."""
    if name in document.shown_front:
        return (name,)
    path = tuple(name.split("."))
    return path if len(path) > 1 and document.value(*path) is not None else None


def _line_of(document: Document, name: str, fields: FieldTable = STATE_FIELDS) -> Field | None:
    """The body line with this label, in its section or anywhere else."""
    if not name.strip():
        return None
    return body_field(document, name, fields) or document.field(name)


def _typed(recorded: object, value: str) -> str | None:
    """`null` empties a key, unless it holds a map or a list; any other value is text."""
    return None if value == "null" and not isinstance(recorded, dict | list) else value


def _plain(value: object) -> object:
    """A frontmatter value as plain Python: maps, lists, text, None and whole numbers."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if is_null(value):
        return None
    # An unquoted number is one; 04 and 4.10 are the names of phases.
    is_number = (
        isinstance(value, Plain)
        and value.isascii()
        and value.isdigit()
        and len(value) < 16
        and (value == "0" or value[0] != "0")
    )
    return int(str(value)) if is_number else str(value)


def _section_text(document: Document, section: Section) -> str:
    lines = document.section_lines(section)
    return document.text[lines[0].start : lines[-1].end].strip() if lines else ""
