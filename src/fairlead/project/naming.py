"""Names of phase folders, plans and summaries, in every form that real projects use.

This is the only place that reads such names: to accept another form, extend the patterns below. A
summary proves one plan. They are paired by exact name, then by number; a plan and a summary that
are alone in their folder belong together. Any other summary is an orphan and proves nothing.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from fairlead.core.ids import PhaseId, slug
from fairlead.core.patterns import lazy_pattern

# 98 of 100 names have this form; the other patterns are only tried for the rest.
_CANONICAL = lazy_pattern(
    r"(?P<phase>[0-9]{1,6}[A-Z]?(?:\.[0-9]{1,6})*)-(?P<plan>[0-9]{1,4})-(?P<kind>PLAN|SUMMARY)\.md\Z"
)
_NOT_A_PLAN = r"(?i)(-OUTLINE|\.pre-bounce|-PLAN-(?:REVIEW|CHECK)\w*)\.md\Z"
_PLAN = lazy_pattern(r"(?:\A|.*[-.])PLAN(?:-[0-9].*)?\.md\Z")
_NUMBERED_PLAN = lazy_pattern(r"[0-9][\w.]*-[0-9]+[\w.-]*-plan\.md\Z")
_NUMBERED_SUMMARY = lazy_pattern(r"[0-9][\w.]*-[0-9]+[\w.-]*-summary\.md\Z")
_SUMMARY = lazy_pattern(r"(?:\A|.*-)SUMMARY(?:-[0-9].*)?\.md\Z")
_NOT_A_PLAN_SUMMARY = lazy_pattern(r"(MILESTONE|PLANNING)-SUMMARY\.md\Z")
_WORDS = lazy_pattern(r"(?:\A|(?<=[-.]))(?:PLAN|SUMMARY|plan|summary)(?=[-.]|\Z)")
# A project code is upper case: `CK-03-feed` has a number, `oauth-2-login` does not.
_FOLDER = lazy_pattern(
    r"(?:[A-Z][A-Z0-9_]*(?:\.[0-9]{1,4})?-(?=[0-9])|(?i:phase)[-_ ]?|[Pp](?=[0-9]))?"
    r"(?P<id>[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)(?P<slug>[-_. ].*)?\Z"
)
_CODE = lazy_pattern(r"[A-Z][A-Z0-9_]*(?:\.[0-9]{1,4})?-(?=[0-9])")
_NUMBERED = lazy_pattern(
    r"(?:phase\s*|(?-i:[A-Za-z][A-Za-z0-9_]*)-)?(?P<id>[0-9]{1,6}(?-i:[A-Za-z]?)(?:\.[0-9]{1,6})*)(?![\w.])",
    re.IGNORECASE,
)
_LONGEST_SLUG = 60


class FolderName(NamedTuple):
    """The parts of a phase folder's name."""

    id: PhaseId | None  # None: the name has no number
    slug: str


def folder_name(name: str) -> FolderName:
    """Read `04.5-hotfix`, `CK-03-feed`, `CK.02-03-x` or `phase-1`; any other name is a slug."""
    match = _FOLDER.match(name)
    if not match:
        return FolderName(None, name)
    return FolderName(PhaseId.parse(match["id"]), (match["slug"] or "").strip("-_. "))


def folder_for(phase: PhaseId, name: str, siblings: Iterable[str] = ()) -> str:
    """The name of a new folder: `05-fundacao`, with the project code if its siblings have one."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", name)
    words = slug("".join(mark for mark in plain if not unicodedata.combining(mark)))
    codes = {match[0] if (match := _CODE.match(each)) else "" for each in siblings}
    code = codes.pop() if len(codes) == 1 else ""
    return f"{code}{phase.padded}-{words[:_LONGEST_SLUG].strip('-') or 'phase'}"


def phase_number(text: str) -> PhaseId | None:
    """The phase named by a short text: `3`, `03`, `Phase 3`, `03-feed`; None if it names none."""
    match = _NUMBERED.match(text.strip())
    return PhaseId.parse(match["id"]) if match else None


def sorted_by_kind(names: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """The plans, the summaries and the other files of a folder."""
    plans: list[str] = []
    summaries: list[str] = []
    others: list[str] = []
    for name in names:
        if name.endswith("-PLAN.md") and name[-9:-8].isdigit() and "SUMMARY" not in name:
            plans.append(name)  # nearly all plans are named like this
        elif name.endswith("-SUMMARY.md") and name[-12:-11].isdigit():
            summaries.append(name)  # and nearly all summaries
        elif is_summary(name):
            summaries.append(name)
        elif is_plan(name):
            plans.append(name)
        else:
            others.append(name)
    return plans, summaries, others


def is_plan(name: str) -> bool:
    """Whether a file of a phase folder is a plan."""
    canonical = _CANONICAL.match(name)
    if canonical:
        return canonical["kind"] == "PLAN"
    if re.search(_NOT_A_PLAN, name) or is_summary(name):
        return False
    return bool(_PLAN.match(name) or _NUMBERED_PLAN.match(name))


def is_summary(name: str) -> bool:
    """Whether a file of a phase folder is a summary of a plan."""
    if "SUMMARY" not in name:  # lower case is accepted only together with numbers, as for plans
        return name.endswith("-summary.md") and bool(_NUMBERED_SUMMARY.match(name))
    if not name.endswith(".md"):
        return False
    if name.endswith("-SUMMARY.md") and name[-12:-11].isdigit():
        return True
    return bool(_SUMMARY.match(name)) and not _NOT_A_PLAN_SUMMARY.search(name)


def is_verification(name: str) -> bool:
    """Whether a file is a phase's verification."""
    return name == "VERIFICATION.md" or name.endswith("-VERIFICATION.md")


def is_artefact(name: str, kind: str) -> bool:
    """Whether a file is the phase's CONTEXT, RESEARCH or PATTERNS."""
    return name == f"{kind}.md" or name.endswith(f"-{kind}.md")


def plan_ids(names: Iterable[str], phase: PhaseId | None) -> list[str]:
    """The ids of the plans of one folder."""
    # `03-02-PLAN.md` in phase 3 needs no closer look, and nearly all names are like it.
    lead = f"{phase.padded}-" if phase else "/"
    return [
        stem
        if (stem := name[:-8])[:-2] == lead
        and name.endswith("-PLAN.md")
        and stem.isascii()
        and stem[-2:].isdigit()
        else plan_id(name, phase)
        for name in names
    ]


def plan_id(name: str, phase: PhaseId | None) -> str:
    """The id of a plan, `03-02`; without a number it is the stem of its name."""
    canonical = _CANONICAL.match(name)
    if canonical and phase and canonical["phase"] == phase.text:
        return f"{phase.padded}-{int(canonical['plan']):02d}"
    number, stem = _number_and_stem(name, phase)
    if number is not None and phase is not None:
        return f"{phase.padded}-{number:02d}"
    return stem or name.removesuffix(".md")


@lru_cache(1 << 12)
def summary_path(plan: str) -> str:
    """The path of a new summary: beside the plan, with the matching name."""
    folder, slash, name = plan.rpartition("/")
    return folder + slash + next(each for each in _exact_names(name) if is_summary(each))


def paired(
    plans: Iterable[str], summaries: Iterable[str], phase: PhaseId | None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The summary of each plan, and the summaries without a plan."""
    left = set(summaries)
    ordered = sorted(plans)
    pairs: dict[str, str] = {}
    for plan in ordered if left else ():
        exact = plan.replace("PLAN", "SUMMARY", 1)
        if exact not in left:
            exact = next((name for name in _exact_names(plan) if name in left), "")
        if exact:
            pairs[plan] = exact
            left.remove(exact)
    if left:
        _pair_by_number([plan for plan in ordered if plan not in pairs], left, phase, pairs)
    if len(ordered) == 1 and not pairs and len(left) == 1:
        pairs[ordered[0]] = left.pop()
    return pairs, tuple(sorted(left))


def _pair_by_number(
    plans: list[str], left: set[str], phase: PhaseId | None, pairs: dict[str, str]
) -> None:
    by_number: dict[int, list[str]] = {}
    for name in sorted(left):
        number, _ = _number_and_stem(name, phase)
        if number is not None:
            by_number.setdefault(number, []).append(name)
    for plan in plans:
        number, _ = _number_and_stem(plan, phase)
        candidates = by_number.get(number, []) if number is not None else []
        if candidates:
            pairs[plan] = candidates.pop(0)
            left.remove(pairs[plan])


def _exact_names(plan: str) -> tuple[str, ...]:
    stem = plan.removesuffix(".md")
    return (
        plan.replace("PLAN", "SUMMARY", 1),
        f"{stem}-SUMMARY.md",
        plan.replace("plan", "SUMMARY", 1),
        plan.replace("plan", "summary", 1),
    )


def _number_and_stem(name: str, phase: PhaseId | None) -> tuple[int | None, str]:
    """The number of a plan or summary in its phase, and its name without `PLAN` or `SUMMARY`."""
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
