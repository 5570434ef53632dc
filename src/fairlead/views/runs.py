"""What a run of agents would do, and how it ended: workflows, executions and councils."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from fairlead.agents.budget import may_spend
from fairlead.core.values import names_of
from fairlead.views.document import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairlead.agents.budget import Cost
    from fairlead.council.model import CouncilJob
    from fairlead.council.service import CouncilPreview
    from fairlead.execution.model import ExecutionPreview, ExecutionReport
    from fairlead.jobs.context import RunOptions
    from fairlead.jobs.model import Question
    from fairlead.workflows.debug import DebugFile, DebugSearch
    from fairlead.workflows.quick import QuickState, QuickTask
    from fairlead.workflows.role_calls import WorkflowPreview
    from fairlead.workflows.service import WorkflowReport

_MINUTE = timedelta(minutes=1)
_CALL = ("key", "role", "status", "model", "tries", "tokens", "left_out")


def workflow_preview_view(preview: WorkflowPreview, **more: object) -> dict[str, Any]:
    """The roles that a workflow would ask, and the estimated cost."""
    return {
        **more,
        "roles": list(preview.calls),
        "estimate": preview.estimate,
        "resumes": preview.resumes,
        "dry_run": True,
    }


def workflow_view(done: WorkflowReport, folder: str, **more: object) -> dict[str, Any]:
    """How a workflow ended, what it wrote and what it cost."""
    job = done.job
    return {
        "ok": job.status == "DONE",
        "job": job.id,
        "status": str(job.status),
        "rehearsed": job.is_rehearsed,
        "calls": [fields(call, *_CALL) for call in done.calls],
        "tokens": done.spent.tokens,
        "cost_usd": done.spent.usd,
        "written": list(done.written),
        "questions": list(done.questions),
        "note": job.note,
        "folder": folder,
        **more,
    }


def quick_tasks_view(tasks: Sequence[QuickState]) -> dict[str, Any]:
    """Small tasks outside the roadmap."""
    return {"quick": list(tasks)}


def quick_preview_view(task: QuickTask, estimate: Cost) -> dict[str, Any]:
    """A small task that has not begun."""
    return {"id": task.id, "folder": task.folder, "calls": 3, "estimate": estimate}


def debug_sessions_view(sessions: Sequence[DebugFile]) -> dict[str, Any]:
    """Searches for the cause of a fault."""
    return {"sessions": list(sessions)}


def debug_preview_view(search: DebugSearch, rounds: int) -> dict[str, Any]:
    """A search that has not begun."""
    return {"name": search.name, "file": search.path, "rounds": rounds}


def execution_preview_view(
    preview: ExecutionPreview, options: RunOptions, note: str, agents: Mapping[str, object]
) -> dict[str, Any]:
    """The waves, commands, permissions and limits of an execution that has not begun."""
    limits, left = options.limits, frozenset(preview.left)
    return {
        "phase": preview.phase,
        "name": preview.name,
        "waves": [list(wave) for wave in preview.order.waves],
        "plans": [
            {
                **fields(plan, "id", "depends_on", "files"),
                "tasks": [task.name for task in plan.tasks],
                "left": plan.id in left,
            }
            for plan in preview.documents
        ],
        "commands": [{"task": task, "command": line} for task, line in preview.commands],
        "approved": preview.is_approved,
        "resumes": preview.resumes,
        "problems": list(preview.problems),
        "warnings": [*preview.warnings, *preview.order.warnings],
        "estimate": preview.estimate,
        "branch": preview.branch,
        "permissions": {**fields(options.commands, "programs", "is_unlimited"), "note": note},
        "time_limits": {name: getattr(limits, name) // _MINUTE for name in names_of(limits)},
        "limits": options.caps,
        "beyond_limits": exceeded_limit(preview, options),
        "notes": list(options.notes),
        "agents": agents,
    }


def exceeded_limit(preview: ExecutionPreview, options: RunOptions) -> str:
    """Which cap the estimate of an execution exceeds; empty: none."""
    return may_spend(preview.estimate, *preview.spent, options.caps)


def execution_view(done: ExecutionReport, status: str, folder: str) -> dict[str, Any]:
    """How an execution ended, what it finished and what it cost."""
    job = done.job
    return {
        "ok": job.status == "DONE",
        "job": job.id,
        "phase": job.phase,
        "branch": job.target,
        "base": job.base,
        "rehearsed": job.is_rehearsed,
        "plans": [{"id": plan, "complete": is_done} for plan, is_done in done.plans],
        "tokens": done.spent.tokens,
        "cost_usd": done.spent.usd,
        "estimate": job.estimate,
        "questions": list(done.questions),
        "kept_branches": list(done.kept_branches),
        "status": status,
        "folder": folder,
    }


def council_preview_view(preview: CouncilPreview) -> dict[str, Any]:
    """Who would sit in a council, what each would receive, and the estimated cost."""
    stages = [
        {"stage": name, "calls": calls, "estimate": cost} for name, calls, cost in preview.stages
    ]
    shown = fields(preview, "roster", "degraded", "caps", "receives", "reads")
    return shown | {"stages": stages, "total": preview.total, "most": preview.most}


def council_view(
    job: CouncilJob, status: str, folder: str, questions: Sequence[Question]
) -> dict[str, Any]:
    """How a council job stands after a run."""
    return {
        "ok": job.status == "DONE",
        "job": job.id,
        "request": job.request,
        "rehearsed": job.is_rehearsed,
        "degraded": list(job.degraded),
        "round": job.review_round,
        "votes": {vote.seat: str(vote.vote) for vote in job.council_votes},
        "blocker_reason": job.blocker_reason,
        "phase": job.phase,
        "exec": job.exec,
        "tokens": job.usage.total_tokens,
        "cost_usd": job.usage.total_cost_usd,
        "next": council_command(job),
        "status": status,
        "folder": folder,
        "questions": list(questions),
    }


def council_command(job: CouncilJob) -> str:
    """The command that a person runs next for a council job."""
    return {
        "APPROVED": f"fairlead run --job {job.id} --approve",
        "BLOCKED": f"fairlead job show {job.id}",
        "FAILED": f"fairlead job retry {job.id}",
        "DONE": f"fairlead job show {job.id}",
    }.get(job.status, f"fairlead run --job {job.id}")
