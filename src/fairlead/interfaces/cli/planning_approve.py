"""`fairlead planning approve`: the door to approval."""

from collections.abc import Sequence

import click

from fairlead.engine.approval import Approved
from fairlead.errors import AlreadyApproved
from fairlead.interfaces.cli.options import changes
from fairlead.interfaces.cli.show import Manner, Part, Styled, report, rows, warn
from fairlead.store import layout
from fairlead.store.files import looking_again
from fairlead.wiring import App

_MADE = {
    "now": "",
    "found": "made by an earlier run",
    "before": "had one",
    "waived": "no issue, waived",
    "would": "an issue would be made",
}


@click.command("approve", epilog="Example: fairlead planning approve --dry-run")
@click.option("--skip-issues", is_flag=True, help="Make no GitHub issues, and record that.")
@click.option("--to-roadmap", is_flag=True, help="Add the modules to ROADMAP.md as phases.")
@changes
def approve(app: App, manner: Manner, *, skip_issues: bool, to_roadmap: bool) -> None:
    """Approve the plan: an issue for each module, the exec file, and a seal over its content.

    What is not ready is listed in full, and nothing is written. A run that fails half way is
    continued by the next one, and makes no issue twice. With --to-roadmap the phases can also be
    added later, to a plan that is approved.
    """
    approved, is_late = None, False
    if to_roadmap:
        app.approval.require_roadmap()
    try:
        approved = app.approval.approve(skip_issues=skip_issues, dry_run=manner.dry_run)
    except AlreadyApproved as error:
        if not to_roadmap or error.is_void:
            raise
        is_late = True
    with looking_again(approved.outcome.paths if approved else ()):
        phases = app.approval.to_roadmap(dry_run=manner.dry_run) if to_roadmap else ()
    _shown(approved, manner, phases, is_late=is_late)


def _shown(
    approved: Approved | None, manner: Manner, phases: tuple[str, ...], *, is_late: bool
) -> None:
    content: dict[str, object] = {"phases_added": list(phases), "dry_run": manner.dry_run}
    lines: list[Sequence[Part]] = []
    if approved:
        for note in (*approved.notes, *map(str, approved.outcome.notices)):
            warn(note)
        content |= {
            "plan_id": approved.plan_id,
            "goal": approved.goal,
            "approved_hash": approved.approved_hash,
            "issues": list(approved.issues),
            "changed": list(approved.outcome.paths),
            "exec_file": layout.EXEC_FILE,
            "notes": list(approved.notes),
        }
        head = (
            "Nothing was written. This would be approved:" if manner.dry_run else "Plan approved:"
        )
        lines.append(
            (Styled("" if manner.dry_run else "✓ ", "green"), f"{head} {approved.plan_id}")
        )
        lines += rows(
            [
                (
                    f"  {each.github_issue or '-'}",
                    f"{each.name} ({each.id})",
                    each.priority,
                    _MADE[each.made],
                )
                for each in approved.issues
            ]
        )
        if manner.dry_run:
            lines.append((f"  {layout.EXEC_FILE} would be made, {layout.PLAN_FILE} sealed",))
    word = "would be added" if manner.dry_run else "added"
    lines += [(f"  phase {word}: {name}",) for name in phases]
    if is_late and not phases:
        lines.append(("The roadmap has every module already",))
    if not manner.dry_run:
        lines.append(("Next: fairlead exec status",))
    report(content, lines, as_json=manner.as_json)
