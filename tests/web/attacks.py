"""The table of attacks on the web board: what each tries; its function asserts that it failed."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode

from fairlead.interfaces.web.access import CODE_SECONDS, MOST_BODY
from tests.report.test_report import tags_of
from tests.web.arena import HEADER_SECONDS, BoardArena, Reply, read_reply

Attack = Callable[[BoardArena], None]
IDLE_CONNECTIONS = 1000


@dataclass(frozen=True, slots=True)
class BoardAttack:
    """One attack."""

    id: str
    what: str
    run: Attack


BOARD_ATTACKS: dict[str, BoardAttack] = {}


def _add(name: str, what: str, run: Attack) -> None:
    assert name not in BOARD_ATTACKS
    BOARD_ATTACKS[name] = BoardAttack(name, what, run)


def attack(name: str, what: str) -> Callable[[Attack], Attack]:
    """Add a function to the table."""

    def added(run: Attack) -> Attack:
        _add(name, what, run)
        return run

    return added


def refused(reply: Reply) -> None:
    """The server refuses, shows nothing of the project, and sets no cookie."""
    assert reply.status not in range(200, 400), reply.status
    assert "Foundation" not in reply.text
    assert "set-cookie" not in reply.headers


def unchanged(arena: BoardArena, reply: Reply) -> None:
    """Refused, and nothing was written."""
    refused(reply)
    assert not arena.was_changed()


# --- another name, another page ------------------------------------------------------------------

_HOSTS = {
    "missing": ("", "no Host at all"),
    "foreign": ("evil.example", "a foreign Host"),
    "foreign-port": ("evil.example:{port}", "a foreign Host with our port (DNS rebinding)"),
    "nip": ("127.0.0.1.nip.io:{port}", "a public name that resolves to loopback (DNS rebinding)"),
    "localhost-suffix": ("localhost.evil.example:{port}", "a name that begins with localhost"),
    "no-port": ("127.0.0.1", "our address without the port"),
    "other-port": ("127.0.0.1:1", "our address with another port"),
    "any": ("0.0.0.0:{port}", "the address of all interfaces"),
    "short": ("127.1:{port}", "a short spelling of loopback"),
    "decimal": ("2130706433:{port}", "loopback as one number"),
    "mapped": ("[::ffff:127.0.0.1]:{port}", "loopback as a mapped IPv6 address"),
    "user": ("127.0.0.1:{port}@evil.example", "our address as the user name of another host"),
}


def _under_host(host: str, arena: BoardArena) -> None:
    refused(arena.get("/p/project", host=host.format(port=arena.port)))


for _name, (_host, _what) in _HOSTS.items():
    _add(f"host-{_name}", _what, partial(_under_host, _host))


@attack("host-twice", "two Host headers, the second one ours")
def _(arena: BoardArena) -> None:
    head = f"GET /p/project HTTP/1.1\r\nHost: evil.example\r\nHost: {arena.host}\r\n"
    refused(arena.raw(f"{head}Cookie: {arena.cookie}\r\n\r\n".encode()))


@attack("host-forwarded", "a foreign Host with our address in X-Forwarded-Host")
def _(arena: BoardArena) -> None:
    refused(arena.get("/p/project", host="evil.example", x_forwarded_host=arena.host))


@attack("host-absolute", "an absolute request target on another site")
def _(arena: BoardArena) -> None:
    refused(arena.get("http://evil.example/p/project"))


_ORIGINS = {
    "foreign": "http://evil.example",
    "null": "null",
    "https": "https://127.0.0.1:{port}",
    "other-port": "http://127.0.0.1:1",
    "suffix": "http://127.0.0.1:{port}.evil.example",
    "path": "http://127.0.0.1:{port}/",
}


def _from_origin(origin: str, arena: BoardArena) -> None:
    named = origin.format(port=arena.port)
    unchanged(arena, arena.post(header_origin=named))
    refused(arena.get("/p/project/events", origin=named))


def _from_site(site: str, arena: BoardArena) -> None:
    refused(arena.get("/p/project", sec_fetch_site=site))
    refused(arena.get("/p/project/events", sec_fetch_site=site))
    unchanged(arena, arena.post(header_sec_fetch_site=site))


for _name, _origin in _ORIGINS.items():
    _what = f"a form and an event stream from the origin {_origin.replace('{port}', 'PORT')}"
    _add(f"origin-{_name}", _what, partial(_from_origin, _origin))
for _site in ("cross-site", "same-site"):
    _what = f"a page, a form and an event stream that the browser calls {_site}"
    _add(f"fetch-{_site}", _what, partial(_from_site, _site))

# --- codes and cookies ---------------------------------------------------------------------------


@attack("code-missing", "open the board without a code")
def _(arena: BoardArena) -> None:
    refused(arena.get("/enter", cookie=""))
    refused(arena.get("/enter?code=", cookie=""))


@attack("code-guessed", "guess two hundred codes")
def _(arena: BoardArena) -> None:
    for number in range(200):
        refused(arena.get(f"/enter?code=guess-{number}", cookie=""))


@attack("code-replayed", "use a code a second time")
def _(arena: BoardArena) -> None:
    code = arena.sessions.new_code()
    assert arena.get(f"/enter?code={code}", cookie="").status == 200
    refused(arena.get(f"/enter?code={code}", cookie=""))


@attack("code-late", "use a code after a minute")
def _(arena: BoardArena) -> None:
    code = arena.sessions.new_code()
    arena.now += CODE_SECONDS + 1
    refused(arena.get(f"/enter?code={code}", cookie=""))


@attack("code-posted", "send a code with another method")
def _(arena: BoardArena) -> None:
    code = arena.sessions.new_code()
    body = urlencode({"code": code}).encode()
    refused(arena.raw(arena.request("POST", "/enter", body, "", origin="http://evil.example")))


@attack("code-as-cookie", "use a code as the cookie")
def _(arena: BoardArena) -> None:
    cookie = f"fairlead_{arena.port}={arena.sessions.new_code()}"
    refused(arena.get("/p/project", cookie=cookie))


@attack("code-foreign-host", "exchange a stolen code under a rebound name")
def _(arena: BoardArena) -> None:
    refused(arena.get(f"/enter?code={arena.sessions.new_code()}", cookie="", host="evil.example"))


_COOKIES = {
    "missing": ("", "no cookie"),
    "guessed": ("fairlead_{port}=guess", "a guessed cookie"),
    "empty": ("fairlead_{port}=", "an empty cookie"),
    "other-port": ("fairlead_1={session}", "the session cookie under the name of another port"),
    "prefix": ("fairlead_{port}={session}x", "the session cookie with one more letter"),
    "shorter": ("fairlead_{port}={shorter}", "the session cookie without its last letter"),
    "secret": ("fairlead_{port}={secret}", "the secret of the forms as the session cookie"),
    "broken": ("=;fairlead_{port}", "a cookie that cannot be read"),
    "large": ("fairlead_{port}={large}", "a cookie of 30,000 characters"),
}


def _with_cookie(cookie: str, arena: BoardArena) -> None:
    for path in ("/", "/p/project", "/p/project/events", "/static/board.css"):
        refused(arena.get(path, cookie=_filled(arena, cookie)))


for _name, (_cookie, _what) in _COOKIES.items():
    _add(f"cookie-{_name}", _what, partial(_with_cookie, _cookie))


def _filled(arena: BoardArena, cookie: str) -> str:
    session = arena.cookie.partition("=")[2]
    return cookie.format(
        port=arena.port,
        session=session,
        shorter=session[:-1],
        secret=arena.secret(),
        large="x" * 30_000,
    )


@attack("cookie-evicted", "use the oldest session after sixty-four newer ones")
def _(arena: BoardArena) -> None:
    old = arena.enter()
    for _ in range(64):
        arena.cookie = arena.enter()
    refused(arena.get("/p/project", cookie=old))


@attack("cookie-script", "read the cookie from a script, or send it from another site")
def _(arena: BoardArena) -> None:
    reply = arena.get(f"/enter?code={arena.sessions.new_code()}", cookie="")
    parts = set(reply.headers["set-cookie"].split("; ")[1:])
    assert {"HttpOnly", "SameSite=Strict"} <= parts


# --- forms -------------------------------------------------------------------------------------

_FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "no-secret": ("a form without its secret", {"form_secret": ""}),
    "wrong-secret": ("a form with a guessed secret", {"form_secret": "guess"}),
    "no-origin": ("a form that does not say where it comes from", {"header_origin": ""}),
    "json": ("a form as JSON", {"header_content_type": "application/json"}),
    "plain": ("a form as plain text (no preflight)", {"header_content_type": "text/plain"}),
    "multipart": ("a multipart form", {"header_content_type": "multipart/form-data"}),
    "no-type": ("a form without a content type", {"header_content_type": ""}),
    "no-cookie": ("a form with the secret but no session", {"cookie": ""}),
}


def _with_form(more: dict[str, str], arena: BoardArena) -> None:
    unchanged(arena, arena.post(**more))


for _name, (_what, _more) in _FORMS.items():
    _add(f"form-{_name}", _what, partial(_with_form, _more))


@attack("form-other-session", "a form with the secret of another session")
def _(arena: BoardArena) -> None:
    other = arena.enter()
    secret = arena.sessions.form_secret(other.partition("=")[2])
    unchanged(arena, arena.post(form_secret=secret))


@attack("form-secret-twice", "a form with two secrets, one of them right")
def _(arena: BoardArena) -> None:
    body = f"form_secret=guess&form_secret={arena.secret()}&text=planted+by+an+attack".encode()
    kind = "application/x-www-form-urlencoded"
    path = "/p/project/do/capture"
    data = arena.request("POST", path, body, origin=arena.origin, content_type=kind)
    unchanged(arena, arena.raw(data))


@attack("form-query", "a form whose fields are in the address")
def _(arena: BoardArena) -> None:
    query = urlencode({"form_secret": arena.secret(), "text": "planted by an attack"})
    kind = "application/x-www-form-urlencoded"
    path = f"/p/project/do/capture?{query}"
    data = arena.request("POST", path, b"x=y", origin=arena.origin, content_type=kind)
    unchanged(arena, arena.raw(data))


@attack("form-get", "an action through a link, with an overridden method")
def _(arena: BoardArena) -> None:
    path = f"/p/project/do/capture?form_secret={arena.secret()}&text=planted+by+an+attack"
    unchanged(arena, arena.get(path, x_http_method_override="POST"))


def _with_method(method: str, arena: BoardArena) -> None:
    request = arena.request(method, "/p/project/do/capture", origin=arena.origin)
    unchanged(arena, arena.raw(request))


for _method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
    _add(f"method-{_method.lower()}", f"the method {_method}", partial(_with_method, _method))


@attack("form-redirect", "send the person to another site after an action")
def _(arena: BoardArena) -> None:
    for back in ("//evil.example", "https://evil.example", "/p/project/\\evil", "/p/project@evil"):
        reply = arena.post("recheck", plan="01-01", back=back)
        assert reply.headers["location"].startswith("/p/project")
        assert "evil" not in reply.headers["location"]


# --- paths -------------------------------------------------------------------------------------

_PATHS = {
    "static-dots": ("/static/../server.py", "leave the folder of static files"),
    "static-encoded": ("/static/%2e%2e/server.py", "the same, encoded"),
    "static-twice": ("/static/%252e%252e/server.py", "the same, encoded twice"),
    "static-absolute": ("/static//etc/passwd", "an absolute path"),
    "documents-dots": ("/p/project/documents/../../../../etc/passwd", "leave .planning"),
    "documents-encoded": ("/p/project/documents/..%2f..%2fetc%2fpasswd", "the same, encoded"),
    "documents-hidden": ("/p/project/documents/.fairlead/undo.md", "a hidden folder"),
    "documents-settings": ("/p/project/documents/../config.json.md", "the settings"),
    "documents-null": ("/p/project/documents/STATE.md%00.md", "a path with a NUL"),
    "documents-link": ("/p/project/documents/outside.md", "a link that leads out of the project"),
    "job-dots": ("/p/project/jobs/..%2f..%2fconfig", "a job whose name is a path"),
    "project-dots": ("/p/..%2fother/", "a project whose name is a path"),
    "invalid": ("/p/project/documents/%ff%fe.md", "bytes that are not text"),
}


def _leads_nowhere(path: str, arena: BoardArena) -> None:
    link = arena.folder / ".planning/outside.md"
    if not link.is_symlink():
        os.symlink("/etc/passwd", link)
    reply = arena.get(path)
    assert "root:" not in reply.text
    assert "import " not in reply.text
    assert reply.status in (0, 400, 404, 422, 500) or "<title>" in reply.text


for _name, (_path, _what) in _PATHS.items():
    _add(f"path-{_name}", _what, partial(_leads_nowhere, _path))


@attack("path-header-injection", "inject a header into the response through an address")
def _(arena: BoardArena) -> None:
    reply = arena.get("/p/project%0d%0aset-cookie:%20a=b/")
    assert "set-cookie" not in reply.headers


# --- text from files and agents ------------------------------------------------------------------

_FIELDS = {
    "now": ("", "the name of a phase, a job and its reason on Now"),
    "roadmap": ("/roadmap", "the name of a phase in the graph"),
    "phase": ("/phases/1", "the name of a phase and of a file"),
    "plans": ("/plans", "the objective of a plan"),
    "plan": ("/plans/01-02", "the text of a plan"),
    "jobs": ("/jobs", "the request of a job"),
    "job": ("/jobs/j_20260412_0001", "ballots, objections, events and plans of a council"),
    "memory": ("/memory", "decisions, blockers, todos and the history of STATE.md"),
    "document": ("/documents/ROADMAP.md", "a document"),
    "search": ("/plans?q=", "the words of a search"),
    "missing": ("/jobs/", "the name of a job that does not exist"),
}


def _stays_text(page: str, arena: BoardArena) -> None:
    payload = quote('<img src=x onerror=alert(1)>"><script>alert(1)')
    reply = arena.get(f"/p/project{page}{payload if page.endswith(('=', 'jobs/')) else ''}")
    tags = tags_of(reply.text)
    assert not tags.names & {"img", "iframe", "object", "embed"}
    assert reply.text.count("<script") == 4
    assert not {name for name in tags.attributes if name.startswith("on") or name == "style"}
    assert "default-src 'none'" in reply.headers["content-security-policy"]


for _name, (_page, _what) in _FIELDS.items():
    _add(f"markup-{_name}", f"markup and script in {_what}", partial(_stays_text, _page))


# --- an agent of a running job -------------------------------------------------------------------


@attack("agent-knocks", "an agent asks and answers without a session")
def _(arena: BoardArena) -> None:
    refused(arena.get("/p/project/jobs", cookie=""))
    unchanged(arena, arena.post("answer", cookie="", job="j_20260412_0001", text="approved"))


@attack("agent-reads-files", "an agent looks for codes and sessions in every file of the person")
def _(arena: BoardArena) -> None:
    code, session = arena.sessions.new_code(), arena.cookie.partition("=")[2]
    for root in (Path(os.environ["HOME"]), arena.folder):
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                assert code.encode() not in content
                assert session.encode() not in content


@attack("agent-reads-processes", "an agent looks for codes in argument lists and environments")
def _(arena: BoardArena) -> None:
    code = arena.sessions.new_code().encode()
    for name in ("cmdline", "environ"):
        assert code not in Path(f"/proc/self/{name}").read_bytes()


@attack("agent-inside-attempt", "a board that an agent starts inside its attempt acts for it")
def _(arena: BoardArena) -> None:
    from fairlead.app import App
    from fairlead.core.errors import FairleadError
    from fairlead.store import layout
    from fairlead.views.actions import ACTIONS

    app = App(str(arena.folder))
    app.__dict__["is_read_only"] = True  # as inside an attempt
    assert layout.is_attempt(str(arena.folder)) is False
    forms = {
        "capture": {"text": "planted by an attack"},
        "decide": {"text": "planted by an attack"},
        "start": {"kind": "quick", "subject": "planted by an attack"},
        "cancel": {"job": "j_20260412_0001"},
    }
    for name, form in forms.items():
        try:
            ACTIONS[name](app, form)
        except FairleadError:
            continue
        raise AssertionError(name)
    assert not arena.was_changed()


# --- size and time -------------------------------------------------------------------------------


@attack("large-body", "a form that is too large")
def _(arena: BoardArena) -> None:
    unchanged(arena, arena.post(text="planted by an attack" + "x" * MOST_BODY))


@attack("large-header", "a header of a megabyte")
def _(arena: BoardArena) -> None:
    refused(arena.get("/p/project", x_large="x" * 1_000_000))


@attack("many-headers", "ten thousand headers")
def _(arena: BoardArena) -> None:
    refused(arena.get("/p/project", **{f"x-{number}": "y" for number in range(10_000)}))


@attack("long-path", "an address of a hundred thousand characters")
def _(arena: BoardArena) -> None:
    refused(arena.get("/p/project/documents/" + "a" * 100_000))


@attack("many-fields", "a form with a thousand fields")
def _(arena: BoardArena) -> None:
    unchanged(arena, arena.post(**{f"field{number}": "x" for number in range(1000)}))


@attack("lying-length", "a form that announces a terabyte and sends two bytes")
def _(arena: BoardArena) -> None:
    kind = "application/x-www-form-urlencoded"
    more = {"content_length": str(10**12), "content_type": kind, "origin": arena.origin}
    refused(arena.raw(arena.request("POST", "/p/project/do/capture", b"", **more) + b"x="))


@attack("endless-body", "a form in endless chunks")
def _(arena: BoardArena) -> None:
    more = {
        "transfer_encoding": "chunked",
        "content_type": "application/x-www-form-urlencoded",
        "origin": arena.origin,
    }
    head = arena.request("POST", "/p/project/do/capture", b"", **more)
    refused(arena.raw(head + (b"4000\r\n" + b"x" * 0x4000 + b"\r\n") * 8))


@attack("garbage", "bytes that are not HTTP")
def _(arena: BoardArena) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
        b"\0" * 512,
        b"\r\n" * 99,
    ):
        refused(arena.raw(data))


@attack("slow-headers", "headers that never end")
def _(arena: BoardArena) -> None:
    _closed_in_time(arena, b"GET /p/project HTTP/1.1\r\nHost: ")


@attack("slow-body", "a body that never ends")
def _(arena: BoardArena) -> None:
    kind = "application/x-www-form-urlencoded"
    more = {"content_length": "100", "content_type": kind, "origin": arena.origin}
    _closed_in_time(arena, arena.request("POST", "/p/project/do/capture", b"", **more) + b"x=")


@attack("silent", "a connection that sends nothing")
def _(arena: BoardArena) -> None:
    _closed_in_time(arena, b"")


def _closed_in_time(arena: BoardArena, data: bytes) -> None:
    """The server closes the connection; its limit is short here, a client waits much longer."""
    with socket.create_connection(("127.0.0.1", arena.port), 60 * HEADER_SECONDS) as client:
        client.sendall(data)
        try:
            reply = read_reply(client)
        except TimeoutError:
            raise AssertionError("the connection is still open") from None
        assert reply.status in (0, 400, 408, 413)


@attack("idle-connections", f"{IDLE_CONNECTIONS} connections that stay idle")
def _(arena: BoardArena) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
    with ExitStack() as stack:
        for _ in range(IDLE_CONNECTIONS):
            stack.enter_context(socket.create_connection(("127.0.0.1", arena.port), 20))
        assert arena.is_alive()
    deadline = time.monotonic() + 60
    while not arena.is_alive() and time.monotonic() < deadline:
        time.sleep(0.05)


@attack("idle-streams", "two hundred event streams of one session")
def _(arena: BoardArena) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", arena.port), 20))
            client.sendall(arena.request("GET", "/p/project/events"))
        assert arena.is_alive()


# With one defence switched off, these attacks succeed.
BOARD_WEAKNESSES: dict[str, tuple[str, ...]] = {
    "every host, origin and method is accepted": (
        "host-foreign-port",
        "host-nip",
        "origin-foreign",
        "fetch-cross-site",
        "form-no-origin",
    ),
    "codes can be reused and do not expire": ("code-replayed", "code-late"),
    "forms need no secret": ("form-no-secret", "form-other-session"),
    "text is not escaped": ("markup-now", "markup-job", "markup-search"),
    "forms may be large": ("large-body",),
    "every request has a session": ("cookie-missing", "agent-knocks"),
    "the server waits forever": ("slow-headers",),
    "an action may redirect to any address": ("form-redirect",),
}
