"""The brief: what the PM found out in its passes, and the checks it has to pass.

Refine, audit and research are Markdown answers in fixed parts. Whether they are enough is
decided here, not by the model that wrote them; its own verify pass can only find more faults.
"""

import re
from collections.abc import Collection, Sequence

from fairlead.model.council_job import Verify
from fairlead.model.seats import PLAN_TOKENS, tokens_of
from fairlead.records.answer_parts import ID, Entry, Parts, entries_of
from fairlead.values import dataclass

# Praise and nothing else. A word of praise in a sentence that says more is not held against it:
# the person would be asked about a brief that is fine.
_PRAISE = (
    r"(?:good|well|nice(?:ly)?|clean(?:ly)?|robust|fine|correct(?:ly)?|proper(?:ly)?|intuitive|fast"
    r"|as (?:expected|intended)|user.friendly|appropriate(?:ly)?|reasonabl[ey]|usable|done)"
)
_VAGUE = re.compile(
    rf"(?:(?:it|the \w+|everything|all)\s+)?(?:(?:is|are|looks?|works?|feels?|behaves?|performs?)\s+)?"
    rf"{_PRAISE}(?:\s*(?:,|and)\s*{_PRAISE})*|.*\b(?:tbd|tba|to be (?:defined|decided))\b.*",
    re.IGNORECASE,
)
_CONCRETE = re.compile(r"`[^`]+`|[0-9]|\"[^\"]+\"")
_LEAST_WORDS = 2
_ABOUT = re.compile(rf"({ID})(?=[:\s])")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is required, and how one can tell that it is met."""

    id: str
    text: str
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person can answer."""

    id: str
    text: str
    is_blocking: bool = False


@dataclass(frozen=True, slots=True)
class Refined:
    """The request, made plain."""

    goal: str = ""
    requirements: tuple[Requirement, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """Where the request and the project contradict each other, and what is missing to plan."""

    conflicts: tuple[Entry, ...] = ()
    gaps: tuple[Entry, ...] = ()


def read_refined(text: str) -> Refined:
    """The refine pass."""
    parts = Parts(text)
    return Refined(
        parts.prose("goal"),
        _requirements(parts.entries("requirements")),
        tuple(
            Question(each.id, each.text, "blocking" in each.mark.casefold())
            for each in parts.entries("open questions")
        ),
    )


def read_audit(text: str) -> Audit:
    """The audit pass."""
    parts = Parts(text)
    return Audit(parts.entries("conflicts"), parts.entries("gaps"))


def read_research(text: str) -> tuple[Entry, ...]:
    """The answers of the research pass; that a gap is an accepted risk is one."""
    return Parts(text).entries("answers")


def read_verify(text: str, nonce: str) -> Verify:
    """What the model itself says of the brief; what cannot be read is not a pass."""
    parts = Parts(text)
    said = [line for line in parts.lines if line.text.strip()]
    last = said[-1] if said else None
    verdict = last.text.strip() if last and last.is_prose else ""
    if verdict not in (f"VERIFY {nonce}: OK", f"VERIFY {nonce}: FAILED"):
        return Verify(False, ("the verify pass did not end with its verdict",))
    faults = tuple(
        f"{each.id}: {each.text}" if each.id else each.text for each in entries_of(parts.lines)
    )
    if verdict.endswith("FAILED"):
        return Verify(False, faults or ("the verify pass failed it without saying why",))
    return Verify(True)


def refined_faults(refined: Refined) -> tuple[str, ...]:
    """Why there is nothing to plan for; empty if there is."""
    faults = []
    if not refined.goal:
        faults.append("there is no goal")
    if not any(is_testable(each) for one in refined.requirements for each in one.criteria):
        faults.append("no criterion can be tested")
    return tuple(faults)


def failed_checks(
    refined: Refined,
    audit: Audit,
    research: Sequence[Entry],
    brief: str,
    answered: Collection[str] = (),
) -> tuple[str, ...]:
    """Every check that the brief does not pass; `answered` are questions that a person settled."""
    known = {each.id for each in research if each.text} | set(answered)
    faults = list(refined_faults(refined))
    for one in refined.requirements:
        if not one.criteria:
            faults.append(f"{one.id} has no criterion")
        faults += [
            f"{one.id}: nobody can test {each!r}" for each in one.criteria if not is_testable(each)
        ]
    ids = [one.id for one in refined.requirements]
    faults += [f"{name} stands for two requirements" for name in ids if ids.count(name) > 1][:1]
    asked = len(audit.gaps) + len(audit.conflicts)

    def is_answered(entry: Entry) -> bool:
        # What has no id cannot be answered by it; then each has to have an answer of its own.
        return entry.id in known if entry.id else len(research) >= asked

    faults += [
        f"{gap.id or gap.text} is not answered" for gap in audit.gaps if not is_answered(gap)
    ]
    faults += [
        f"{each.id or 'the audit'} contradicts the brief: {each.text}"
        for each in audit.conflicts
        if not is_answered(each) and not each.field("resolved")
    ]
    faults += [
        f"{each.id or each.text} blocks and is not answered"
        for each in refined.questions
        if each.is_blocking and each.id not in known
    ]
    if (tokens := tokens_of(brief)) > PLAN_TOKENS:
        faults.append(f"the brief has {tokens} tokens, {PLAN_TOKENS} are the most")
    return tuple(faults)


def open_checks(verify: Verify | None) -> dict[str, str]:
    """The failed checks that a person can decide, by the id of what they are about."""
    failed = verify.failed_checks if verify else ()
    return {found[1]: each for each in failed if (found := _ABOUT.match(each))}


def is_testable(criterion: str) -> bool:
    """Whether a command or a look can decide it: something concrete, and not only praise."""
    bare = criterion.strip(" .*_")
    if _VAGUE.fullmatch(bare):
        return False
    return len(bare.split()) >= _LEAST_WORDS or _CONCRETE.search(bare) is not None


def new_brief(refined: str, audit: str, research: str) -> str:
    """The three passes as one document, which is frozen by its hash."""
    passes = (("Request", refined), ("Audit", audit), ("Research", research))
    return "\n".join(f"# {title}\n\n{Parts(text).text.strip()}\n" for title, text in passes)


def _requirements(entries: tuple[Entry, ...]) -> tuple[Requirement, ...]:
    found: list[tuple[Entry, list[str]]] = []
    for each in entries:
        label, colon, told = each.text.partition(":")
        if colon and label.strip("*_ ").casefold() == "criterion" and found:
            found[-1][1].append(told.strip("*_ "))
        elif each.indent and found:
            found[-1][1].append(each.text)
        else:
            found.append((each, []))
    return tuple(
        Requirement(each.id or f"R{at}", each.text, tuple(criteria))
        for at, (each, criteria) in enumerate(found, 1)
    )
