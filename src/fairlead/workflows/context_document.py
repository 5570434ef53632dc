"""NN-CONTEXT.md: the decisions about a phase, made before it is planned.

A decision has an id such as `D-01`; a plan names the id to say that it carries the decision out.
Decisions that are only noted, deferred or left open need no plan. A bullet that looks like a
decision and cannot be read is refused with its line, because plans would silently ignore it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from fairlead.core.errors import Located
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.text.outline import Line
from fairlead.workflows.artefacts import read_artefact
from fairlead.workflows.errors import ArtefactFault

_BULLET = lazy_pattern(r"\s*[-*+]\s+(?:\[[ xX]\]\s+)?\*\*(?P<body>.+)")
_DECISION = lazy_pattern(
    r"D-?(?P<id>[\w.-]*?\d[\w.-]*?)(?:\s*\[(?P<tags>[^\]]*)\])?(?:\s*\([^()]*\))?\s*"
    r"(?:(?::|：)\*\*\s*(?P<text>.*)|(?:\s[—–-]+|[:：])\s*(?P<title>.*?)\*\*\s*(?P<more>.*)|\*\*[:：]?\s*(?P<rest>.*))\Z",
    re.DOTALL,
)
_LIKE_DECISION = lazy_pattern(r"(?:D-\d|DEC-?\d)")
_NOT_BINDING = ("informational", "folded", "deferred")
_DISCRETION = lazy_pattern(r".*discretion\b", re.IGNORECASE)
_TAG = lazy_pattern(
    r"\s*<(/?)(domain|decisions|specifics|canonical_refs|code_context|deferred)>\s*"
)

NumberedLine = tuple[int, Line]


@dataclass(frozen=True, slots=True)
class ContextDecision:
    """One decision."""

    id: str  # D-01
    text: str
    area: str = ""
    tags: tuple[str, ...] = ()
    line: int = 0
    is_open: bool = False  # the executor may choose

    @property
    def is_owed(self) -> bool:
        """Whether a plan has to carry it out."""
        return not self.is_open and not any(tag in _NOT_BINDING for tag in self.tags)


@dataclass(frozen=True, slots=True)
class Choice:
    """The scored options of one area, and the chosen one."""

    area: str
    question: str
    options: tuple[tuple[str, str, str, int], ...]  # name, pros, cons, score of twenty
    chosen: str
    rationale: str = ""
    assumption: str = ""
    confidence: str = ""
    by: str = "person"
    if_wrong: str = ""  # the consequence if the assumption is wrong


@dataclass(frozen=True, slots=True)
class PhaseContext:
    """The content of CONTEXT.md."""

    title: str
    boundary: str = ""
    decisions: tuple[ContextDecision, ...] = ()
    choices: tuple[Choice, ...] = ()
    references: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


def read_context(path: str, text: str) -> PhaseContext:
    """Read a context; raise with file and line if a decision cannot be read."""
    artefact = read_artefact(path, text)
    with Located(path):
        document = Document(text)
        blocks = dict(_blocks(document.lines))
        return PhaseContext(
            artefact.title,
            boundary=artefact.part("Phase Boundary"),
            decisions=tuple(_decisions(blocks.get("decisions") or _decision_lines(document))),
            references=_bullets(blocks.get("canonical_refs", [])),
            insights=_bullets(blocks.get("code_context", [])),
            deferred=_bullets(blocks.get("deferred", [])),
        )


def uncovered_decisions(
    decisions: Iterable[ContextDecision], plans: Sequence[str]
) -> tuple[ContextDecision, ...]:
    """The binding decisions whose id is in no plan."""

    def is_named(id_: str) -> bool:
        return any(re.search(rf"(?<![\w-]){re.escape(id_)}(?![\w-])", text) for text in plans)

    return tuple(each for each in decisions if each.is_owed and not is_named(each.id))


def new_context(context: PhaseContext, folder: str, today: str) -> str:
    """The text of a new context; reading it returns the same decisions."""
    decided = []
    for choice in context.choices:
        decisions = [each for each in context.decisions if each.area == choice.area]
        decided += [f"### {one_line(choice.area)}", "", *_choice_lines(choice), ""]
        decided += [f"- **{each.id}:** {one_line(each.text)}" for each in decisions]
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
            *_block_lines("canonical_refs", "Canonical References", context.references),
            *_block_lines("code_context", "Existing Code Insights", context.insights),
            *_block_lines("deferred", "Deferred Ideas", context.deferred),
            "---",
            "",
            f"*Phase: {folder}*",
            f"*Context gathered: {today}*",
            "",
        )
    )


def _choice_lines(choice: Choice) -> list[str]:
    lines = [one_line(choice.question)]
    if choice.assumption:
        confidence = f" ({one_line(choice.confidence)})" if choice.confidence else ""
        wrong = f"; if that is wrong: {one_line(choice.if_wrong)}" if choice.if_wrong else ""
        lines += ["", f"*Assumed:* {one_line(choice.assumption)}{confidence}{wrong}"]
    if choice.options:
        lines += ["", "| Option | Pros | Cons | Score | Selected |", "|---|---|---|---|---|"]
    for name, pros, cons, score in choice.options:
        mark = "✓" if name == choice.chosen else ""
        cells = [table_cell(text) if text.strip() else "-" for text in (name, pros, cons)]
        lines.append(f"| {' | '.join(cells)} | {score}/20 | {mark} |")
    if choice.rationale:
        lines += ["", f"*Why:* {one_line(choice.rationale)} (chosen by {choice.by})"]
    return lines


def _block_lines(tag: str, title: str, items: Sequence[str]) -> list[str]:
    bullets = [f"- {one_line(item)}" for item in items] or ["None."]
    return [f"<{tag}>", f"## {title}", "", *bullets, "", f"</{tag}>", ""]


def _blocks(lines: Sequence[Line]) -> Iterator[tuple[str, list[NumberedLine]]]:
    """The lines between each tag and its end; a tag that is never closed is refused."""
    name, opened = "", 0
    inside: list[NumberedLine] = []
    for number, line in enumerate(lines, 1):
        tag = _TAG.fullmatch(line.text)
        if tag and not tag[1] and not name:
            name, opened, inside = tag[2], number, []
        elif tag and tag[1] and tag[2] == name:
            yield name, inside
            name = ""
        elif name:
            inside.append((number, line))
    if name:
        raise ArtefactFault(f"<{name}> is never closed", line=opened)


def _decision_lines(document: Document) -> list[NumberedLine]:
    """The lines below the heading of the decisions, for older documents without tags."""
    for section in document.sections:
        if section.level == 2 and "decisions" in section.title.casefold():
            return list(enumerate(document.section_lines(section), section.first + 1))
    return []


def _decisions(lines: Sequence[NumberedLine]) -> Iterator[ContextDecision]:
    area, is_open = "", False
    for number, line in lines:
        if not line.is_prose:
            continue
        if line.text.startswith("#"):
            area = plain_text(line.text.lstrip("# ").strip())
            is_open = bool(_DISCRETION.match(area))
            continue
        bullet = _BULLET.match(line.text)
        if bullet is None or not _LIKE_DECISION.match(bullet["body"]):
            continue
        match = _DECISION.match(bullet["body"])
        if match is None:
            shown = line.text.strip()[:60]
            raise ArtefactFault(f"a decision cannot be read: {shown}", line=number)
        text = match["text"] or match["rest"] or match["title"] or ""
        if match["title"] and match["more"]:
            text = f"{match['title'].rstrip('.')}: {match['more']}"
        tags = (tag.strip().casefold() for tag in (match["tags"] or "").split(","))
        id_ = f"D-{match['id'].lstrip('-')}"
        yield ContextDecision(
            id_, plain_text(text.strip()), area, tuple(filter(None, tags)), number, is_open
        )


def _bullets(lines: Sequence[NumberedLine]) -> tuple[str, ...]:
    bullets = (re.match(r"\s*[-*+]\s+(.+)", line.text) for _, line in lines if line.is_prose)
    return tuple(plain_text(bullet[1].strip()) for bullet in bullets if bullet)
