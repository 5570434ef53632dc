"""The hooks before compaction and at the end of a session: STATE.md says when and how to go on.

Both record the same thing through the normal engine, and give up at once when somebody else is
writing. A plan that the ending session owned is free for the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from fairlead.interfaces.hooks.told import Answer, Told
from fairlead.interfaces.hooks.work import work_in
from fairlead.model.stopping import Hold
from fairlead.store import layout
from fairlead.store.hold import load_hold, update_hold

PATIENCE_SECONDS = 0.5  # a session that ends is given one and a half in all

Record = Callable[[str], None]


def before_compaction(told: Told, record: Record) -> Answer:
    """The session goes on with less in its mind."""
    home = layout.find_plan_home(told.folder) if told.is_complete else ""
    if home and layout.has_project(home):
        record(home)
    return Answer()


def at_the_end(told: Told, environment: Mapping[str, str], record: Record) -> Answer:
    """The session is over."""
    home = layout.find_plan_home(told.folder) if told.is_complete else ""
    if home:
        work = work_in(home, environment)
        new = Hold(work.plan, work.owner)
        now = time.time()
        if work.plan and load_hold(home, new, now).owner == told.session:
            update_hold(home, new, now, lambda hold: hold.left(told.session))
    return before_compaction(told, record)
