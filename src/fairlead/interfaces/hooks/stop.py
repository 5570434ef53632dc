"""The stop hook: keeps the session that owns an incomplete plan at work.

`planphase.stop_rule` decides; this module collects its facts and words its verdict. The hook runs
no program, and writes nothing but the private count of how often it has blocked the session.
"""

import os
import time

from fairlead.interfaces.hooks.message import HookMessage, HookResponse, run
from fairlead.interfaces.hooks.open_work import OpenWork, open_work_in
from fairlead.planphase.hold import load_hold, update_hold
from fairlead.planphase.paths import find_plan_home
from fairlead.planphase.stop_rule import (
    API_ERROR,
    BLOCK,
    GIVE_WAY,
    INTERRUPTED,
    MET,
    NO_WORK,
    NOTIFY,
    OTHER,
    OWN_SESSION,
    RELEASED,
    SUBAGENT,
    UNCOUNTED,
    UNREADABLE,
    WAITING,
    Hold,
    decide,
)
from fairlead.text.fast_json import json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Set for agents that Fairlead starts itself: gates judge their work, not this hook.
JOB = "FAIRLEAD_JOB"
LISTED_ITEMS = 12

_TEXT_LIMIT = 300
_STATUS_COMMANDS = {"plan": "fairlead planning status", "exec": "fairlead exec status"}
_REASONS_TO_STOP = {INTERRUPTED: "it was interrupted", API_ERROR: "the model could not be reached"}


def main() -> None:
    """Run the hook and end the process."""
    run(lambda message: stop_response(message, os.environ))
    # Skip the interpreter's shutdown, which takes time: no output is left to flush.
    os._exit(0)


def stop_response(message: HookMessage, environment: "Mapping[str, str]") -> HookResponse:
    """Decide whether the session may stop, and tell the host."""
    if message.stop in (OTHER, SUBAGENT) or environment.get(JOB):
        return HookResponse()
    folder = find_plan_home(message.folder)
    work = open_work_in(folder, environment) if folder else OpenWork(NO_WORK)
    if work.kind == UNREADABLE:  # an edit that breaks the plan releases nobody whom it held
        hold = load_hold(folder, Hold(""), time.time())
        if not hold.owner or hold.owner != message.session:
            return HookResponse(note=f"{work.fault}; it holds no session")
        work = work.broken(hold.plan)
    if work.kind in (NO_WORK, MET):
        return HookResponse()
    verdict, holder = _verdict(message, folder, work)
    if verdict == BLOCK:
        reason = json_string(block_reason(work))
        return HookResponse((("decision", '"block"'), ("reason", reason)))
    return _allowed(message, work, verdict, holder)


def _verdict(message: HookMessage, folder: str, work: OpenWork) -> "tuple[str, str]":
    """The verdict and the holder of the plan.

    Deciding and counting happen in one locked step, so that two sessions cannot both own a plan.
    """
    new = Hold(work.plan, work.owner)
    now = time.time()
    decided: list[str] = []

    def change(hold: Hold) -> Hold:
        hold = hold.claimed(message.session)
        holder = RELEASED if work.released else hold.holder(message.session)
        count = hold.count(work.kind, work.state)
        decided[:] = [decide(work.kind, holder, count, message.stop), holder]
        return hold.counted(work.state) if decided[0] == BLOCK else hold

    holder = RELEASED if work.released else load_hold(folder, new, now).holder(message.session)
    if holder == OWN_SESSION and update_hold(folder, new, now, change):
        return decided[0], decided[1]
    # The count is not writable, or the plan belongs to another session.
    return decide(work.kind, holder, UNCOUNTED, message.stop), holder


def block_reason(work: OpenWork) -> str:
    """What is incomplete, with the command for each item."""
    lines = [f"{_subject(work)} is not complete. What is missing, and the command for it:"]
    for item, command in work.left[:LISTED_ITEMS]:
        lines.append(f"- {_shortened(item)}\n  next: {_shortened(command)}")
    hidden = len(work.left) - LISTED_ITEMS
    if hidden > 0:
        lines.append(f"- and {hidden} more: {_STATUS_COMMANDS[work.what]}")
    if work.kind == WAITING:
        lines.append("Only a person can do that: tell them what to look at and what to run.")
    anyway = "fairlead planning reset --confirm" if work.fault else "fairlead planning release"
    lines.append(f"A person who wants to stop anyway runs: {anyway}")
    return "\n".join(lines)


def _allowed(message: HookMessage, work: OpenWork, verdict: str, holder: str) -> HookResponse:
    status = _STATUS_COMMANDS[work.what]
    state = f"{_subject(work)} is not complete ({len(work.left)} left; see: {status})"
    if verdict == NOTIFY:
        why = "it was released" if holder == RELEASED else "another session owns it"
        return HookResponse(note=f"{state}; this session is not held, because {why}")
    assert verdict == GIVE_WAY
    why = _REASONS_TO_STOP.get(message.stop) or "nothing changed after several reminders"
    text = f"{state}. Stopping is allowed, because {why}."
    return HookResponse((("systemMessage", json_string(f"Fairlead: {text}")),), note=text)


def _subject(work: OpenWork) -> str:
    plan = _shortened(work.plan)
    return f"The work on plan {plan}" if work.what == "exec" else f"Plan {plan}"


def _shortened(text: str) -> str:
    """Text from the plan on one line. A person wrote it, so it can be long."""
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_LIMIT else line[:_TEXT_LIMIT] + "…"
