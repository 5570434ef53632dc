"""Paying: every call of an agent is in the ledger once, also one whose run was killed.

A call is written down before it is made, with the evidence it will be, and taken off when the ledger
has it. What is found there when a run begins was cut off, in this job or in one that was ended since:
what it took is told from what is kept of it. Its name in the ledger keeps it from being counted twice.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from fairlead.engine.judging import with_call
from fairlead.errors import DocumentError
from fairlead.model.agent_orders import Order
from fairlead.model.plain import plain, revived
from fairlead.records.ledger import Entry
from fairlead.store.jobs import content_of
from fairlead.store.layout_roles import SEEN
from fairlead.store.witness import witnesses
from fairlead.values import dataclass, replace

if TYPE_CHECKING:
    from fairlead.engine.landing import Landing
    from fairlead.engine.site import Site

_VERDICT = "killed"


@dataclass(frozen=True, slots=True)
class Announced:
    """A call that is about to be made."""

    plan: str
    role: str
    raw: str  # the private folder with what is kept of it
    entry: Entry  # without what nobody knows before its end
    workstream: str = ""


def announce(site: Site, plan: str, order: Order, entry: Entry) -> None:
    """Write a call down, so that the next run counts it if this one cannot."""
    told = plain(Announced(plan, order.role, order.raw, entry, site.job.workstream))
    site.jobs.witness.calls(entry.task, json.dumps(told))


def pay_left(site: Site, landing: Landing) -> None:
    """Record what the calls took that killed runs could not record."""
    for witness in witnesses(os.path.dirname(site.private), SEEN):
        for task, text in witness.unrecorded().items():
            if _is_settled(site, landing, task, text):
                witness.recorded(task)


def _is_settled(site: Site, landing: Landing, task: str, text: str) -> bool:
    """Whether nobody need look at it again; a call of another workstream is left to that."""
    try:
        call = revived(Announced, content_of(task, text), task)
        if call.workstream != site.job.workstream:
            return False
        _pay(site, landing, call)
    except DocumentError:
        pass  # it was touched, or the ledger was: a person is asked
    return True


def _pay(site: Site, landing: Landing, call: Announced) -> None:
    entry = call.entry
    if any(each.call == entry.call for each in landing.entries(call.plan)):
        return  # it was killed between recording and taking off
    ending = site.recall(entry.actor, call.role, call.raw)
    if ending is None:
        return
    known = replace(ending, call=entry.call, prompt_characters=entry.prompt_characters or 0)
    landing.record(call.plan, replace(with_call(entry, known), verdict=_VERDICT))
    tokens = known.usage.tokens_in + known.usage.tokens_out
    site.tell("note", entry.task, f"a call that was cut off is counted: {tokens:,} tokens")
