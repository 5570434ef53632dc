"""What the overview of a project asks of its jobs: evidence, and the successful tasks of a plan.

Imports are late: `status` on a project that never ran a job does not load the packages of jobs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fairlead.jobs.paths import JOBS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairlead.project.derive.inventory import Plan
    from fairlead.store.reader import Reader


def unchecked_proofs(folder: str) -> Collection[str]:
    """The proofs in a project that appeared while an agent worked and that nobody has checked."""
    if not os.path.isdir(os.path.join(folder, JOBS)):
        return ()
    from fairlead.jobs import guarded_proofs
    from fairlead.planphase.facts import state_folder_of

    return guarded_proofs.unchecked_proofs(folder, state_folder_of(os.environ))


def done_tasks(reader: Reader, plan: Plan) -> int:
    """How many tasks passed their gate in the plan's last run, or are ticked in the plan."""
    from fairlead.plans.task_boxes import ticked_tasks

    loaded = reader.load_for_display(plan.path)
    done = ticked_tasks(loaded.text) if loaded else set()
    if reader.names(JOBS):
        from fairlead.jobs.folder import passed_tasks

        done |= passed_tasks(reader, plan.id)
    return len(done)


def ledger_entries(reader: Reader, plan: str, workstream: str) -> Iterable[tuple[str, str, str]]:
    """The evidence in the ledger of a plan."""
    from fairlead.jobs.ledger import evidence_of

    return evidence_of(reader, plan, workstream)
