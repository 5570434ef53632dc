"""The jobs of a project: the list, one job with all that belongs to it, and what a person did."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.core.serialization import convert
from fairlead.core.values import dataclass, names_of
from fairlead.views.document import fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairlead.app import App
    from fairlead.council.model import CouncilJob
    from fairlead.jobs.detached import DetachedJob
    from fairlead.jobs.model import JobRecord, Question
    from fairlead.jobs.notify.service import NotifyStatus
    from fairlead.project.open_jobs import OpenJob

_PRESENT = ("status", "state", "is_running", "command")


def job_request(record: JobRecord) -> str:
    """What a person asked the job to do; empty if it works on a phase."""
    return str(getattr(record, "request", "") or getattr(record, "subject", ""))


def job_title(record: JobRecord, phases: Mapping[str, str]) -> str:
    """What a job is about in words: its request, or its kind and phase; `phases`: their names."""
    if request := job_request(record).strip():
        return request.partition("\n")[0]
    number = record.phase
    with suppress(MalformedId):  # other kinds name their subject there
        number = PhaseId.parse(number).short
        name = phases.get(number, "")
        return f"{record.kind.capitalize()} phase {number}{f': {name}' if name else ''}"
    return f"{record.kind} {number}".strip().capitalize()


def job_list_view(
    jobs: Iterable[tuple[JobRecord, OpenJob]], damaged: Iterable[object]
) -> dict[str, Any]:
    """Every job with its present state, and the records that cannot be read."""
    return {
        "jobs": [
            {
                **fields(record, "id", "kind", "phase", "started_at", "ended_at", "degraded"),
                **fields(present, *_PRESENT),
                "rehearsed": record.is_rehearsed,
            }
            for record, present in jobs
        ],
        "damaged": [str(problem) for problem in damaged],
    }


def job_view(report: Any, present: OpenJob, output: str = "") -> dict[str, Any]:
    """One job as its kind reports it, with its present state and the file of its output."""
    shown = {**fields(report, *names_of(report)), **fields(present, *_PRESENT)}
    return {**shown, "output": output}


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One event of a job, as its journal records it."""

    at: str = ""
    subject: str = ""
    kind: str = ""
    text: str = ""


def event_lines(journal: str, count: int) -> tuple[JournalLine, ...]:
    """The last events of a journal, the newest first; lines that cannot be read are left out."""
    found = []
    for line in reversed(journal.splitlines()[-2 * count :]):
        try:
            event, _ = convert(JournalLine, json.loads(line))
        except (ValueError, RecursionError):
            continue  # a crash cut the line off, or something else wrote it
        found += [event] if event else []
    return tuple(found[:count])


def detached_view(
    started: DetachedJob, *, rehearsed: bool, in_copy: bool = True, note: str = ""
) -> dict[str, Any]:
    """A job that began in the background, with the commands that follow and end it."""
    words = " --rehearsal" if rehearsed and in_copy else ""
    return {
        **fields(started, "job", "folder", "pid", "output"),
        "detached": True,
        "rehearsed": rehearsed,
        "watch": f"fairlead job watch {started.job}{words}",
        "cancel": f"fairlead job cancel {started.job}{words}",
        "note": note,
    }


def plan_versions_view(job: str, plans: object) -> dict[str, Any]:
    """The versions of a council's plan."""
    return {"job": job, "plans": plans}


def answer_view(answered: Question, present: OpenJob) -> dict[str, str]:
    """A question that was answered, and the command that its job needs now."""
    return {"question": answered.id, "answer": answered.answer, "next": present.command}


def ended_job_view(job: JobRecord) -> dict[str, str]:
    """A job that a person ended."""
    return {"job": job.id, "status": str(job.status)}


def stopped_council_view(job: CouncilJob) -> dict[str, str | None]:
    """A council job that a person vetoed or cancelled."""
    return {**ended_job_view(job), "blocker_reason": job.blocker_reason}


def ruling_view(job: str, item: str, ruling: str) -> dict[str, str]:
    """A ruling on an open item of a council."""
    return {"job": job, "item": item, "ruling": ruling, "next": f"fairlead job retry {job}"}


def retry_view(child: str, parent: str) -> dict[str, str]:
    """A new job made from one that failed."""
    return {"job": child, "parent": parent, "next": f"fairlead run --job {child}"}


def notify_status_view(app: App) -> NotifyStatus:
    """What is switched on, without secrets."""
    return app.notifier.status()


def notify_preview_view(app: App) -> dict[str, Any]:
    """The message that a test would send."""
    message = app.notifier.test_message()
    return {"title": message.title, "text": message.text, "message": message, "dry_run": True}


def notify_test_view(app: App) -> dict[str, Any]:
    """What became of a test in each channel."""
    return {"deliveries": list(app.notifier.test()), "dry_run": False}
