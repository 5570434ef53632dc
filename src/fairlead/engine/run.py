"""The loop: survey, decide, perform; again, until nothing is left to do.

It remembers nothing but which actions it has begun. Stopping asks it to begin nothing new; when
everything is to end now, the agents are stopped and their attempts will be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fairlead.engine.decide import decide
from fairlead.engine.fanout import Fanout, Signal
from fairlead.engine.landing import Landing
from fairlead.engine.perform import Performer
from fairlead.engine.survey import survey
from fairlead.model.budget import Caps
from fairlead.model.snapshot import Act, Action, Snapshot

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_LOOK_SECONDS = 0.2


def run(site: Site, caps: Caps, stop: Signal, looked: Callable[[Snapshot], None]) -> None:
    """Carry a job on for as long as there is something to do."""
    performer = Performer(site, Landing(site))
    beside = Fanout()
    try:
        while _goes_on(site, caps, stop, looked, performer, beside):
            pass
    except BaseException:
        site.is_over.give()
        _drain(beside)
        raise


def _goes_on(
    site: Site,
    caps: Caps,
    stop: Signal,
    looked: Callable[[Snapshot], None],
    performer: Performer,
    beside: Fanout,
) -> bool:
    """One look: begin what may begin, and wait for something to end. False: nothing is left."""
    is_stopping = stop.is_given or site.is_over.is_given
    snapshot = survey(site, caps, beside.running, is_stopping=is_stopping)
    looked(snapshot)
    actions = decide(snapshot)
    for action in actions:
        _begin(beside, performer, action)
    if not beside.running:
        return bool(actions) and not is_stopping
    while not beside.wait(_LOOK_SECONDS) and is_stopping == stop.is_given:
        pass
    return True


def _begin(beside: Fanout, performer: Performer, action: Action) -> None:
    """Long work runs beside the loop; the rest is done at once."""
    if action.act in (Act.EXECUTE, Act.VERIFY, Act.REVIEW, Act.MERGE, Act.SUMMARISE):
        beside.start(action.key, lambda: performer.perform(action))
    else:
        performer.perform(action)


def _drain(beside: Fanout) -> None:
    while beside.running:
        try:
            beside.wait(_LOOK_SECONDS)
        except BaseException:  # noqa: BLE001, S112 - the first problem is the one that is raised
            continue
