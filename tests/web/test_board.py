"""The web board: who may use it, what it shows, and that hostile text stays text."""

import asyncio
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from fairlead.app import App
from fairlead.cluster.errors import ServerGone
from fairlead.core.clock import SystemClock
from fairlead.core.serialization import plain
from fairlead.interfaces.web import pages
from fairlead.interfaces.web.access import CODE_SECONDS, MOST_BODY, BoardSessions
from fairlead.interfaces.web.changes import ChangeFeed
from fairlead.interfaces.web.server import Board, projects_of
from fairlead.jobs.folder import record_text
from fairlead.jobs.model import Job, JobStatus
from tests.conftest import Fairlead
from tests.report.test_formats import HOSTILE
from tests.report.test_report import tags_of
from tests.seeds.conftest import SeedProject
from tests.support.big_project import big_project
from tests.support.council_scenes import SCENES
from tests.support.verification import FixedClock

PORT = 8123
STATIC = Path(__file__).parents[2] / "src/fairlead/interfaces/web/static"
PAGES = ("", "/roadmap", "/phases/1", "/plans", "/plans/01-01", "/jobs", "/memory", "/documents")


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    text: str


class Browser:
    """Sends requests to the board in this process, as a browser would."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.cookie = ""

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """One request."""
        given = {"host": f"127.0.0.1:{PORT}", "cookie": self.cookie, **(headers or {})}
        route, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": route,
            "raw_path": route.encode(),
            "query_string": query.encode(),
            "scheme": "http",
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 1),
            "http_version": "1.1",
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in given.items()
                if value
            ],
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self._board.application(scope, receive, send))
        start = sent[0]
        text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
        shown = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], shown, text)

    def enter(self) -> None:
        """Open a new link."""
        answer = self.ask(f"/enter?code={self._board.sessions.new_code()}")
        assert answer.status == 200
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def secret(self) -> str:
        """The secret in the forms of this session."""
        page = self.ask("/p/project").text
        return page.partition('name="form_secret" value="')[2].partition('"')[0]

    def post(self, action: str, headers: dict[str, str] | None = None, **form: str) -> Answer:
        """Send a form of the board."""
        given = {
            "origin": f"http://127.0.0.1:{PORT}",
            "content-type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        body = urlencode({"form_secret": self.secret(), **form}).encode()
        return self.ask(f"/p/project/do/{action}", "POST", body, given)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    folder = tmp_path / "project"
    folder.mkdir()
    made = SeedProject(folder, fairlead)
    made.run("init", "Demo", "--yes")
    made.plan(1, 1)
    made.plan(1, 2)
    made.summary(1, 1)
    made.run("state", "sync")
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def browser(project: SeedProject, clock: Clock) -> Browser:
    tokens: Iterator[str] = (f"token-{number}" for number in range(1000))
    sessions = BoardSessions(clock, lambda: next(tokens))
    return Browser(Board(projects_of([str(project.folder)]), sessions, PORT, SystemClock()))


# --- who may use it ----------------------------------------------------------------------------


def test_a_link_works_once_and_for_a_minute(browser: Browser, clock: Clock) -> None:
    code = browser._board.sessions.new_code()
    assert browser.ask(f"/enter?code={code}").status == 200
    assert browser.ask(f"/enter?code={code}").status == 401
    late = browser._board.sessions.new_code()
    clock.now += CODE_SECONDS + 1
    assert browser.ask(f"/enter?code={late}").status == 401


def test_the_cookie_is_strict_and_hidden_from_scripts(browser: Browser) -> None:
    answer = browser.ask(f"/enter?code={browser._board.sessions.new_code()}")
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == f"fairlead_{PORT}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(rest.split("; "))


@pytest.mark.parametrize("path", ["/", "/p/project", "/p/project/events", "/static/board.css"])
@pytest.mark.parametrize("cookie", ["", f"fairlead_{PORT}=guess", "fairlead_1=token-1", "=;\x01"])
def test_nothing_is_shown_without_a_session(browser: Browser, path: str, cookie: str) -> None:
    browser.cookie = cookie
    assert browser.ask(path).status == 401


@pytest.mark.parametrize(
    "host",
    [
        "",
        "example.com",
        f"example.com:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1.nip.io:{PORT}",
    ],
)
def test_another_host_name_is_refused(browser: Browser, host: str) -> None:
    browser.enter()
    assert browser.ask("/p/project", headers={"host": host}).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://example.com"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_request_of_another_page_is_refused(browser: Browser, headers: dict[str, str]) -> None:
    browser.enter()
    assert browser.ask("/p/project", headers=headers).status == 403
    assert browser.ask("/p/project/events", headers=headers).status == 403
    assert browser.post("capture", headers=headers, text="x").status == 403


def test_a_form_needs_the_secret_of_its_session(browser: Browser, project: SeedProject) -> None:
    browser.enter()
    assert browser.post("capture", text="x", form_secret="guess").status == 403
    assert browser.post("capture", text="x", form_secret="").status == 403
    old = browser.secret()
    browser.enter()
    assert browser.post("capture", text="x", form_secret=old).status == 403
    assert not project.json("capture", "--list")["todos"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json"}, 415),
        ({"content-type": "text/plain"}, 415),
        ({"origin": ""}, 403),
    ],
)
def test_only_a_form_of_the_board_is_accepted(
    browser: Browser, headers: dict[str, str], status: int
) -> None:
    browser.enter()
    assert browser.post("capture", headers=headers, text="x").status == status


def test_a_large_or_broken_form_is_refused(browser: Browser) -> None:
    browser.enter()
    assert browser.post("capture", text="x" * MOST_BODY).status == 413
    headers = {
        "origin": f"http://127.0.0.1:{PORT}",
        "content-type": "application/x-www-form-urlencoded",
    }
    assert browser.ask("/p/project/do/capture", "POST", b"\xff=%ff", headers).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_not_offered(browser: Browser, method: str) -> None:
    browser.enter()
    assert browser.ask("/p/project", method).status == 403


def test_no_get_request_changes_anything(browser: Browser, project: SeedProject) -> None:
    browser.enter()
    before = {path: path.read_bytes() for path in project.planning.rglob("*.md")}
    for page in PAGES:
        browser.ask(f"/p/project{page}")
    assert browser.ask("/p/project/do/repair").status == 405
    assert {path: path.read_bytes() for path in project.planning.rglob("*.md")} == before


# --- what it shows -----------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_page_loads_only_from_itself(browser: Browser, page: str) -> None:
    browser.enter()
    answer = browser.ask(f"/p/project{page}")
    assert answer.status == 200
    tags = tags_of(answer.text)
    assert all(address.startswith(("/", "#")) for address in tags.addresses)
    assert not {name for name in tags.attributes if name.startswith("on") or name == "style"}
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_the_project_stays_text(
    browser: Browser, project: SeedProject, text: str
) -> None:
    clean = " ".join("".join(mark for mark in text if mark >= " ").split())
    project.state = project.state.replace("None yet.", f"- {clean}").replace("Demo", clean)
    roadmap = project.path("ROADMAP.md")
    roadmap.write_text(roadmap.read_text("utf-8").replace("Foundation", clean), "utf-8")
    plan = project.path("phases").glob("01-*/01-02-PLAN.md")
    [path] = plan
    path.write_text(path.read_text("utf-8").replace("Make it.", text), "utf-8")
    browser.enter()
    for page in ("", "/roadmap", "/plans", "/plans/01-02", "/memory", "/documents/ROADMAP.md"):
        answer = browser.ask(f"/p/project{page}")
        tags = tags_of(answer.text)
        assert not tags.names & {"img", "iframe", "object", "embed"}
        assert answer.text.count("<script") == 4
        assert not {name for name in tags.attributes if name.startswith("on") or name == "style"}
        assert not {mark for mark in answer.text if mark < " " and mark not in "\n\t"}


@pytest.mark.parametrize(
    "path", ["../config.json", "..%2f..%2fetc%2fpasswd", ".fairlead/x.md", "config.json"]
)
def test_only_documents_below_planning_are_shown(browser: Browser, path: str) -> None:
    browser.enter()
    answer = browser.ask(f"/p/project/documents/{path}")
    assert "root:" not in answer.text
    assert answer.status in (200, 404, 422)


def test_a_missing_plan_or_job_is_not_found(browser: Browser) -> None:
    browser.enter()
    assert browser.ask("/p/project/plans/99-99").status == 404
    assert browser.ask("/p/project/jobs/nothing").status == 404
    assert browser.ask("/p/other").status == 404


def test_actions_go_through_the_same_services(browser: Browser, project: SeedProject) -> None:
    browser.enter()
    assert browser.post("capture", text="A lamp").status == 303
    assert browser.post("decide", text="Use SQLite", phase="1").status == 303
    assert [todo["title"] for todo in project.json("capture", "--list")["todos"]] == ["A lamp"]
    assert "Use SQLite" in project.state
    project.run("state", "add-blocker", "--text", "No supplier")
    assert browser.post("resolve-blocker", text="No supplier").status == 303
    assert not project.json("status")["blockers"]
    assert browser.post("answer", job="nothing", text="yes").status == 404
    assert browser.post("capture", text=" ").status == 404


def test_drift_is_shown_with_its_repair_and_repaired(
    browser: Browser, project: SeedProject
) -> None:
    browser.enter()
    project.state = project.state.replace("completed_plans: 1", "completed_plans: 0")
    assert "+  completed_plans: 1" in browser.ask("/p/project").text
    assert browser.post("repair").status == 303
    assert project.json("check")["is_clean"]


def test_the_board_shows_the_numbers_of_status(browser: Browser, project: SeedProject) -> None:
    browser.enter()
    shown = json.loads(browser.ask("/p/project/questions/status").text)
    assert shown["progress"] == project.json("status")["progress"]


def test_the_result_of_an_action_is_shown_once(browser: Browser) -> None:
    browser.enter()
    assert browser.post("capture", text="A lamp").headers["location"] == "/p/project"
    update = {"hx-request": "true"}
    assert "Recorded: A lamp" not in browser.ask("/p/project", headers=update).text  # an old page
    assert "Recorded: A lamp" in browser.ask("/p/project").text
    assert "Recorded: A lamp" in browser.ask("/p/project", headers=update).text
    assert "Recorded: A lamp" not in browser.ask("/p/project").text


def test_the_history_of_the_state_shows_what_each_command_changed(
    browser: Browser, project: SeedProject
) -> None:
    browser.enter()
    project.run("state", "add-decision", "--phase", "1", "--summary", "Use SQLite")
    page = browser.ask("/p/project/memory").text
    assert "<code>state add-decision</code>" in page
    assert '<span class="add">+- [Phase 1]: Use SQLite' in page


def test_a_job_is_called_by_what_it_is_about(browser: Browser, project: SeedProject) -> None:
    browser.enter()
    request = plain(SCENES["failed"]().job)["request"]
    execution = plain(Job("execute-01", "01", JobStatus.DONE, "2026-04-13", "stub"))
    for record in ({**plain(SCENES["failed"]().job), "job_id": "j_1"}, execution):
        home = project.path("jobs") / str(record.get("job_id") or record["id"])
        home.mkdir(parents=True)
        (home / "job.json").write_text(record_text(record), "utf-8")
    shown = browser.ask("/p/project/jobs").text
    assert f'>{request}</a><span class="id">j_1</span>' in shown
    assert '>Execute phase 1: Foundation</a><span class="id">execute-01</span>' in shown
    assert f"<h1>{request} <span" in browser.ask("/p/project/jobs/j_1").text


def test_the_page_of_a_plan_lists_its_tasks_without_tags(
    browser: Browser, project: SeedProject
) -> None:
    browser.enter()
    shown = browser.ask("/p/project/plans/01-01").text
    tasks = shown.partition("<h2>Tasks</h2>")[2].partition("The plan as it is written")[0]
    assert '<article class="card">' in tasks
    assert "&lt;task" not in tasks
    assert "&lt;task" in shown  # below, as it is written


# --- workers ------------------------------------------------------------------------------------

CLUSTER = {
    "address": "127.0.0.1:7233",
    "namespace": "default",
    "queues": [
        {
            "name": "claude",
            "waiting": 2,
            "slots": 3,
            "workers": [{"host": "crane", "process": "17", "slots": 3, "version": "1.0"}],
        },
        {"name": "verify", "waiting": 1, "slots": 0, "workers": []},
    ],
    "calls": [
        {
            "id": "call-7",
            "queue": "claude",
            "age_seconds": 4.5,
            "attempt": 1,
            "worker": "crane:17",
            "link": "http://ui/call-7",
        }
    ],
}


def board_with(project: SeedProject, ask: Callable[[App], dict[str, Any]]) -> Browser:
    tokens: Iterator[str] = (f"token-{number}" for number in range(1000))
    sessions = BoardSessions(Clock(), lambda: next(tokens))
    projects = projects_of([str(project.folder)])
    browser = Browser(Board(projects, sessions, PORT, SystemClock(), ask_cluster=ask))
    browser.enter()
    return browser


def test_workers_queues_and_calls_of_a_cluster_are_shown(project: SeedProject) -> None:
    project.run("config", "set", "fairlead.cluster.remote", "ssh://crane/harbour.git")
    browser = board_with(project, lambda _: CLUSTER)
    page = browser.ask("/p/project/workers").text
    for text in ("127.0.0.1:7233", "claude", "2 waiting", "crane:17", "call-7", "--queue verify"):
        assert text in page
    assert 'href="/p/project/workers"' in browser.ask("/p/project").text


def test_without_a_cluster_the_page_says_so_and_asks_nobody(project: SeedProject) -> None:
    asked: list[App] = []

    def ask(app: App) -> dict[str, Any]:
        asked.append(app)
        return CLUSTER

    browser = board_with(project, ask)
    assert "No cluster is configured" in browser.ask("/p/project/workers").text
    assert asked == []
    assert 'href="/p/project/workers"' not in browser.ask("/p/project").text


def test_a_cluster_that_does_not_answer_is_named(project: SeedProject) -> None:
    project.run("config", "set", "fairlead.cluster.remote", "ssh://crane/harbour.git")

    def ask(_: App) -> dict[str, Any]:
        raise ServerGone("127.0.0.1:7233", 10)

    answer = board_with(project, ask).ask("/p/project/workers")
    assert (answer.status, "127.0.0.1:7233" in answer.text) == (200, True)


def test_a_long_roadmap_is_drawn_in_ranges(tmp_path: Path) -> None:
    app = App(str(big_project(tmp_path / "big", 130, plans=1)))
    shown = pages.roadmap_page(app, {"base": "/p/big"})
    assert shown["is_grouped"]
    links = re.findall(r'href="/p/big/roadmap\?from=(\d+)#phases"', shown["graph"])
    assert [int(each) for each in links] == list(range(0, 130, 17))
    for text in ("Phases 1 to 17", "17/17 phases", "Phases 120 to 130"):
        assert text in shown["graph"]


def test_two_projects_get_names_of_their_own(project: SeedProject, tmp_path: Path) -> None:
    other = tmp_path / "other" / "project"
    (other / ".planning").mkdir(parents=True)
    names = [each.name for each in projects_of([str(project.folder), str(other)])]
    assert names == ["project", "project-2"]


def test_the_packaged_scripts_are_the_published_ones() -> None:
    lines = (STATIC / "SHA256SUMS.txt").read_text().splitlines()
    sums = {line.partition("  ")[2]: line.partition("  ")[0] for line in lines}
    assert set(sums) == {"htmx.min.js", "hx-sse.min.js", "uPlot.iife.min.js", "uPlot.min.css"}
    for name, digest in sums.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest


def test_a_page_is_told_of_each_group_of_changes() -> None:
    async def follow() -> list[str]:
        feed = ChangeFeed()
        events = feed.follow()
        first = await anext(events)
        for _ in range(5):
            await feed.announce()
        second = await anext(events)
        await events.aclose()  # type: ignore[attr-defined]
        return [first["data"], second["data"]]

    assert asyncio.run(follow()) == ["0", "5"]


def test_what_a_person_records_has_the_time_of_the_board_s_clock(
    project: SeedProject, browser: Browser
) -> None:
    projects = projects_of([str(project.folder)])
    fixed = Browser(Board(projects, browser._board.sessions, PORT, FixedClock()))
    fixed.enter()
    fixed.post("capture", text="A bell")
    [todo] = project.path("todos/pending").glob("*bell*.md")
    assert "2026-06-01" in todo.read_text("utf-8")


def test_the_first_page_loads_no_module() -> None:
    """In a process of its own: other tests have loaded everything."""
    program = (
        "import sys, tempfile; from pathlib import Path\n"
        "from fairlead.app import App\n"
        "from fairlead.interfaces.web import pages, server\n"
        "from tests.support.big_project import big_project\n"
        "project = big_project(Path(tempfile.mkdtemp()) / 'project', 2)\n"
        "before = set(sys.modules)\n"
        "app = App(str(project)); pages.now_page(app, {'base': ''}); pages.common(app)\n"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('fairlead')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
