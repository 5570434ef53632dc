"""Guarding: what an agent has no business with is the same after its call as it was before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.engine.decide import ABORT, ACCEPT, question_id
from fairlead.model.job import Question, QuestionKind
from fairlead.records.naming import summary_path
from fairlead.store import layout
from fairlead.store.digests import digests_of

if TYPE_CHECKING:
    from fairlead.engine.site import Site


def seen(site: Site, plan: str) -> dict[str, str]:
    """Refs, configuration, hooks, plans, settings, proofs and our own records, each as a digest."""
    home = site.files.folder
    proofs = [f"{home}/{summary_path(sheet.path)}" for sheet in site.sheets.values()]
    # While one of its tasks runs, nobody adds to the ledger.
    ledger = f"{home}/{layout.ledger_path(plan, site.job.workstream)}"
    paths = (*site.guarded, *site.jobs.own_paths(), *proofs, ledger)
    return {**site.workspace.guard(), **digests_of(paths)}


def touched(site: Site, task: str, plan: str, before: Mapping[str, str]) -> Question | None:
    """What was changed by somebody else while an agent worked, as a question to a person.

    Branches of this job move while others work, and the target moves when we land; what is
    fetched from elsewhere is nobody's work here. What we wrote ourselves is known by its digest.
    """
    with site.turn:
        after = seen(site, plan)
        ours = site.landed | site.jobs.written
        target = f"refs/heads/{site.job.target}"
        own = f"refs/heads/fairlead/{site.job.id}/"
        names = {
            name
            for name in {*before, *after}
            if before.get(name) != after.get(name)
            and not name.startswith((own, "refs/remotes/"))
            and not (after.get(name) in ours and (name == target or not name.startswith("refs/")))
        }
    if not names:
        return None
    kind = QuestionKind.TOUCHED
    text = f"while an agent worked on {task}, this was changed: {', '.join(sorted(names))}"
    return Question(question_id(kind, task), kind, task, text, (ACCEPT, ABORT))
