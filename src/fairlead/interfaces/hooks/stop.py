"""The stop hook: holds the session that owns an unmet plan, and tells it what to do next.

The decision is the table in `model.stopping`; here its facts are gathered and its verdict is put
into words. Nothing is run, and nothing is written but the private count of how often it held.
"""

import os
import time

from fairlead.interfaces.hooks.door import run
from fairlead.interfaces.hooks.told import Answer, Told
from fairlead.interfaces.hooks.work import Work, work_in
from fairlead.model.stopping import (
    API_ERROR,
    BLOCK,
    GIVE_WAY,
    INTERRUPTED,
    MET,
    NO_WORK,
    OTHER,
    OURS,
    RELEASED,
    SUBAGENT,
    TELL,
    UNCOUNTED,
    UNREADABLE,
    WAITING,
    Hold,
    decide,
)
from fairlead.store import layout
from fairlead.store.hold import load_hold, update_hold
from fairlead.text.quickjson import quick_json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Set for agents that we started ourselves: their work is judged by gates.
JOB = "FAIRLEAD_JOB"
MOST_NAMED = 12

_LONGEST = 300
_STATUS = {"plan": "fairlead planning status", "exec": "fairlead exec status"}
_WHY = {
    INTERRUPTED: "it was interrupted",
    API_ERROR: "the model could not be reached",
}


def main() -> None:
    """Run the hook and end the process."""
    run(lambda told: answer(told, os.environ))
    # Nothing is left to flush, and taking the interpreter down in order takes time.
    os._exit(0)


def answer(told: Told, environment: "Mapping[str, str]") -> Answer:
    """What the host is told about one stop."""
    if told.stop in (OTHER, SUBAGENT) or environment.get(JOB):
        return Answer()
    home = layout.find_plan_home(told.folder)
    work = work_in(home, environment) if home else Work(NO_WORK)
    if work.kind in (NO_WORK, MET, UNREADABLE):
        return Answer(note=work.fault)
    verdict, holder = _verdict(told, home, work)
    if verdict == BLOCK:
        reason = quick_json_string(reason_of(work))
        return Answer((("decision", '"block"'), ("reason", reason)))
    return _let_go(told, work, verdict, holder)


def _verdict(told: Told, home: str, work: Work) -> "tuple[str, str]":
    """Decide and count in one step, so that two sessions cannot both own a plan."""
    new = Hold(work.plan, work.owner)
    now = time.time()
    decided: list[str] = []

    def change(hold: Hold) -> Hold:
        hold = hold.claimed(told.session)
        holder = RELEASED if work.released else hold.holder(told.session)
        count = hold.count(work.kind, work.state)
        decided[:] = [decide(work.kind, holder, count, told.stop), holder]
        return hold.counted(work.state) if decided[0] == BLOCK else hold

    holder = RELEASED if work.released else load_hold(home, new, now).holder(told.session)
    if holder == OURS and update_hold(home, new, now, change):
        return decided[0], decided[1]
    return decide(work.kind, holder, UNCOUNTED, told.stop), holder


def reason_of(work: Work) -> str:
    """What is unmet, and the command for each."""
    about = _about(work)
    lines = [f"{about} is not complete. What is missing, and the command for it:"]
    for what, command in work.left[:MOST_NAMED]:
        lines.append(f"- {_short(what)}\n  next: {_short(command)}")
    more = len(work.left) - MOST_NAMED
    if more > 0:
        lines.append(f"- and {more} more: {_STATUS[work.what]}")
    if work.kind == WAITING:
        lines.append("Only a person can do that: tell them what to look at and what to run.")
    lines.append("A person who wants to stop anyway runs: fairlead planning release")
    return "\n".join(lines)


def _let_go(told: Told, work: Work, verdict: str, holder: str) -> Answer:
    about = f"{_about(work)} is not complete ({len(work.left)} left; see: {_STATUS[work.what]})"
    if verdict == TELL:
        why = "it was released" if holder == RELEASED else "another session owns it"
        return Answer(note=f"{about}; this session is not held, because {why}")
    assert verdict == GIVE_WAY
    why = _WHY.get(told.stop) or "it was held often enough while nothing changed"
    text = f"{about}. Stopping is allowed, because {why}."
    return Answer((("systemMessage", quick_json_string(f"Fairlead: {text}")),), note=text)


def _about(work: Work) -> str:
    if work.what == "exec":
        return f"The work on plan {_short(work.plan)}"
    return f"Plan {_short(work.plan)}"


def _short(text: str) -> str:
    """A text of the plan on one line: it is somebody's words, and there may be many."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
