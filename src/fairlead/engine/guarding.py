"""Guarding: what an agent has no business with is the same after its call as it was before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.engine.decide import ABORT, ACCEPT, question_id
from fairlead.model.job import Question, QuestionKind
from fairlead.store.digests import digests_of

if TYPE_CHECKING:
    from fairlead.engine.site import Site


def seen(site: Site) -> dict[str, str]:
    """Refs, configuration, hooks, plans and settings, each as a digest."""
    return {**site.workspace.guard(), **digests_of(site.guarded)}


def touched(site: Site, task: str, before: Mapping[str, str]) -> Question | None:
    """What was changed by somebody else while an agent worked, as a question to a person.

    Branches of this job move while others work, and the target moves when we land; what is
    fetched from elsewhere is nobody's work here.
    """
    with site.turn:
        after = seen(site)
        own = f"refs/heads/fairlead/{site.job.id}/"
        target = f"refs/heads/{site.job.target}"
        names = {
            name
            for name in {*before, *after}
            if before.get(name) != after.get(name)
            and not name.startswith((own, "refs/remotes/"))
            and not (name == target and after.get(name) in site.landed)
        }
    if not names:
        return None
    kind = QuestionKind.TOUCHED
    text = f"while an agent worked on {task}, this was changed: {', '.join(sorted(names))}"
    return Question(question_id(kind, task), kind, task, text, (ACCEPT, ABORT))
