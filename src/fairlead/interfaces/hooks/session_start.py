"""The hook at the start of a session: what an agent should know before its first step.

Facts and no orders, a few lines: position, blockers, an interrupted session, the open plan. Hosts
cut long texts, and an agent reads every word of it in every session, so it stays short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fairlead.interfaces.hooks.told import Answer, Told
from fairlead.interfaces.hooks.work import work_in
from fairlead.model.stopping import OPEN, OURS, UNREADABLE, WAITING, Hold
from fairlead.store import layout
from fairlead.store.hold import load_hold, update_hold
from fairlead.text.quickjson import quick_json_string
from fairlead.text.visible import visible

if TYPE_CHECKING:
    from fairlead.engine.reports import StatusReport
    from fairlead.engine.sessions import Offer

LIMIT = 1900  # characters; hosts take ten thousand

_LONGEST = 200
_MOST = 5  # of a kind

Look = Callable[[str], tuple["StatusReport", "tuple[Offer, ...]"]]


def answer(told: Told, environment: Mapping[str, str], look: Look) -> Answer:
    """What the agent is told; nothing where there is no project and no plan."""
    home = layout.find_plan_home(told.folder) if told.is_complete else ""
    if not home:
        return Answer()
    lines = _project(home, look) if layout.has_project(home) else []
    lines += _plan(told, home, environment)
    if not lines:
        return Answer()
    text = "\n".join(("Facts about this project, from its files (Fairlead):", *lines))
    context = quick_json_string(text if len(text) <= LIMIT else text[: LIMIT - 1] + "…")
    event = quick_json_string(told.event)
    specific = f'{{"hookEventName": {event}, "additionalContext": {context}}}'
    return Answer((("hookSpecificOutput", specific),))


def _project(home: str, look: Look) -> list[str]:
    report, offers = look(home)
    progress = report.progress
    where = [f"milestone {report.milestone}"] if report.milestone else []
    where += [f"phase {report.phase} ({report.phase_name})"] if report.phase else []
    where += [f"plan {report.plan}"] if report.plan else []
    counts = (
        f"{progress.completed_plans}/{progress.total_plans} plans,"
        f" {progress.completed_phases}/{progress.total_phases} phases, {progress.percent} %"
    )
    lines = [
        _line(f"Position: {', '.join(where) or report.status_words}; {counts}"),
        _line(f"Next: {report.next.command} ({report.next.reason})") if report.next.command else "",
    ]
    lines += _listed("Blocker", report.blockers)
    for offer in [each for each in offers if not each.is_live][:_MOST]:
        task = offer.handover.task.name or "no task named"
        way = "fairlead state resume" if offer.handover.is_ours else "read it"
        lines.append(_line(f"An earlier session left {offer.handover.path}: {task}; go on: {way}"))
    if report.drift:
        lines.append(
            f"STATE.md differs from the files in {len(report.drift)} places: fairlead doctor"
        )
    return [line for line in lines if line]


def _plan(told: Told, home: str, environment: Mapping[str, str]) -> list[str]:
    work = work_in(home, environment)
    if work.kind == UNREADABLE:
        return [_line(work.fault)]
    if work.kind not in (OPEN, WAITING):
        return []
    new = Hold(work.plan, work.owner)
    now = time.time()
    is_ours = not work.released and load_hold(home, new, now).holder(told.session) == OURS
    if is_ours:
        update_hold(home, new, now, lambda hold: hold.claimed(told.session))
    status = "fairlead exec status" if work.what == "exec" else "fairlead planning status"
    held = "this session is held until they are done" if is_ours else "this session is not held"
    lines = [_line(f"Open plan {work.plan}: {len(work.left)} things left, {held}; see: {status}")]
    return lines + _listed("Left", [f"{what} → {command}" for what, command in work.left])


def _listed(name: str, texts: tuple[str, ...] | list[str]) -> list[str]:
    lines = [_line(f"{name}: {text}") for text in texts[:_MOST]]
    return [*lines, f"{name}: {len(texts) - _MOST} more"] if len(texts) > _MOST else lines


def _line(text: str) -> str:
    line = " ".join(visible(text).split())
    return "- " + (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
