"""A project behind the MCP server, and random calls to its tools: valid, odd and hostile."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.core.values import names_of
from fairlead.interfaces.mcp.service import ProjectServer
from fairlead.interfaces.mcp.tools import TOOLS
from fairlead.jobs.detached import DetachedJob
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import EXECUTE, Job, JobStatus, Question, QuestionKind

ODD_TEXTS = (
    "", " ", "1", "01", "2", "99", "1.1", "-1", "0", "01-01", "module", "auth", "x" * 30_000,
    "../../etc/passwd", "/etc/passwd", "..", "./../outside/canary.md", "a\nb", "---\nstatus: x\n---",
    "\x00", "\x1b[31mred", "\ud800", "$(touch stolen)", "`id`", "; rm -rf /", "<script>", "%2e%2e%2f",
    "é́\u202e", "--approve", "-h", "approve", "abort", "accept", "execute-01-1", "🚀" * 50,
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (None, True, 0, -1, 2**70, 1.5, [], ["x"], {}, {"x": 1}, *ODD_TEXTS)
JOB = "execute-01-20261101-120000"


def a_server(
    folder: Path, *, has_writes: bool = True
) -> tuple[ProjectServer, list[BaseException], list[Sequence[str]]]:
    """A server, the bugs that it has logged, and the commands that it has started."""
    bugs: list[BaseException] = []
    started: list[Sequence[str]] = []

    def start(place: str, words: Sequence[str]) -> DetachedJob:
        started.append(words)
        return DetachedJob("started-1", place, 1, "output")

    server = ProjectServer(str(folder), has_writes=has_writes, log=bugs.append, start=start)
    return server, bugs, started


def ask(project: Path, kind: QuestionKind, *options: str) -> None:
    """Let a job of the project wait for an answer."""
    job = JobFolder(str(project), JOB)
    at = "2026-11-01T12:00:00Z"
    job.save_record(Job(JOB, "1", JobStatus.BLOCKED, at, "", kind=EXECUTE))
    job.save_question(Question("asked-1", kind, "01-01-01.1", "Which port?", options, at))


def random_call(numbers: random.Random) -> tuple[str, Mapping[str, Any]]:
    """The name of a tool and its arguments."""
    if numbers.random() < 0.03:
        return numbers.choice(ODD_TEXTS), {}
    tool = numbers.choice(TOOLS)
    properties = tool.input_schema["properties"]
    arguments: dict[str, Any] = {}
    for name in names_of(tool.arguments):
        choice = numbers.random()
        valid = properties[name].get("enum") or [True, False, *ODD_TEXTS]
        if choice < 0.6 or name in tool.input_schema.get("required", ()):
            arguments[name] = numbers.choice(valid)
        if choice < 0.1:
            arguments[name] = numbers.choice(ODD_VALUES)
    if numbers.random() < 0.05:
        arguments[numbers.choice(ODD_TEXTS)] = numbers.choice(ODD_VALUES)
    return tool.name, arguments


def listing(tools: Sequence[Any]) -> str:
    """Tools of the SDK as they go over the wire."""
    members = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    return json.dumps(members, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
