"""Names of files and folders in a phase: every form seen in the wild, read in one place.

A summary proves one plan. Exact names are paired first, then numbers, then a plan and a summary
that are alone in their folder; what is left over is an orphan and proves nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlead.model.ids import PhaseId

_NEVER_A_PLAN = re.compile(
    r"(-OUTLINE|\.pre-bounce|-PLAN-(?:REVIEW|CHECK)\w*)\.md\Z", re.IGNORECASE
)
_PLAN = re.compile(r"(?:\A|.*[-.])PLAN(?:-[0-9].*)?\.md\Z")
_NUMBERED_PLAN = re.compile(r"[0-9][\w.]*-[0-9]+[\w.-]*-plan\.md\Z")
_SUMMARY = re.compile(r"(?:\A|.*-)SUMMARY(?:-[0-9].*)?\.md\Z")
_NOT_A_PLAN_SUMMARY = re.compile(r"(MILESTONE|PLANNING)-SUMMARY\.md\Z")
_WORDS = re.compile(r"(?:\A|(?<=[-.]))(?:PLAN|SUMMARY|plan)(?=[-.]|\Z)")
_FOLDER = re.compile(
    r"(?:[A-Z][A-Z0-9_]*-(?=[0-9])|phase[-_ ]?|p(?=[0-9]))?"
    r"(?P<id>[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)(?P<slug>[-_. ].*)?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FolderName:
    """What a phase folder's name says."""

    id: PhaseId | None  # None: the name carries no number
    slug: str


def folder_name(name: str) -> FolderName:
    """Read `04.5-hotfix`, `CK-03-feed`, `phase-1`, `p1-x`; a name without a number is its own slug."""
    match = _FOLDER.match(name)
    if not match:
        return FolderName(None, name)
    return FolderName(PhaseId.parse(match["id"]), (match["slug"] or "").strip("-_. "))


def is_plan(name: str) -> bool:
    """Whether a file of a phase folder is a plan."""
    if _NEVER_A_PLAN.search(name) or is_summary(name):
        return False
    return bool(_PLAN.match(name) or _NUMBERED_PLAN.match(name))


def is_summary(name: str) -> bool:
    """Whether a file of a phase folder is a summary of a plan."""
    return bool(_SUMMARY.match(name)) and not _NOT_A_PLAN_SUMMARY.search(name)


def is_verification(name: str) -> bool:
    """Whether a file is a phase's verification."""
    return name == "VERIFICATION.md" or name.endswith("-VERIFICATION.md")


def is_artefact(name: str, kind: str) -> bool:
    """Whether a file is the phase's CONTEXT, RESEARCH or PATTERNS."""
    return name == f"{kind}.md" or name.endswith(f"-{kind}.md")


def plan_id(name: str, phase: PhaseId | None) -> str:
    """The short name of a plan: `03-02`; for a plan without a number the name's own stem."""
    number, stem = _key(name, phase)
    if number is not None and phase is not None:
        return f"{phase.padded}-{number:02d}"
    return stem or name.removesuffix(".md")


def paired(
    plans: Iterable[str], summaries: Iterable[str], phase: PhaseId | None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Which summary belongs to which plan, and the summaries that belong to none."""
    left = sorted(summaries)
    open_plans = sorted(plans)
    pairs: dict[str, str] = {}
    for plan in open_plans:
        exact = next((name for name in _exact_names(plan) if name in left), None)
        if exact:
            pairs[plan] = exact
            left.remove(exact)
    by_number: dict[int | None, list[str]] = {}
    for name in left:
        number, _ = _key(name, phase)
        by_number.setdefault(number, []).append(name)
    for plan in open_plans:
        number, _ = _key(plan, phase)
        candidates = by_number.get(number, []) if number is not None else []
        if plan not in pairs and candidates:
            pairs[plan] = candidates.pop(0)
            left.remove(pairs[plan])
    if len(open_plans) == 1 and not pairs and len(left) == 1:
        pairs[open_plans[0]] = left.pop()
    return pairs, tuple(left)


def _exact_names(plan: str) -> tuple[str, ...]:
    stem = plan.removesuffix(".md")
    return (
        plan.replace("PLAN", "SUMMARY", 1),
        f"{stem}-SUMMARY.md",
        plan.replace("plan", "SUMMARY", 1),
    )


def _key(name: str, phase: PhaseId | None) -> tuple[int | None, str]:
    """The plan's number within its phase, and what is left of the name without its kind."""
    stem = name.removesuffix(".md")
    bare = "-".join(part for part in _WORDS.sub("", stem).split("-") if part)
    parts = bare.split("-") if bare else []
    if parts and phase is not None and _is_phase(parts[0], phase):
        parts = parts[1:]
    elif len(parts) >= 2 and _is_phase("-".join(parts[:2]), phase):
        parts = parts[2:]
    for part in (parts[0], parts[-1]) if parts else ():
        digits = part.lstrip("Pp")
        if digits.isascii() and digits.isdigit() and len(digits) <= 4:
            return int(digits), bare
    return None, bare


def _is_phase(text: str, phase: PhaseId | None) -> bool:
    match = _FOLDER.match(text)
    return bool(match) and not match["slug"] and phase == PhaseId.parse(match["id"])  # type: ignore[index]
