"""Rehearsals: the same work by scripted agents, in a private copy; what they make never counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Protocol

from fairlead.errors import FairleadError, NotRehearsed
from fairlead.store import layout
from fairlead.store.approvals import approve_plans, approved_plans
from fairlead.store.files import Files
from fairlead.store.load import Reader
from fairlead.store.running import the_only_run
from fairlead.store.scan import scan
from fairlead.text.quick import read_front

KEPT = 3  # copies, the newest among them


class Copies(Protocol):
    """Makes private copies of a project."""

    def new(self, folder: str) -> str:
        """A copy of a project."""
        ...

    def old(self, kept: int) -> tuple[str, ...]:
        """Every copy but the newest ones."""
        ...

    def remove(self, place: str, more: Iterable[str]) -> None:
        """A copy goes, and what was kept for it elsewhere."""
        ...


def private_copy(project: str, state: Files, copies: Copies) -> str:
    """A copy to rehearse in; older ones go, except where somebody works."""
    for old in copies.old(KEPT - 1):
        runs = os.path.join(state.folder, os.path.dirname(layout.runs_path(old, "")))
        try:
            with the_only_run(old, "remove an old rehearsal"):
                copies.remove(old, (runs,))
        except FairleadError:
            continue
    place = copies.new(project)
    if approved := tuple(approved_plans(state, project)):
        approve_plans(state, place, approved)
    return place


def require_rehearsable(reader: Reader, workstream: str) -> None:
    """Refuse to rehearse beside a plan or a summary that no rehearsal made."""
    inventory = scan(reader.folder, workstream=workstream)
    for folder in (*inventory.folders, *inventory.archived):
        paths = [path for plan in folder.plans for path in (plan.path, plan.summary) if path]
        for path in (*paths, *folder.orphans):
            loaded = reader.load_for_display(path)
            if loaded is not None and read_front(loaded.text).get("rehearsed") != "true":
                raise NotRehearsed(path)
