"""The gaps of a verification, and the plans that close them.

A gap is one cause of a failed verification. Each patch plan closes a few gaps; all gaps in one
file go into one task, so that no two tasks edit the same file.
"""

import shlex
from collections.abc import Mapping, Sequence

from fairlead.core.values import dataclass, replace
from fairlead.plans.model import Artifact, MustHaves, PlanDocument, Task
from fairlead.text.printable import visible
from fairlead.verification.model import CheckKind, VerificationResult

MAX_TASKS = 3  # in one patch plan


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is missing, with the id that a patch plan names."""

    id: str
    truth: str
    reason: str
    path: str = ""
    line: int = 0
    cure: str = ""
    rule: str = ""
    plan: str = ""
    subject: str = ""


def gaps_of(result: VerificationResult, number: str) -> tuple[Gap, ...]:
    """Return one numbered gap per cause: blocking findings, then failed checks without one."""
    truths: dict[str, list[str]] = {}
    for check in result.checks:
        if check.kind is CheckKind.TRUTH:
            truths.setdefault(check.plan, []).append(check.what)
    gaps: list[Gap] = []
    explained = set()
    for finding in result.blocking:
        of_plan = truths.get(finding.plan, [])
        what = f"{finding.path or finding.subject}: {finding.cure}"
        gaps.append(
            Gap(
                id="",
                truth=of_plan[0] if len(of_plan) == 1 else what,
                reason=finding.why,
                path=finding.path,
                line=finding.line,
                cure=finding.cure,
                rule=finding.rule,
                plan=finding.plan,
                subject=finding.subject,
            )
        )
        explained |= {finding.plan, finding.path}
    for check in result.failed:
        # Truths and criteria fail as a consequence of other checks, so they are no cause.
        is_consequence = check.kind in (CheckKind.TRUTH, CheckKind.CRITERION)
        is_explained = check.plan in explained or check.what in explained
        if not gaps or not (is_consequence or is_explained):
            reason = check.detail or "it is not true"
            gaps.append(Gap("", check.what, reason, check.path, plan=check.plan))
    return tuple(replace(gap, id=f"G-{number}-{at}") for at, gap in enumerate(gaps, 1))


def patch_plans(
    gaps: Sequence[Gap], plans: Mapping[str, PlanDocument], phase: str, prefix: str, first: int
) -> tuple[PlanDocument, ...]:
    """Return plans that close the gaps, numbered from `first`; each depends on the one before.

    `phase` is the name of the phase folder, `prefix` the padded phase number of the plan ids.
    """
    groups: dict[str, list[Gap]] = {}
    for gap in gaps:
        groups.setdefault(gap.path or f"{gap.plan} {gap.subject or gap.truth}", []).append(gap)
    tasks = [group for group in groups.values() if _verify_command(group[0], plans)]
    patches: list[PlanDocument] = []
    for at in range(0, len(tasks), MAX_TASKS):
        number = first + len(patches)
        patch = PlanDocument(
            id=f"{prefix}-{number:02d}",
            phase=phase,
            number=number,
            depends_on=(patches[-1].id,) if patches else (),
        )
        patches.append(_with_tasks(patch, tasks[at : at + MAX_TASKS], plans))
    return tuple(patches)


def _with_tasks(
    patch: PlanDocument, groups: list[list[Gap]], plans: Mapping[str, PlanDocument]
) -> PlanDocument:
    gaps = [gap for group in groups for gap in group]
    paths = _paths(gaps)
    ids = tuple(gap.id for gap in gaps)
    truths = dict.fromkeys(_line(gap.truth) for gap in gaps)
    return replace(
        patch,
        wave=2 if patch.depends_on else 1,
        files=_files(gaps, plans),
        requirements=tuple(
            dict.fromkeys(
                name for gap in gaps if gap.plan in plans for name in plans[gap.plan].requirements
            )
        ),
        must_haves=MustHaves(tuple(truths), tuple(Artifact(path) for path in paths)),
        objective=f"Close the gaps that the verification of phase {patch.phase} found: "
        f"{', '.join(ids)}.",
        tasks=tuple(_task(at, group, plans) for at, group in enumerate(groups, 1)),
        gap_closure=True,
        gap_ids=ids,
    )


def _task(number: int, gaps: list[Gap], plans: Mapping[str, PlanDocument]) -> Task:
    first = gaps[0]
    subject = first.path or _line(first.subject or first.truth)[:60]
    return Task(
        number,
        f"Task {number}: Close {', '.join(gap.id for gap in gaps)} in {subject}",
        files=_files(gaps, plans),
        action="\n".join(
            f"{gap.id}: {_place(gap)}{_line(gap.reason)}. To fix: {_line(gap.cure or gap.truth)}."
            for gap in gaps
        ),
        verify=_verify_command(first, plans),
        is_automated=True,
        done="; ".join(_line(gap.truth) for gap in gaps),
    )


def _verify_command(gap: Gap, plans: Mapping[str, PlanDocument]) -> str:
    """The command that verifies a correction; empty: there is none, so no plan can close the gap.

    The commands of tasks that declare its file come first, then those of the gap's own plan, then
    all others of the phase.
    """
    own = plans.get(gap.plan)
    tasks = [task for plan in (own, *plans.values()) if plan for task in plan.tasks if task.verify]
    tasks.sort(key=lambda task: gap.path not in task.files)
    if gap.rule in ("command-failed", "command-idle"):
        # The command that failed comes first.
        tasks.sort(key=lambda task: not task.verify.startswith(gap.subject))
    if tasks:
        return tasks[0].verify
    is_product = gap.path and not gap.path.startswith(".planning/")
    return f"test -s {shlex.quote(gap.path)}" if is_product else ""


def _files(gaps: Sequence[Gap], plans: Mapping[str, PlanDocument]) -> tuple[str, ...]:
    """The files that a correction may change: what no plan declares does not land.

    A gap without a file, such as a command that fails, is closed in the files that the command
    verifies; if no task has that command, in all files of its plan.
    """
    files = [*_paths(gaps)]
    for plan in [plans[gap.plan] for gap in gaps if not gap.path and gap.plan in plans]:
        commands = tuple(gap.subject for gap in gaps if gap.subject and not gap.path)
        tasks = [task for task in plan.tasks if task.verify.startswith(commands)]
        of_tasks = [path for task in tasks for path in task.files]
        files += of_tasks or plan.files
    return tuple(dict.fromkeys(files))


def _paths(gaps: Sequence[Gap]) -> tuple[str, ...]:
    paths = (gap.path for gap in gaps if gap.path and not gap.path.startswith(".planning/"))
    return tuple(dict.fromkeys(paths))


def _place(gap: Gap) -> str:
    place = f"{gap.path}:{gap.line}" if gap.line else gap.path
    return f"{place} " if place and not gap.reason.startswith(gap.path) else ""


def _line(text: str) -> str:
    return " ".join(visible(text).split()).rstrip(".")
