"""The brief: what the PM found out in its passes, and the checks it has to pass.

Refine, audit and research are Markdown answers in fixed parts. Whether they are enough is
decided here, not by the model that wrote them; its own verify pass can only find more faults.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from fairlead.model.council_job import Verify
from fairlead.model.seats import PLAN_TOKENS, tokens_of
from fairlead.records.answer_parts import Entry, Parts, entries_of

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
_CLAIM = re.compile(r"`?([\w./@+-]+)(?::[0-9]+(?:-[0-9]+)?)?`?\s*:\s+(.*)\Z", re.DOTALL)
_MENTIONED = re.compile(r"[\w.@+-]*(?:/[\w.@+-]+)+/?|\b[\w@+-]+\.[a-z]{1,5}\b")
_RISK = "accepted risk"


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
    scope_in: tuple[str, ...] = ()
    scope_out: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Something said about a file."""

    path: str  # empty: no file is named
    text: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What is there, and what is missing to plan."""

    exists: tuple[Claim, ...] = ()
    touched: tuple[Claim, ...] = ()
    risks: tuple[Claim, ...] = ()
    conflicts: tuple[Entry, ...] = ()
    gaps: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer to a gap, or something else to know."""

    id: str
    text: str
    source: str = ""
    confidence: str = ""
    is_risk: bool = False  # nobody can close the gap, and the work goes on without


@dataclass(frozen=True, slots=True)
class Research:
    """What was found out about the gaps."""

    answers: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_refined(text: str) -> Refined:
    """The refine pass."""
    parts = Parts(text)
    scope = [each.text for each in parts.entries("scope")]
    return Refined(
        parts.prose("goal"),
        tuple(told for each in scope if (told := _scoped(each, "in"))),
        tuple(told for each in scope if (told := _scoped(each, "out"))),
        tuple(each.text for each in parts.entries("constraints")),
        _requirements(parts.entries("requirements")),
        tuple(
            Question(each.id, each.text, "blocking" in each.mark.casefold())
            for each in parts.entries("open questions")
        ),
    )


def read_audit(text: str) -> Audit:
    """The audit pass."""
    parts = Parts(text)
    exists, touched, risks = (
        tuple(_claim(each) for each in parts.entries(title))
        for title in ("what exists", "touched", "risks")
    )
    return Audit(exists, touched, risks, parts.entries("conflicts"), parts.entries("gaps"))


def read_research(text: str) -> Research:
    """The research pass."""
    parts = Parts(text)
    answers, findings = (
        tuple(_finding(each) for each in parts.entries(title)) for title in ("answers", "findings")
    )
    return Research(answers, findings)


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
    refined: Refined, audit: Audit, research: Research, brief: str, answered: Collection[str] = ()
) -> tuple[str, ...]:
    """Every check that the brief does not pass; `answered` are questions that a person settled."""
    known = {each.id for each in research.answers if each.text} | set(answered)
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
        return entry.id in known if entry.id else len(research.answers) >= asked

    faults += [
        f"{gap.id or gap.text} is not answered" for gap in audit.gaps if not is_answered(gap)
    ]
    faults += [
        f"the audit contradicts the brief: {each.id} {each.text}".strip()
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


def is_testable(criterion: str) -> bool:
    """Whether a command or a look can decide it: something concrete, and not only praise."""
    bare = criterion.strip(" .*_")
    if _VAGUE.fullmatch(bare):
        return False
    return len(bare.split()) >= _LEAST_WORDS or _CONCRETE.search(bare) is not None


def referenced_files(audit: Audit) -> tuple[str, ...]:
    """The files that the audit says are there; whether they are is for who can look."""
    return tuple(dict.fromkeys(each.path for each in audit.exists if each.path))


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


def _scoped(text: str, side: str) -> str:
    label, colon, told = text.partition(":")
    return told.strip("*_ ") if colon and label.strip("*_ ").casefold() == side else ""


def _claim(entry: Entry) -> Claim:
    text = " | ".join((entry.text, *entry.more))
    found = _CLAIM.match(text)
    if found and not entry.id:
        return Claim(found[1], found[2])
    mentioned = _MENTIONED.search(text)
    return Claim(mentioned[0] if mentioned else "", text)


def _finding(entry: Entry) -> Finding:
    is_risk = entry.text.casefold().startswith(_RISK)
    text = " | ".join((entry.text, *entry.more[:1])) if is_risk else entry.text
    return Finding(entry.id, text, entry.field("source"), entry.field("confidence"), is_risk)
