"""NN-CONTEXT.md: what was decided about a phase before it is planned.

A decision has an id (`D-01`) by which plans say that they carry it out. One that leaves the
choice open, was only noted, or was put off is not owed by any plan. A bullet that looks like a
decision and cannot be read is refused with its line: an unseen decision would be broken silently.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from fairlead.errors import ArtefactFault, Located
from fairlead.records.artefacts import read_artefact
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.text.outline import Line
from fairlead.values import dataclass

_BULLET = re.compile(r"\s*[-*+]\s+(?:\[[ xX]\]\s+)?\*\*(?P<body>.+)")
_DECISION = re.compile(
    r"D-?(?P<id>[\w.-]*?\d[\w.-]*?)(?:\s*\[(?P<tags>[^\]]*)\])?(?:\s*\([^()]*\))?\s*"
    r"(?:(?::|：)\*\*\s*(?P<text>.*)|(?:\s[—–-]+|[:：])\s*(?P<title>.*?)\*\*\s*(?P<more>.*)|\*\*[:：]?\s*(?P<rest>.*))\Z",
    re.DOTALL,
)
_LOOKS = re.compile(r"(?:D-\d|DEC-?\d)")
_OPEN = ("informational", "folded", "deferred")
_DISCRETION = re.compile(r".*discretion\b", re.IGNORECASE)
_TAG = re.compile(r"\s*<(/?)(domain|decisions|specifics|canonical_refs|code_context|deferred)>\s*")


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision."""

    id: str  # D-01
    text: str
    area: str = ""
    tags: tuple[str, ...] = ()
    line: int = 0
    is_open: bool = False  # whoever carries it out may choose

    @property
    def is_owed(self) -> bool:
        """Whether some plan has to carry it out."""
        return not self.is_open and not any(tag in _OPEN for tag in self.tags)


@dataclass(frozen=True, slots=True)
class Choice:
    """Competing ways for one area, scored, and the one that was taken."""

    area: str
    question: str
    options: tuple[tuple[str, str, str, int], ...]  # name, pros, cons, score of twenty
    chosen: str
    rationale: str = ""
    assumption: str = ""
    confidence: str = ""
    by: str = "person"
    if_wrong: str = ""  # what follows when the assumption does not hold


@dataclass(frozen=True, slots=True)
class Context:
    """What a phase is planned from."""

    title: str
    boundary: str = ""
    decisions: tuple[Decision, ...] = ()
    choices: tuple[Choice, ...] = ()
    references: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


def read_context(path: str, text: str) -> Context:
    """Read a context; raises with file and line where a decision cannot be read."""
    artefact = read_artefact(path, text)
    with Located(path):
        document = Document(text)
        parts = dict(_parts(document.lines))
        decided = parts.get("decisions") or _below(document, "decisions")
        return Context(
            artefact.title,
            boundary=artefact.part("Phase Boundary"),
            decisions=tuple(_decisions(decided)),
            references=_bullets(parts.get("canonical_refs", [])),
            insights=_bullets(parts.get("code_context", [])),
            deferred=_bullets(parts.get("deferred", [])),
        )


def uncovered(decisions: Iterable[Decision], plans: Sequence[str]) -> tuple[Decision, ...]:
    """The decisions that no plan names."""
    return tuple(
        each
        for each in decisions
        if each.is_owed
        and not any(re.search(rf"(?<![\w-]){re.escape(each.id)}(?![\w-])", text) for text in plans)
    )


def new_context(context: Context, folder: str, today: str) -> str:
    """The text of a context that does not exist yet; reading it gives the same decisions."""
    decided = []
    for choice in context.choices:
        owed = [each for each in context.decisions if each.area == choice.area]
        decided += [f"### {one_line(choice.area)}", "", *_table(choice), ""]
        decided += [f"- **{each.id}:** {one_line(each.text)}" for each in owed]
        decided.append("")
    return "\n".join(
        (
            f"# {one_line(context.title)} - Context",
            "",
            f"**Gathered:** {today}",
            "**Status:** Ready for planning",
            "",
            "<domain>",
            "## Phase Boundary",
            "",
            one_line(context.boundary or "As the roadmap says."),
            "",
            "</domain>",
            "",
            "<decisions>",
            "## Implementation Decisions",
            "",
            *(decided or ["Nothing had to be decided.", ""]),
            "### Claude's Discretion",
            "",
            "Everything that is not decided above.",
            "",
            "</decisions>",
            "",
            *_block("canonical_refs", "Canonical References", context.references),
            *_block("code_context", "Existing Code Insights", context.insights),
            *_block("deferred", "Deferred Ideas", context.deferred),
            "---",
            "",
            f"*Phase: {folder}*",
            f"*Context gathered: {today}*",
            "",
        )
    )


def _table(choice: Choice) -> list[str]:
    lines = [one_line(choice.question)]
    if choice.assumption:
        sure = f" ({one_line(choice.confidence)})" if choice.confidence else ""
        wrong = f"; if that is wrong: {one_line(choice.if_wrong)}" if choice.if_wrong else ""
        lines += ["", f"*Assumed:* {one_line(choice.assumption)}{sure}{wrong}"]
    if choice.options:
        lines += ["", "| Option | Pros | Cons | Score | Selected |", "|---|---|---|---|---|"]
    for name, pros, cons, score in choice.options:
        mark = "✓" if name == choice.chosen else ""
        cells = [table_cell(each) if each.strip() else "-" for each in (name, pros, cons)]
        lines.append(f"| {' | '.join(cells)} | {score}/20 | {mark} |")
    if choice.rationale:
        lines += ["", f"*Why:* {one_line(choice.rationale)} (chosen by {choice.by})"]
    return lines


def _block(tag: str, title: str, items: Sequence[str]) -> list[str]:
    listed = [f"- {one_line(each)}" for each in items] or ["None."]
    return [f"<{tag}>", f"## {title}", "", *listed, "", f"</{tag}>", ""]


def _parts(lines: Sequence[Line]) -> Iterator[tuple[str, list[tuple[int, Line]]]]:
    """What stands between each tag and its end; one that is never closed is refused."""
    name, opened = "", 0
    held: list[tuple[int, Line]] = []
    for number, line in enumerate(lines, 1):
        found = _TAG.fullmatch(line.text)
        if found and not found[1] and not name:
            name, opened, held = found[2], number, []
        elif found and found[1] and found[2] == name:
            yield name, held
            name = ""
        elif name:
            held.append((number, line))
    if name:
        raise ArtefactFault(f"<{name}> is never closed", line=opened)


def _below(document: Document, word: str) -> list[tuple[int, Line]]:
    """The lines below the first heading that has this word: older documents have no tags."""
    for section in document.sections:
        if section.level == 2 and word in section.title.casefold():
            lines = document.section_lines(section)
            return list(enumerate(lines, section.first + 1))
    return []


def _decisions(lines: Sequence[tuple[int, Line]]) -> Iterator[Decision]:
    area, is_open = "", False
    for number, line in lines:
        text = line.text
        if not line.is_prose:
            continue
        if text.startswith("#"):
            area = plain_text(text.lstrip("# ").strip())
            is_open = bool(_DISCRETION.match(area))
            continue
        bullet = _BULLET.match(text)
        if bullet is None or not _LOOKS.match(bullet["body"]):
            continue
        found = _DECISION.match(bullet["body"])
        if found is None:
            raise ArtefactFault(f"a decision cannot be read: {text.strip()[:60]}", line=number)
        tags = tuple(each.strip().casefold() for each in (found["tags"] or "").split(","))
        told = found["text"] or found["rest"] or ""
        if found["title"]:
            told = (
                f"{found['title'].rstrip('.')}: {found['more']}"
                if found["more"]
                else found["title"]
            )
        name = f"D-{found['id'].lstrip('-')}"
        yield Decision(
            name, plain_text(told.strip()), area, tuple(filter(None, tags)), number, is_open
        )


def _bullets(lines: Sequence[tuple[int, Line]]) -> tuple[str, ...]:
    found = (re.match(r"\s*[-*+]\s+(.+)", line.text) for _, line in lines if line.is_prose)
    return tuple(plain_text(each[1].strip()) for each in found if each)
