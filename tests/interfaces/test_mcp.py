"""The MCP server: the same objects as --json, truthful tools, and nothing that a person decides.

The SDK is imported by the tests that use it: every worker of a test run imports this file.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from fairlead.core.errors import FairleadError
from fairlead.interfaces.mcp.prompts import PROMPTS
from fairlead.interfaces.mcp.tools import TOOLS
from fairlead.jobs.model import QuestionKind
from fairlead.store.layout import DEPTH
from tests.conftest import Fairlead, Sample
from tests.support.mcp_calls import JOB, a_server, ask, listing, random_call

if TYPE_CHECKING:
    from mcp.client import Client

SCHEMAS = Path(__file__).parent / "pages" / "mcp-tools.json"
MODES = ["legacy", "2026-07-28"]  # with a handshake, and stateless
BATCH = 20
FUZZED_BATCHES = 2000 // BATCH


@pytest.fixture
def project(fairlead: Fairlead, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    assert fairlead("init", "Harbour", "--yes", cwd=folder).exit_code == 0
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "canary.md").write_text("untouched\n", "utf-8")
    return folder


def with_client(
    folder: Path, use: Callable[[Client], Awaitable[Any]], mode: str = "legacy", **options: bool
) -> Any:
    from mcp.client import Client

    from fairlead.interfaces.mcp.server import make_server

    server, bugs, _ = a_server(folder, **options)

    async def connected() -> Any:
        async with Client(make_server(server), mode=mode) as client:
            return await use(client)

    result = anyio.run(connected)
    assert bugs == []
    return result


def text_of(content: Any) -> str:
    return str(content.text)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".fairlead" not in path.parts
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("status", {}, "status"),
        ("next", {}, "next"),
        ("check", {}, "check"),
        ("check", {"ledger": True}, "check --ledger"),
        ("explain", {"what": "progress"}, "explain progress"),
        ("explain", {"what": "phase", "name": "1"}, "explain phase 1"),
        ("explain", {"what": "phase", "name": "9"}, "explain phase 9"),
        ("show_job", {}, "job list"),
        ("show_job", {"job": JOB}, f"job show {JOB}"),
        ("show_job", {"job": "nothing"}, "job show nothing"),
        ("planning", {"step": "status"}, "planning status"),
        (
            "record",
            {"event": "decision", "phase": "1", "text": "Store times in UTC", "dry_run": True},
            "state add-decision --phase 1 --summary 'Store times in UTC' --dry-run",
        ),
        (
            "record",
            {"event": "blocker", "text": "no sandbox", "dry_run": True},
            "state add-blocker --text 'no sandbox' --dry-run",
        ),
        (
            "record",
            {"event": "task-result", "text": "T", "outcome": "failure", "dry_run": True},
            "state task-result failure --task T --dry-run",
        ),
        ("record", {"event": "plan-complete"}, "state advance-plan"),
        (
            "capture",
            {"text": "Dim the lamps", "dry_run": True},
            "capture 'Dim the lamps' --dry-run",
        ),
        ("planning", {"step": "review"}, "planning review"),
        ("status", {"workstream": "nowhere"}, "status --ws nowhere"),
    ],
)
def test_a_tool_returns_the_object_of_json(
    fairlead: Fairlead, project: Path, tool: str, arguments: dict[str, Any], command: str
) -> None:
    ask(project, QuestionKind.ASKED)
    printed = fairlead(*shlex.split(command), "--json", cwd=project)
    server, bugs, _ = a_server(project)

    called = server.call(tool, arguments)

    assert bugs == []
    assert called.content == json.loads(printed.stdout)
    assert called.is_error == (not called.content["ok"])


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        (
            "planning",
            {"step": "add", "name": "Tide Reader", "criteria": "It reads"},
            "planning add module 'Tide Reader' -c 'It reads'",
        ),
        (
            "planning",
            {"step": "add", "part": "requirement", "name": "Safety"},
            "planning add requirement Safety",
        ),
        ("planning", {"step": "remove", "name": "auth"}, "planning remove module auth"),
        ("capture", {"text": "Dim it", "kind": "note"}, "capture 'Dim it' --note"),
        ("capture", {"text": "Sell it", "kind": "backlog"}, "capture 'Sell it' --backlog"),
        (
            "record",
            {"event": "session", "text": "Half way"},
            "state record-session --stopped-at 'Half way'",
        ),
        ("answer_job", {"job": JOB, "answer": "5432"}, f"job answer {JOB} 5432"),
    ],
)
def test_a_tool_that_writes_does_what_the_command_does(
    fairlead: Fairlead,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    arguments: dict[str, Any],
    command: str,
) -> None:
    monkeypatch.setenv("FAIRLEAD_NOW", "2026-11-01T12:00:00Z")
    ask(project, QuestionKind.ASKED)
    fairlead("planning", "start", "Ship it", cwd=project)
    fairlead("planning", "add", "module", "Auth", cwd=project)
    other = tmp_path / "other"
    shutil.copytree(project, other)

    called = a_server(project)[0].call(tool, arguments).content
    printed = json.loads(fairlead(*shlex.split(command), "--json", cwd=other).stdout)

    assert called == printed
    assert called["ok"]
    differing = [
        path for path, text in files_of(project).items() if text != files_of(other).get(path)
    ]
    # Who answered differs: a person, or an agent through the server.
    assert [path for path in differing if "/questions/" not in path] == []


def test_written_changes_are_the_same_as_those_of_the_commands(
    fairlead: Fairlead, project: Path, tmp_path: Path
) -> None:
    def call(**arguments: str) -> dict[str, Any]:
        return a_server(project)[0].call("planning", arguments).content

    started = call(step="start", name="Ship it")
    assert started["ok"]
    assert started["plan_id"].startswith("plan-")
    added = call(step="add", name="Auth Core", criteria="JWT works", priority="high")
    assert added["changed"] == [".claude/orchestrator-plan-phase.local.md"]
    shown = json.loads(fairlead("planning", "status", "--json", cwd=project).stdout)
    assert [module["id"] for module in shown["modules"]] == ["auth-core"]
    assert call(step="modify", name="auth-core", priority="low")["ok"]
    assert call(step="modify", name="auth-core")["error"]["code"] == "usage"
    assert call(step="remove", name="auth-core")["ok"]
    assert call(step="status")["modules"] == []


@pytest.mark.parametrize("mode", MODES)
def test_both_forms_of_the_protocol_list_call_and_read(project: Path, mode: str) -> None:
    async def use(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
        done = await client.call_tool("next", {})
        assert not done.is_error
        assert done.structured_content["phase"] == "1"
        assert json.loads(text_of(done.content[0])) == done.structured_content
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert "fairlead://document/STATE.md" in uris
        read = await client.read_resource("fairlead://document/STATE.md")
        assert text_of(read.contents[0]) == (project / ".planning/STATE.md").read_text("utf-8")
        assert len((await client.list_resource_templates()).resource_templates) == 2
        for prompt in (await client.list_prompts()).prompts:
            given = {each.name: "7" for each in prompt.arguments or ()}
            shown = await client.get_prompt(prompt.name, given)
            assert "{" not in text_of(shown.messages[0].content)

    with_client(project, use, mode)


def test_the_schemas_are_those_of_the_snapshot(project: Path) -> None:
    async def use(client: Client) -> str:
        return listing((await client.list_tools()).tools)

    assert with_client(project, use) == SCHEMAS.read_text("utf-8")


def test_everything_that_is_listed_takes_fewer_than_3000_tokens(project: Path) -> None:
    async def use(client: Client) -> str:
        listed = [
            *(await client.list_tools()).tools,
            *(await client.list_prompts()).prompts,
            *(await client.list_resource_templates()).resource_templates,
        ]
        members = [each.model_dump(by_alias=True, exclude_none=True) for each in listed]
        return json.dumps(members, separators=(",", ":"))

    text = with_client(project, use)

    assert len(TOOLS) <= 10
    # More than any tokenizer makes of it: pieces of words of at most five letters, and every sign
    # of punctuation except the pairs that JSON repeats.
    pieces = re.findall(r'[A-Za-z]{1,5}|\d{1,3}|":"|":\{"|"\},"|","|[^\w\s]+', text)
    assert len(pieces) < 3000, len(pieces)


def test_tools_that_say_they_only_read_write_nothing(project: Path) -> None:
    ask(project, QuestionKind.ASKED)
    before = files_of(project)
    server, bugs, _ = a_server(project, has_writes=False)
    calls: dict[str, list[dict[str, str]]] = {
        "explain": [{"what": "progress"}],
        "show_job": [{}, {"job": JOB}],
    }

    for tool in server.tools:
        for arguments in calls.get(tool.name, [{}]):
            assert not server.call(tool.name, arguments).is_error
    server.resources()

    assert bugs == []
    assert files_of(project) == before


def test_without_write_access_the_tools_that_write_are_hidden_and_refused(project: Path) -> None:
    server, _, started = a_server(project, has_writes=False)

    assert {tool.name for tool in server.tools} == {
        "status", "next", "check", "explain", "show_job",
    }  # fmt: skip
    for tool in TOOLS:
        if tool.is_write:
            refused = server.call(tool.name, {})
            assert refused.content["error"]["code"] == "read-only-server"
    assert started == []


def test_an_agent_that_fairlead_started_gets_no_tool_that_writes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEPTH, "1")
    server, _, _ = a_server(project)

    assert not any(tool.is_write for tool in server.tools)
    assert server.call("capture", {"text": "x"}).content["error"]["code"] == "read-only-server"


@pytest.mark.parametrize("step", ["approve", "confirm"])
def test_steps_of_a_person_return_the_command(fairlead: Fairlead, project: Path, step: str) -> None:
    fairlead("planning", "start", "Ship it", cwd=project)
    before = files_of(project)

    refused = a_server(project)[0].call("planning", {"step": step}).content

    assert refused["error"]["code"] == "only-by-person"
    assert f"fairlead planning {step}" in refused["error"]["hint"]
    assert files_of(project) == before


@pytest.mark.parametrize("kind", list(QuestionKind))
def test_only_a_factual_question_can_be_answered(project: Path, kind: QuestionKind) -> None:
    ask(project, kind)
    server, _, _ = a_server(project)

    answered = server.call("answer_job", {"job": JOB, "answer": "5432"}).content

    if kind is QuestionKind.ASKED:
        assert answered["answer"] == "5432"
        [question] = server.call("show_job", {"job": JOB}).content["questions"]
        assert question["by"] == "agent"
    else:
        assert answered["error"]["code"] == "person-decides"
        assert f"fairlead job answer {JOB}" in answered["error"]["hint"]


@pytest.mark.parametrize("options", [(), ("postgres", "sqlite", "abort")])
@pytest.mark.parametrize("answer", ["abort", "abort: no reason"])
def test_a_job_cannot_be_ended_by_an_answer(
    project: Path, answer: str, options: tuple[str, ...]
) -> None:
    ask(project, QuestionKind.ASKED, *options)

    refused = a_server(project)[0].call("answer_job", {"job": JOB, "answer": answer}).content

    assert refused["error"]["code"] == "person-decides"


def test_a_choice_among_options_belongs_to_a_person(project: Path) -> None:
    ask(project, QuestionKind.ASKED, "postgres", "sqlite")

    refused = a_server(project)[0].call("answer_job", {"job": JOB, "answer": "sqlite"}).content

    assert refused["error"]["code"] == "person-decides"


@pytest.mark.parametrize(
    ("kind", "subject", "words"),
    [
        ("execute", "1", ["phase", "execute", "--", "1"]),
        ("run", "--approve", ["run", "--", "--approve"]),
        ("quick", "Fix it", ["quick", "--", "Fix it"]),
    ],
)
def test_a_job_is_started_in_the_background_and_never_approved(
    project: Path, kind: str, subject: str, words: list[str]
) -> None:
    server, _, started = a_server(project)

    begun = server.call("start_job", {"kind": kind, "subject": subject}).content

    assert begun["job"] == "started-1"
    assert begun["detached"] is True
    assert [list(each) for each in started] == [words]


@pytest.mark.parametrize(
    "uri",
    [
        "fairlead://document/../../outside/canary.md",
        "fairlead://document/%2e%2e/%2e%2e/outside/canary.md",
        "fairlead://document//etc/hostname.md",
        "fairlead://document/link.md",
        "fairlead://document/folder/canary.md",
        "fairlead://document/config.json",
        "fairlead://document/.fairlead/x.md",
        "fairlead://document/\x00.md",
        "fairlead://document/%ff.md",
        "fairlead://job/../../outside",
        "fairlead://job/",
        "file:///etc/passwd",
        "nothing",
    ],
)
def test_no_address_reaches_outside_the_documents(project: Path, uri: str) -> None:
    planning = project / ".planning"
    (planning / "link.md").symlink_to(project.parent / "outside" / "canary.md")
    (planning / "folder").symlink_to(project.parent / "outside")
    server, bugs, _ = a_server(project)

    with pytest.raises(FairleadError) as refused:
        server.read(uri)

    assert bugs == []
    assert refused.value.hint
    assert "untouched" not in str(refused.value)


def test_errors_of_resources_and_prompts_carry_code_and_hint(project: Path) -> None:
    from mcp.shared.exceptions import MCPError

    async def use(client: Client) -> list[Any]:
        problems = []
        with pytest.raises(MCPError) as missing:
            await client.read_resource("fairlead://document/NOTHING.md")
        problems.append(missing.value.error.data)
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt("nothing", {})
        problems.append(unknown.value.error.data)
        return problems

    for problem in with_client(project, use):
        assert problem["code"] in ("no-document", "unknown-prompt")
        assert problem["hint"]


def test_bytes_that_are_not_text_do_not_break_an_answer(project: Path) -> None:
    state = project / ".planning" / "STATE.md"
    state.write_bytes(state.read_bytes() + b"\n\xff\xfe\n")

    async def use(client: Client) -> str:
        await client.call_tool("status", {})
        return text_of((await client.read_resource("fairlead://document/STATE.md")).contents[0])

    assert "?" in with_client(project, use)


def test_outside_a_project_every_tool_says_what_to_do(tmp_path: Path) -> None:
    server, bugs, _ = a_server(tmp_path)

    answer = server.call("status", {}).content

    assert bugs == []
    assert answer["error"]["code"] == "no-project"
    assert "fairlead init" in answer["error"]["hint"]
    assert server.resources() == ()


def test_random_calls_never_crash_and_never_leave_the_project(
    project: Path, tmp_path: Path, sample: Sample
) -> None:
    call_at_random(project, tmp_path, sample(range(FUZZED_BATCHES), 5))


@pytest.mark.walk
def test_2000_random_calls_never_crash_and_never_leave_the_project(
    project: Path, tmp_path: Path
) -> None:
    call_at_random(project, tmp_path, range(FUZZED_BATCHES))


def call_at_random(project: Path, place: Path, batches: Iterable[int]) -> None:
    before = files_of(place / "outside")
    for batch in batches:
        ask(project, QuestionKind.ASKED)
        numbers = random.Random(batch)
        server, bugs, started = a_server(project)
        for _ in range(BATCH):
            name, arguments = random_call(numbers)
            answer = server.call(name, arguments)
            assert bugs == [], (batch, name, arguments)
            assert answer.content["version"] == 1
            json.dumps(answer.content).encode()
            if answer.is_error:
                assert answer.content["error"]["code"], (name, arguments)
        for words in started:
            assert "--approve" not in words[: words.index("--")]
    assert files_of(place / "outside") == before
    assert [path for path in place.rglob("approvals*") if path.is_file()] == []


def test_the_token_is_made_once_and_refused_if_others_can_read_it(tmp_path: Path) -> None:
    from fairlead.interfaces.mcp.http import token_of

    token, path = token_of(str(tmp_path / "state"))

    assert len(token) >= 40
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert token_of(str(tmp_path / "state")) == (token, path)
    os.chmod(path, 0o644)
    with pytest.raises(FairleadError) as refused:
        token_of(str(tmp_path / "state"))
    assert refused.value.code == "open-token"


def test_every_prompt_names_only_tools_that_exist() -> None:
    names = {tool.name for tool in TOOLS}
    known = {*names, "discuss", "plan", "execute", "run", "session"}

    for prompt in PROMPTS:
        assert set(re.findall(r"`(\w+)`", prompt.text)) <= known


def test_the_host_may_name_the_folder_of_the_project(
    fairlead: Fairlead, project: Path, tmp_path: Path
) -> None:
    elsewhere = {"CLAUDE_PROJECT_DIR": str(project)}

    def tools(folder: Path, **more: str) -> list[str]:
        shown = fairlead("mcp", "--list", "--json", cwd=folder, env={**elsewhere, **more})
        return [tool["name"] for tool in json.loads(shown.stdout)["tools"]]

    assert len(tools(tmp_path)) == len(TOOLS)
    assert len(tools(tmp_path, **{DEPTH: "1"})) < len(TOOLS)
