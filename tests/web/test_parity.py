"""`--json`, MCP and the web board return the same object for the same question."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.app import App
from fairlead.core.serialization import plain
from fairlead.interfaces.mcp.tools import TOOLS, ToolContext
from fairlead.jobs.folder import record_text
from fairlead.views.document import document, json_text
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject
from tests.support.council_scenes import SCENES
from tests.web.test_board import Browser, browser, clock  # noqa: F401  # fixtures

# The question: its words on the command line, its address on the board, its tool of MCP if any.
EXPLAINED = ("progress", "scope", "status", "next")
COUNCILS = {f"j_20260412_000{at}": name for at, name in enumerate(SCENES, 1)}
QUESTIONS: list[tuple[str, str, str, dict[str, str]]] = [
    ("status", "status", "status", {}),
    ("next", "next", "next", {}),
    ("check", "check", "check", {}),
    ("check --ledger", "ledgers", "check", {"ledger": "yes"}),
    ("roadmap show", "roadmap", "", {}),
    ("roadmap analyze", "roadmap", "", {}),
    ("phase list", "phases", "", {}),
    ("milestone list", "milestones", "", {}),
    ("capture --list", "todos", "", {}),
    ("job list", "jobs", "show_job", {}),
    *((f"explain {what}", f"explain-{what}", "explain", {"what": what}) for what in EXPLAINED),
    *(
        (
            f"explain phase {phase}",
            f"explain-phase?name={phase}",
            "explain",
            {"what": "phase", "name": phase},
        )
        for phase in ("1", "2", "3")
    ),
    *(
        (
            f"explain plan {plan}",
            f"explain-plan?name={plan}",
            "explain",
            {"what": "plan", "name": plan},
        )
        for plan in ("01-01", "01-02", "02-01")
    ),
    *((f"phase show {phase}", f"phase?name={phase}", "", {}) for phase in ("1", "2", "3")),
    *((f"phase plans {phase}", f"plans?name={phase}", "", {}) for phase in ("1", "2", "3")),
    *((f"job show {job}", f"job?name={job}", "show_job", {"job": job}) for job in COUNCILS),
]
_OWN_KEYS = ("output",)  # the command line adds the file of a job's output


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    folder = tmp_path / "project"
    folder.mkdir()
    made = SeedProject(folder, fairlead)
    made.run("init", "Demo", "--yes")
    made.plan(1, 1)
    made.plan(1, 2)
    made.summary(1, 1)
    for name in ("Second", "Third"):
        made.run("phase", "add", name)
    made.plan(2, 1)
    made.run("capture", "A lamp")
    made.run("state", "sync")
    for job, scene in COUNCILS.items():
        home = made.path("jobs") / job
        home.mkdir(parents=True)
        record = {**plain(SCENES[scene]().job), "job_id": job}
        (home / "job.json").write_text(record_text(record), "utf-8")
    return made


def _no_start(*_: object) -> Any:
    pytest.fail("a question started a job")


def test_thirty_questions_have_one_answer_each(project: SeedProject, browser: Browser) -> None:  # noqa: F811
    assert len(QUESTIONS) >= 30
    browser.enter()
    tools = {tool.name: tool for tool in TOOLS}
    for words, address, tool, given in QUESTIONS:
        printed = project.json(*words.split())
        shown = json.loads(browser.ask(f"/p/project/questions/{address}").text)
        assert _same(shown) == _same(printed), words
        if tool:
            context = ToolContext(App(str(project.folder)), _no_start)
            arguments = tools[tool].arguments(**given)
            answer = json.loads(json_text(document(tools[tool].call(context, arguments))))
            assert _same(answer) == _same(printed), words


def _same(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _OWN_KEYS}
