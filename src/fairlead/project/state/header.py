"""The frontmatter that every STATE.md has: where it must stand, and its two required fields.

A write completes it: a document without frontmatter gets one, and a missing version or status is
added. Frontmatter that its readers do not find, because something precedes it or its fence has
blanks at the end, is refused instead: a write beside it would leave two.
"""

from fairlead.core.errors import DocumentError
from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.position import Position
from fairlead.project.derive.scope import Certainty
from fairlead.project.errors import MisplacedFrontmatter
from fairlead.project.state.activity import DATED, stop_of
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import awaiting_verification
from fairlead.project.state.documents import VERSION
from fairlead.project.state.fields import STATE_FIELDS, Source
from fairlead.project.state.recorded import body_field
from fairlead.project.status_words import Status, is_default, normalise
from fairlead.text.document import Document
from fairlead.text.fast_frontmatter import BOM, FENCE
from fairlead.text.yaml_scalars import is_null

STATUS = "status"
SCHEMA = "1.0"
_SEARCHED = 40  # lines at the top in which frontmatter is looked for
_FEWEST_KEYS = 2
_KEY = lazy_pattern(r"([A-Za-z_]\w*):(?:\s|\Z)")
_KEYS = frozenset(row.key for row in STATE_FIELDS.rows if row.key and "." not in row.key)


def misplaced_front(text: str) -> int:
    """The line, from 1, of frontmatter that its readers do not find; 0 if there is none."""
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    fences = [at for at, line in enumerate(lines) if line.rstrip() == FENCE]
    if len(fences) < 2 or fences[0] >= _SEARCHED or (fences[0] == 0 and lines[0] == FENCE):
        return 0
    inner = lines[fences[0] + 1 : fences[1]]
    keys = {match[1] for line in inner if (match := _KEY.match(line))}
    return fences[0] + 1 if len(keys & _KEYS) >= _FEWEST_KEYS else 0


def require_front_in_place(document: Document) -> Document:
    """The document, unless its frontmatter is where no reader finds it."""
    line = misplaced_front(document.text)
    if line:
        document.require_writable()  # what precedes it may be the mark of an unresolved merge
        raise MisplacedFrontmatter(line=line)
    return document


def is_writable(document: Document) -> bool:
    """Whether an event can write the document; what prevents it is a finding of its own."""
    try:
        require_front_in_place(document.require_text()).require_writable()
    except DocumentError:
        return False
    return True


def missing_fields(document: Document) -> tuple[str, ...]:
    """The required fields that the frontmatter lacks."""
    front = document.shown_front
    return tuple(name for name in (VERSION, STATUS) if is_null(front.get(name)))


def header_note(document: Document) -> str:
    """What the next event will write into the frontmatter; empty if it is complete."""
    if not document.shown_front:
        return "there is none; the next event writes it"
    status = document.value(STATUS)
    if isinstance(status, str) and not is_null(status) and normalise(status) is Status.UNKNOWN:
        is_known = status in tuple(Status) or is_default(status)
        return "" if is_known else f"the status {status!r} is none of: {', '.join(Status)}"
    return ""


def with_front(document: Document, status: Status = Status.EXECUTING) -> Document:
    """The document with frontmatter; a new one has the status of the body, or else this one."""
    document.require_writable()
    if document.block is not None:
        return document
    field = body_field(document, "Status")
    recorded = normalise(field.value) if field else Status.UNKNOWN
    shown = status if recorded is Status.UNKNOWN else recorded
    mark = BOM if document.text.startswith(BOM) else ""
    lines = (FENCE, f"{VERSION}: '{SCHEMA}'", f"{STATUS}: {shown}", FENCE, "", "")
    head = document.ending.join(lines)
    return document.replaced(mark + head + document.text.removeprefix(BOM))


def _filled(document: Document, position: Position) -> Document:
    """New frontmatter with all that the files prove and the body says."""
    scope = position.scope
    activity, milestone = body_field(document, "Last activity"), scope.milestone
    dated = DATED.match(activity.value.strip()) if activity else None
    texts = {
        "milestone": milestone,
        "milestone_name": scope.milestone_name if milestone else "",
        "stopped_at": stop_of(document),
        "last_activity": dated["date"] if dated else "",
    }
    for key, value in texts.items():
        document = document.set_front((key,), value) if value else document
    if scope.certainty is Certainty.CERTAIN:  # otherwise no number of ours is known to be right
        for key in STATE_FIELDS.keys(Source.COUNTS):
            group, _, name = key.partition(".")
            document = document.set_front((group, name), getattr(position.progress, name))
    return document


def with_header(document: Document, position: Position) -> Document:
    """The document with every required field."""
    if not missing_fields(document):
        return document
    is_new = document.block is None
    document = with_front(document, awaiting_verification(position).status)
    document = _filled(document, position) if is_new else document
    if VERSION in missing_fields(document):
        document = document.set_front((VERSION,), SCHEMA)
    texts = contradicted_fields(document, position)
    return (
        document.set_front((STATUS,), str(texts[STATUS]), after=VERSION)
        if STATUS in texts
        else document
    )
