"""Patch plans: plans that close the gaps of a verification, a few gaps each."""

import re
from collections.abc import Mapping, Sequence

from fairlead.model.plan import Artifact, MustHaves, PlanSheet, Task
from fairlead.records.verification import Gap
from fairlead.text.visible import visible

MOST_TASKS = 3  # in one plan


def patch_plans(
    gaps: Sequence[Gap], sheets: Mapping[str, PlanSheet], phase: str, first: int
) -> tuple[PlanSheet, ...]:
    """The plans for these gaps; a file that several gaps are about is one task's alone."""
    groups: dict[str, list[Gap]] = {}
    for gap in gaps:
        groups.setdefault(gap.path or f"{gap.plan} {gap.subject or gap.truth}", []).append(gap)
    tasks = list(groups.values())
    parts = [tasks[at : at + MOST_TASKS] for at in range(0, len(tasks), MOST_TASKS)]
    lead = phase.partition("-")[0]
    found: list[PlanSheet] = []
    for at, part in enumerate(parts):
        before = (found[-1].id,) if found else ()
        found.append(_plan(part, sheets, phase, f"{lead}-{first + at:02d}", first + at, before))
    return tuple(found)


def _plan(
    part: list[list[Gap]],
    sheets: Mapping[str, PlanSheet],
    phase: str,
    name: str,
    number: int,
    before: tuple[str, ...],
) -> PlanSheet:
    gaps = [gap for group in part for gap in group]
    files = tuple(
        dict.fromkeys(
            gap.path for gap in gaps if gap.path and not gap.path.startswith(".planning/")
        )
    )
    requirements = dict.fromkeys(
        each for gap in gaps if gap.plan in sheets for each in sheets[gap.plan].requirements
    )
    named = ", ".join(gap.id for gap in gaps)
    tasks = tuple(_task(at, group, sheets) for at, group in enumerate(part, 1))
    truths = dict.fromkeys(_line(gap.truth) for gap in gaps)
    return PlanSheet(
        id=name,
        phase=phase,
        number=number,
        wave=1 + bool(before),
        depends_on=before,
        files=files,
        requirements=tuple(requirements),
        must_haves=MustHaves(tuple(truths), tuple(Artifact(path) for path in files)),
        objective=f"Close what the verification of phase {phase} found missing: {named}.",
        tasks=tasks,
        gap_closure=True,
        gap_ids=tuple(gap.id for gap in gaps),
    )


def _task(number: int, group: list[Gap], sheets: Mapping[str, PlanSheet]) -> Task:
    first = group[0]
    about = first.path or _line(first.subject or first.truth)[:60]
    told = [
        f"{gap.id}: {_place(gap)}{_line(gap.reason)}. What would satisfy it: {_line(gap.cure or gap.truth)}."
        for gap in group
    ]
    sheet = sheets.get(first.plan)
    verify = next((task.verify for task in sheet.tasks if task.verify), "") if sheet else ""
    if first.rule in ("command-failed", "command-idle"):
        found = (
            [task.verify for task in sheet.tasks if task.verify.startswith(first.subject)]
            if sheet
            else []
        )
        verify = found[0] if found else verify
    return Task(
        number,
        f"Task {number}: Close {', '.join(gap.id for gap in group)} in {about}",
        files=tuple(
            dict.fromkeys(
                gap.path for gap in group if gap.path and not gap.path.startswith(".planning/")
            )
        ),
        action="\n".join(told),
        verify=verify,
        is_automated=bool(verify),
        done="; ".join(_line(gap.truth) for gap in group),
    )


def _place(gap: Gap) -> str:
    return f"{gap.path}:{gap.line} " if gap.line else f"{gap.path} " if gap.path else ""


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", visible(text)).strip().rstrip(".")
