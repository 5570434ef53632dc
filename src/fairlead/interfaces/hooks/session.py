"""The hooks for the start of a session, before compaction, and for its end.

The start hook prints facts, not instructions, in a few lines, because the agent reads them in
every session. The other two record the session in STATE.md if the project changed during it, and
give up at once when another process is writing. A plan owned by the session that ends is free for
the next session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fairlead.interfaces.hooks.baseline import (
    forget_baseline,
    has_baseline,
    has_changed,
    keep_baseline,
)
from fairlead.interfaces.hooks.message import HookMessage, HookResponse
from fairlead.interfaces.hooks.open_work import open_work_in
from fairlead.planphase.hold import load_hold, update_hold
from fairlead.planphase.paths import find_plan_home
from fairlead.planphase.stop_rule import OPEN, OWN_SESSION, UNREADABLE, WAITING, Hold
from fairlead.store import layout
from fairlead.text.fast_json import json_string
from fairlead.text.printable import visible

if TYPE_CHECKING:
    from fairlead.project.handoff import HandoverOffer
    from fairlead.project.overview import StatusReport

TOKEN_LIMIT = 1400  # of the text for the agent, by our estimate, which is on the high side
LOCK_WAIT_SECONDS = 0.5  # Claude Code allows 1.5 seconds for the whole session-end hook

_EVERY_PROMPT = "BeforeAgent"  # of Gemini CLI: the first prompt of a session starts it
_LINE_LIMIT = 200
_ITEM_LIMIT = 4  # entries of one kind
_MORE = "- there is more: fairlead status"

ReadProject = Callable[[str], tuple["StatusReport", "tuple[HandoverOffer, ...]"]]
RecordSession = Callable[[str], None]


def session_started(
    message: HookMessage, environment: Mapping[str, str], read_project: ReadProject
) -> HookResponse:
    """Give the agent the state of the project; empty without a project and without a plan."""
    folder = _project_folder(message)
    if not folder:
        return HookResponse()
    if message.event == _EVERY_PROMPT and has_baseline(folder, message.session):
        return HookResponse()  # the session has the facts already
    if layout.has_project(folder):
        keep_baseline(folder, message.session)
    lines = _project_lines(folder, read_project) if layout.has_project(folder) else []
    lines += _plan_lines(message, folder, environment)
    if not lines:
        return HookResponse()
    context = json_string(_within_limit(lines))
    event = json_string(message.event)
    output = f'{{"hookEventName": {event}, "additionalContext": {context}}}'
    return HookResponse((("hookSpecificOutput", output),))


def before_compaction(message: HookMessage, record: RecordSession) -> HookResponse:
    """Record the session before the host shortens its context, if anything happened in it."""
    folder = _project_folder(message)
    if folder and layout.has_project(folder) and has_changed(folder, message.session):
        record(folder)
        keep_baseline(folder, message.session)
    return HookResponse()


def session_ended(
    message: HookMessage, environment: Mapping[str, str], record: RecordSession
) -> HookResponse:
    """Record the end of the session, and give up its plan."""
    folder = _project_folder(message)
    if folder:
        work = open_work_in(folder, environment)
        new = Hold(work.plan, work.owner)
        now = time.time()
        if work.plan and load_hold(folder, new, now).owner == message.session:
            update_hold(folder, new, now, lambda hold: hold.left(message.session))
    response = before_compaction(message, record)
    if folder and layout.has_project(folder):
        forget_baseline(folder, message.session)
    return response


def _project_folder(message: HookMessage) -> str:
    return find_plan_home(message.folder) if message.is_complete else ""


def _project_lines(folder: str, read_project: ReadProject) -> list[str]:
    report, offers = read_project(folder)
    progress = report.progress
    position = [f"milestone {report.milestone}"] if report.milestone else []
    position += [f"phase {report.phase} ({report.phase_name})"] if report.phase else []
    position += [f"plan {report.plan}"] if report.plan else []
    counts = (
        f"{progress.completed_plans}/{progress.total_plans} plans,"
        f" {progress.completed_phases}/{progress.total_phases} phases, {progress.percent} %"
    )
    lines = [_line(f"Position: {', '.join(position) or report.status_words}; {counts}")]
    if report.next.command:
        lines.append(_line(f"Next: {report.next.command} ({report.next.reason})"))
    lines += _item_lines("Open question", _questions(report))
    lines += _item_lines("Blocker", report.blockers)
    lines += _item_lines("Recent decision", report.decisions[::-1])
    for offer in [offer for offer in offers if not offer.is_live][:_ITEM_LIMIT]:
        task = offer.handover.task.name or "no task named"
        command = "fairlead state resume" if offer.handover.is_ours else "read the file"
        path = offer.handover.path
        lines.append(_line(f"An earlier session left {path}: {task}; to continue: {command}"))
    if report.drift:
        count = len(report.drift)
        lines.append(f"STATE.md differs from the files in {count} places: fairlead doctor")
    return lines


def _questions(report: StatusReport) -> list[str]:
    """What waits for an answer of a person: of the project, and of its jobs."""
    from fairlead.project.open_jobs import JobState

    waiting = [job for job in report.jobs if job.state is JobState.WAITS]
    questions = [
        f"{job.note or job.words}; a person answers with: {job.command}" for job in waiting
    ]
    return [report.question, *questions] if report.question else questions


def _plan_lines(message: HookMessage, folder: str, environment: Mapping[str, str]) -> list[str]:
    work = open_work_in(folder, environment)
    if work.kind == UNREADABLE:
        return [_line(work.fault)]
    if work.kind not in (OPEN, WAITING):
        return []
    new = Hold(work.plan, work.owner)
    now = time.time()
    is_ours = (
        not work.released and load_hold(folder, new, now).holder(message.session) == OWN_SESSION
    )
    if is_ours:
        update_hold(folder, new, now, lambda hold: hold.claimed(message.session))
    status = "fairlead exec status" if work.what == "exec" else "fairlead planning status"
    effect = "this session is held until they are done" if is_ours else "this session is not held"
    lines = [_line(f"Open plan {work.plan}: {len(work.left)} items left, {effect}; see: {status}")]
    return lines + _item_lines("Left", [f"{item} → {command}" for item, command in work.left])


def _item_lines(name: str, texts: Sequence[str]) -> list[str]:
    lines = [_line(f"{name}: {text}") for text in texts[:_ITEM_LIMIT]]
    hidden = len(texts) - _ITEM_LIMIT
    return [*lines, f"{name}: {hidden} more"] if hidden > 0 else lines


def _line(text: str) -> str:
    return "- " + _shortened(" ".join(visible(text).split()), _LINE_LIMIT)


def _within_limit(lines: Sequence[str]) -> str:
    """The lines that fit, under a heading; the last ones are the least urgent."""
    text = "Facts about this project, from its files (Fairlead):"
    for line in lines:
        if estimated_tokens(f"{text}\n{line}\n{_MORE}") > TOKEN_LIMIT:
            return f"{text}\n{_MORE}"
        text = f"{text}\n{line}"
    return text


def estimated_tokens(text: str) -> int:
    """Tokens of a text, on the high side: three ASCII characters, or one of another alphabet."""
    plain = sum(character.isascii() for character in text)
    return plain // 3 + (len(text) - plain) + 1


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
