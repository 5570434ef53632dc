"""The brief: reads the passes of the PM and checks them.

Refine, audit and research are Markdown answers in fixed parts. Code decides whether they are
enough, not the model that wrote them; the model's own verify pass can only add faults.
"""

import re
from collections.abc import Callable, Collection, Sequence

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.council.model import BriefCheck
from fairlead.council.seats import MAX_PLAN_TOKENS, tokens_of
from fairlead.workflows.artefacts import ID, Entry, Parts, entries_of

# A criterion of praise alone cannot be tested. Praise in a sentence that says more is accepted:
# a false alarm would block a good brief.
_PRAISE = (
    r"(?:good|well|nice(?:ly)?|clean(?:ly)?|robust|fine|correct(?:ly)?|proper(?:ly)?|intuitive|fast"
    r"|as (?:expected|intended)|user.friendly|appropriate(?:ly)?|reasonabl[ey]|usable|done)"
)
_VAGUE = lazy_pattern(
    rf"(?:(?:it|the \w+|everything|all)\s+)?(?:(?:is|are|looks?|works?|feels?|behaves?|performs?)\s+)?"
    rf"{_PRAISE}(?:\s*(?:,|and)\s*{_PRAISE})*|.*\b(?:tbd|tba|to be (?:defined|decided))\b.*",
    re.IGNORECASE,
)
_CONCRETE = lazy_pattern(r"`[^`]+`|[0-9]|\"[^\"]+\"")
_MIN_WORDS = 2
_AUDIT_PARTS = ("What exists", "Conflicts", "Gaps")
_PATH = lazy_pattern(r"[\w./@+-]+")
_SUBJECT = lazy_pattern(rf"({ID})(?=[:\s])")


@dataclass(frozen=True, slots=True)
class BriefRequirement:
    """A requirement with its acceptance criteria."""

    id: str
    text: str
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefQuestion:
    """A question that only a person can answer."""

    id: str
    text: str
    is_blocking: bool = False


@dataclass(frozen=True, slots=True)
class Refined:
    """The refined request."""

    goal: str = ""
    requirements: tuple[BriefRequirement, ...] = ()
    questions: tuple[BriefQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """Conflicts between request and project, and facts that are missing."""

    conflicts: tuple[Entry, ...] = ()
    gaps: tuple[Entry, ...] = ()


def read_refined(text: str) -> Refined:
    """Read the refine pass."""
    parts = Parts(text)
    return Refined(
        parts.prose("goal"),
        _requirements(parts.entries("requirements")),
        tuple(
            BriefQuestion(entry.id, entry.text, "blocking" in entry.mark.casefold())
            for entry in parts.entries("open questions")
        ),
    )


def read_audit(text: str) -> Audit:
    """Read the audit pass."""
    parts = Parts(text)
    return Audit(parts.entries("conflicts"), parts.entries("gaps"))


def audit_faults(text: str, is_file: Callable[[str], bool]) -> tuple[str, ...]:
    """Say why an answer is not an audit of this project; empty if it is one.

    Conflicts and gaps are what the brief is checked by, so an answer without these parts would
    pass every check. Claims about what exists must name at least one file that does.
    """
    parts = Parts(text)
    faults = [f"it has no part {title!r}" for title in _AUDIT_PARTS if not parts.prose(title)]
    exists = parts.entries(_AUDIT_PARTS[0])
    names = {name.strip("./") for entry in exists for name in _PATH.findall(entry.source)}
    if exists and not any(map(is_file, filter(None, names))):
        faults.append("it names no file of the project")
    return tuple(faults)


def read_research(text: str) -> tuple[Entry, ...]:
    """Read the answers of the research pass; "accepted risk" is an answer."""
    return Parts(text).entries("answers")


def read_verify(text: str, nonce: str) -> BriefCheck:
    """Read the model's own verdict on the brief; an unreadable verdict is not a pass."""
    parts = Parts(text)
    written = [line for line in parts.lines if line.text.strip()]
    verdict = written[-1].text.strip() if written and written[-1].is_prose else ""
    if verdict not in (f"VERIFY {nonce}: OK", f"VERIFY {nonce}: FAILED"):
        return BriefCheck(False, ("the verify pass did not end with its verdict",))
    if verdict.endswith("OK"):
        return BriefCheck(True)
    entries = entries_of(parts.lines)
    faults = tuple(f"{entry.id}: {entry.text}" if entry.id else entry.text for entry in entries)
    return BriefCheck(False, faults or ("the verify pass failed it without saying why",))


def refined_faults(refined: Refined) -> tuple[str, ...]:
    """Say why a refined request cannot be planned; empty if it can."""
    faults = () if refined.goal else ("there is no goal",)
    criteria = [text for required in refined.requirements for text in required.criteria]
    if not any(map(is_testable, criteria)):
        faults = (*faults, "no criterion can be tested")
    return faults


def failed_checks(
    refined: Refined,
    audit: Audit,
    research: Sequence[Entry],
    brief: str,
    answered: Collection[str] = (),
) -> tuple[str, ...]:
    """List the checks that the brief fails; `answered` are the ids that a person settled."""
    settled = {entry.id for entry in research if entry.text} | set(answered)
    question_count = len(audit.gaps) + len(audit.conflicts)

    def is_answered(entry: Entry) -> bool:
        # An entry without id cannot be answered by id: then there must be an answer for each.
        return entry.id in settled if entry.id else len(research) >= question_count

    faults = list(refined_faults(refined))
    for required in refined.requirements:
        if not required.criteria:
            faults.append(f"{required.id} has no criterion")
        faults += [
            f"{required.id}: nobody can test {text!r}"
            for text in required.criteria
            if not is_testable(text)
        ]
    ids = [required.id for required in refined.requirements]
    faults += [f"{name} stands for two requirements" for name in ids if ids.count(name) > 1][:1]
    faults += [
        f"{gap.id or 'a gap'} is not answered: {gap.text}"
        for gap in audit.gaps
        if not is_answered(gap)
    ]
    faults += [
        f"{conflict.id or 'the audit'} contradicts the brief: {conflict.text}"
        for conflict in audit.conflicts
        if not is_answered(conflict) and not conflict.field("resolved")
    ]
    faults += [
        f"{question.id or 'a question'} blocks and is not answered: {question.text}"
        for question in refined.questions
        if question.is_blocking and question.id not in settled
    ]
    if (tokens := tokens_of(brief)) > MAX_PLAN_TOKENS:
        faults.append(f"the brief has {tokens} tokens, more than {MAX_PLAN_TOKENS}")
    return tuple(faults)


def open_checks(verify: BriefCheck | None) -> dict[str, str]:
    """Map the ids of failed checks that a person can decide to the checks."""
    failed = verify.failed_checks if verify else ()
    return {match[1]: check for check in failed if (match := _SUBJECT.match(check))}


def is_testable(criterion: str) -> bool:
    """Whether a command or a person can decide a criterion: it says more than praise."""
    bare = criterion.strip(" .*_")
    if _VAGUE.fullmatch(bare):
        return False
    return len(bare.split()) >= _MIN_WORDS or _CONCRETE.search(bare) is not None


def new_brief(refined: str, audit: str, research: str) -> str:
    """Join the three passes into one document."""
    passes = (("Request", refined), ("Audit", audit), ("Research", research))
    return "\n".join(f"# {title}\n\n{Parts(text).text.strip()}\n" for title, text in passes)


def _requirements(entries: tuple[Entry, ...]) -> tuple[BriefRequirement, ...]:
    grouped: list[tuple[Entry, list[str]]] = []
    for entry in entries:
        label, colon, text = entry.text.partition(":")
        if colon and label.strip("*_ ").casefold() == "criterion" and grouped:
            grouped[-1][1].append(text.strip("*_ "))
        elif entry.indent and grouped:
            grouped[-1][1].append(entry.text)
        else:
            grouped.append((entry, []))
    return tuple(
        BriefRequirement(entry.id or f"R{at}", entry.text, tuple(criteria))
        for at, (entry, criteria) in enumerate(grouped, 1)
    )
