"""The server of the board: routes, templates, static files, and how it is run.

The work of a request is synchronous, like that of a command. It happens in a thread of the server,
with an application of its own, so requests share nothing but the sessions.
"""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Any

import h11
import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

# The packages that the first page needs are loaded with the server: `App` loads them when it is
# asked, and then the first person would wait for it.
import fairlead.council.service
import fairlead.execution.service
import fairlead.planphase.facts
import fairlead.planphase.overview_sources
import fairlead.project.events
import fairlead.project.sessions
import fairlead.text.fast_json  # noqa: F401
from fairlead.app import App
from fairlead.core.clock import Clock
from fairlead.core.errors import FairleadError
from fairlead.core.loopback import listen
from fairlead.core.values import dataclass, replace
from fairlead.interfaces.web import pages
from fairlead.interfaces.web.access import FORM_FIELD, AccessControl, BoardSessions
from fairlead.interfaces.web.changes import QUIET_SECONDS, ChangeFeed, watch
from fairlead.interfaces.web.errors import BoardPortBusy, NoPage
from fairlead.report.formats import DARK_STYLE, STYLE
from fairlead.store import layout
from fairlead.store.digests import FileCache
from fairlead.text.printable import visible
from fairlead.views.actions import ACTIONS, StartedJob
from fairlead.views.cluster import asked_cluster
from fairlead.views.document import document, error_document, json_text

HEADER_SECONDS = 10
# Objects between collections: `main` raises it for short commands, which a server cannot afford.
GC_THRESHOLD = 20_000
_CLUSTER_SECONDS = 2.0  # the cluster is asked at most this often
_HERE = os.path.dirname(__file__)
_FIRST_TEMPLATES = ("layout.html", "macros.html", "now.html")
_STATUS = {2: 404, 3: 422, 4: 409, 5: 502, 6: 409, 7: 500}

PageOf = Callable[[App, Mapping[str, str]], Any]
ClusterQuestion = Callable[[App], dict[str, Any]]
_PAGES: Mapping[str, tuple[str, PageOf]] = {
    "": ("now.html", pages.now_page),
    "/roadmap": ("roadmap.html", pages.roadmap_page),
    "/phases/{number}": ("phase.html", pages.phase_page),
    "/plans": ("plans.html", pages.plans_page),
    "/plans/{plan}": ("plan.html", pages.plan_page),
    "/jobs": ("jobs.html", pages.jobs_page),
    "/jobs/{job}": ("job.html", pages.job_page),
    "/memory": ("memory.html", pages.memory_page),
    "/documents": ("documents.html", pages.documents_page),
    "/documents/{path:path}": ("documents.html", pages.documents_page),
}


@dataclass(frozen=True, slots=True)
class BoardProject:
    """A project on the board."""

    name: str  # in addresses
    title: str
    folder: str


def projects_of(folders: Sequence[str]) -> tuple[BoardProject, ...]:
    """The projects of some folders, each with a name of its own."""
    projects: dict[str, BoardProject] = {}
    for folder in folders:
        place = layout.find_project(folder)
        title = os.path.basename(place) or "project"
        plain = "".join(mark if mark.isascii() and mark.isalnum() else "-" for mark in title)
        name, count = plain.strip("-").lower() or "project", 1
        while name in projects and projects[name].folder != place:
            count += 1
            name = f"{plain.strip('-').lower() or 'project'}-{count}"
        projects[name] = BoardProject(name, title, place)
    return tuple(projects.values())


class LiveProject:
    """A project on the board with what the server keeps about it between requests."""

    def __init__(self, project: BoardProject, clock: Clock, ask_cluster: ClusterQuestion) -> None:
        self.project = project
        self._clock = clock
        self._ask_cluster = ask_cluster
        self._asked: asyncio.Task[Any] | None = None
        self._asked_at = 0.0
        self.feed = ChangeFeed()
        self._cache = FileCache(time.time_ns)
        self._lock = asyncio.Lock()  # one request derives, the others use what it found
        self._seen = (-1, 0.0)
        self.is_watched = False

    async def page(self, page: PageOf, place: Mapping[str, str]) -> Any:
        """What a page shows; files are looked at again at most twice a second."""
        async with self._lock:
            number, at = self._seen
            now = time.monotonic()
            is_fresh = self.is_watched and number == self.feed.number and now - at < QUIET_SECONDS
            if not is_fresh:
                self._seen = (self.feed.number, now)
                self._cache.next_round()
            return await run_in_threadpool(self._derived, page, place)

    async def cluster(self) -> dict[str, Any]:
        """Workers and calls. A server that does not answer delays no other page."""
        is_old = time.monotonic() - self._asked_at > _CLUSTER_SECONDS
        if self._asked is None or (self._asked.done() and is_old):
            self._asked_at = time.monotonic()
            self._asked = asyncio.create_task(
                run_in_threadpool(lambda: self._ask_cluster(self.app()))
            )
        try:
            return {"cluster": await asyncio.shield(self._asked), "fault": None}
        except FairleadError as error:
            return {"cluster": None, "fault": error}

    def app(self) -> App:
        """An application for one request, with the clock of the board."""
        app = App(self.project.folder)
        app.clock = self._clock
        return app

    def _derived(self, page: PageOf, place: Mapping[str, str]) -> Any:
        app = self.app()
        app.cache = self._cache
        content = page(app, place)
        # A question gets the very object that `--json` prints; a page also has a head.
        return content if page is pages.question_page else {**content, **pages.common(app)}


class Board:
    """The application for some projects."""

    def __init__(
        self,
        projects: Sequence[BoardProject],
        sessions: BoardSessions,
        port: int,
        clock: Clock,
        entered: Callable[[], None] | None = None,
        ask_cluster: ClusterQuestion = asked_cluster,
    ) -> None:
        self._clock = clock
        self._ask_cluster = ask_cluster
        self._entered = entered  # called when the person presses Enter in the terminal
        self._live = {
            project.name: LiveProject(project, clock, ask_cluster) for project in projects
        }
        self._templates = page_templates()
        for name in _FIRST_TEMPLATES:  # compiled now, so that the first view need not wait for it
            self._templates.get_template(name)
        self._tasks: list[asyncio.Task[None]] = []
        self.sessions = sessions
        routes: list[Route | Mount] = [
            Route("/", self._first),
            Route("/static/graph.css", _graph_style),
            Route("/favicon.ico", lambda _: RedirectResponse("/static/icon.svg")),
            Mount("/static", StaticFiles(directory=os.path.join(_HERE, "static"))),
        ]
        for path, (template, page) in _PAGES.items():
            handler = partial(self._page, template, page)
            routes.append(Route(f"/p/{{project}}{path}", _endpoint(handler)))
        routes += [
            Route("/p/{project}/workers", self._workers),
            Route("/p/{project}/questions/{question}", self._question),
            Route("/p/{project}/events", self._events),
            Route("/p/{project}/do/{action}", self._act, methods=["POST"]),
        ]
        application = Starlette(routes=routes, lifespan=self._lifespan)
        self.application = AccessControl(application, sessions, port)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._stop = asyncio.Event()
        if self._entered is not None:
            asyncio.get_running_loop().add_reader(sys.stdin, self._entered)
        for live in self._live.values():
            self._watch(live)
        try:
            yield
        finally:
            self._stop.set()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _watch(self, live: LiveProject) -> None:
        """Follow the files of a project, and read them before the first page asks."""
        folder = os.path.join(live.project.folder, layout.PLANNING)
        live.is_watched = True
        self._tasks.append(asyncio.create_task(watch([folder], live.feed, self._stop)))
        self._tasks.append(asyncio.create_task(self._read_early(live)))

    async def _read_early(self, live: LiveProject) -> None:
        with suppress(FairleadError):
            await live.page(pages.now_page, {"base": ""})

    def _adopted(self, folder: str) -> LiveProject:
        """The project of a folder; the copy of a rehearsal joins the board when it has begun."""
        for live in self._live.values():
            if live.project.folder == folder:
                return live
        known = [each.project.folder for each in self._live.values()]
        added = next(each for each in projects_of([*known, folder]) if each.folder == folder)
        live = self._live[added.name] = LiveProject(
            replace(added, title=f"{added.title} (rehearsal)"), self._clock, self._ask_cluster
        )
        self._watch(live)
        return live

    async def _first(self, request: Request) -> Response:
        if len(self._live) == 1:
            [name] = self._live
            return RedirectResponse(f"/p/{name}", status_code=303)
        rows: list[dict[str, Any]] = []
        for live in self._live.values():
            try:
                shown = await live.page(pages.now_page, {"base": f"/p/{live.project.name}"})
                rows.append({"project": live.project, **shown})
            except FairleadError as error:
                rows.append({"project": live.project, "error": error})
        return self._rendered(request, "projects.html", {"rows": rows, "project": None})

    async def _page(self, template: str, page: PageOf, request: Request) -> Response:
        live = self._live.get(request.path_params["project"])
        if live is None:
            return self._missing(request, "project")
        base = f"/p/{live.project.name}"
        place = {**request.query_params, **request.path_params, "base": base}
        shown = {"project": live.project, "base": base}
        try:
            content = await live.page(page, place)
        except FairleadError as error:
            status = _STATUS.get(error.exit_code, 500)
            return self._rendered(request, "error.html", {**shown, "error": error}, status)
        shown |= {**content, "path": content.get("path", "")}
        return self._rendered(request, template, shown)

    async def _workers(self, request: Request) -> Response:
        live = self._live.get(request.path_params["project"])
        if live is None:
            return self._missing(request, "project")
        shown = {"project": live.project, "base": f"/p/{live.project.name}"}
        try:
            shown |= await live.page(pages.workers_page, {})
        except FairleadError as error:
            status = _STATUS.get(error.exit_code, 500)
            return self._rendered(request, "error.html", {**shown, "error": error}, status)
        asked = await live.cluster() if shown["has_cluster"] else {"cluster": None, "fault": None}
        return self._rendered(request, "workers.html", {**shown, **asked})

    async def _question(self, request: Request) -> Response:
        """The JSON document that `--json` prints for the same question."""
        live = self._live.get(request.path_params["project"])
        if live is None:
            return self._missing(request, "project")
        place = {**request.query_params, **request.path_params}
        try:
            content = document(await live.page(pages.question_page, place))
        except FairleadError as error:
            status = _STATUS.get(error.exit_code, 500)
            return Response(json_text(error_document(error)), status, media_type=_JSON)
        return Response(json_text(content), media_type=_JSON)

    async def _events(self, request: Request) -> Response:
        live = self._live.get(request.path_params["project"])
        if live is None:
            return self._missing(request, "project")
        return EventSourceResponse(live.feed.follow(), send_timeout=30)

    async def _act(self, request: Request) -> Response:
        live = self._live.get(request.path_params["project"])
        action = ACTIONS.get(request.path_params["action"])
        if live is None or action is None:
            return self._missing(request, "action")
        form: dict[str, str] = request.scope["form"]
        base = f"/p/{live.project.name}"
        try:
            done = await run_in_threadpool(action, live.app(), form)
        except FairleadError as error:
            shown = {"project": live.project, "base": base, "error": error}
            return self._rendered(request, "error.html", shown, _STATUS.get(error.exit_code, 500))
        await live.feed.announce()
        back = form.get("back", "")
        place = back if back.startswith(f"{base}/") and "\\" not in back else base
        said = done
        if isinstance(done, StartedJob):
            said, home = done.said, self._adopted(done.folder)
            place = f"/p/{home.project.name}/jobs/{done.job}"
        self.sessions.say(request.scope["session"], str(said))
        return RedirectResponse(place, status_code=303)

    def _missing(self, request: Request, what: str) -> Response:
        error = NoPage(what)
        return self._rendered(request, "error.html", {"project": None, "error": error}, 404)

    def _rendered(
        self, request: Request, template: str, content: Mapping[str, Any], status: int = 200
    ) -> Response:
        session = request.scope.get("session", "")
        values = {
            "base": "",
            "projects": tuple(live.project for live in self._live.values()),
            "secret": self.sessions.form_secret(session),
            "secret_name": FORM_FIELD,
            "address": request.url.path,
            "query": request.url.query,
            "live": template != "error.html",
            "said": self.sessions.said(
                session, is_update=request.headers.get("hx-request") == "true"
            ),
            "counts": {},
            "has_cluster": False,
            **content,
        }
        return HTMLResponse(self._templates.get_template(template).render(values), status)


_JSON = "application/json"


async def _graph_style(_: Request) -> Response:
    sheet = f"{STYLE}@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}}}\n"
    return Response(sheet, media_type="text/css")


def _endpoint(handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        response: Response = await handler(request)
        return response

    return endpoint


@cache
def page_templates() -> Environment:
    """The templates; text is escaped and invisible characters are shown.

    All boards of a process share them: compiling them takes longer than all else at the start.
    """
    environment = Environment(
        loader=FileSystemLoader(os.path.join(_HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Control and invisible characters of files are shown, never passed on.
        finalize=lambda value: (
            visible(value, keep="\n\t")
            if isinstance(value, str) and not isinstance(value, Markup)
            else value
        ),
    )
    environment.filters["safe_html"] = Markup  # only for what `rendered` and `svg` made
    return environment


class _ImpatientProtocol(H11Protocol):
    """Closes a connection whose next request does not arrive in time."""

    header_seconds: float = HEADER_SECONDS
    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._waits:
            self._waits.cancel()

    def _await_request(self) -> None:
        if self._waits:
            self._waits.cancel()
        self._waits = self.loop.call_later(self.header_seconds, self._close_if_silent)

    def _close_if_silent(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        is_answering = cycle is not None and not cycle.response_complete
        is_receiving = self.conn.their_state is h11.SEND_BODY
        if not self.transport.is_closing() and not (is_answering and not is_receiving):
            self.transport.close()


def open_board_port(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 is any free one."""
    return listen(port, BoardPortBusy)


def new_sessions() -> BoardSessions:
    """BoardSessions with the clock and the randomness of this machine."""
    return BoardSessions(time.monotonic, partial(secrets.token_urlsafe, 32))


def server_of(board: Board, header_seconds: float = HEADER_SECONDS) -> uvicorn.Server:
    """The server of a board; headers must arrive within this time."""
    protocol = type("_Protocol", (_ImpatientProtocol,), {"header_seconds": header_seconds})
    config = uvicorn.Config(
        board.application,
        http=protocol,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # there is no proxy, so nobody may speak for one
        timeout_keep_alive=HEADER_SECONDS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32_768,
    )
    return uvicorn.Server(config)


def serve(board: Board, listening: socket.socket) -> None:
    """Serve until the process is told to end."""
    gc.set_threshold(GC_THRESHOLD)
    server_of(board).run(sockets=[listening])
