"""Who may use the board: host, origin, one-time codes, sessions and the secret of forms.

Codes and sessions live in memory only. A code is good for one exchange within a minute; the cookie
that it is exchanged for ends with the server. A page that was open before a restart works again as
soon as the new link was opened in the same browser.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

CODE_SECONDS = 60
MOST_SESSIONS = 64
MOST_BODY = 64_000  # bytes of a form
MOST_HEADERS = 100
MOST_ADDRESS = 8_000  # bytes
FORM_FIELD = "form_secret"  # the hidden field of every form
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with none at all, forms would not name their origin
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_READ = ("GET", "HEAD")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class BoardSessions:
    """One-time codes, and the sessions that they were exchanged for."""

    def __init__(self, now: Callable[[], float], token: Callable[[], str]) -> None:
        self._now = now
        self._token = token
        self._codes: dict[str, float] = {}
        self._forms: dict[str, str] = {}  # session -> the secret of its forms
        self._said: dict[
            str, tuple[str, bool]
        ] = {}  # the result of an action, and whether it is shown

    def new_code(self) -> str:
        """A code for one exchange within a minute."""
        code = self._token()
        self._codes[code] = self._now() + CODE_SECONDS
        return code

    def exchange(self, code: str) -> str:
        """The session for a code; empty if the code is unknown, used or too old."""
        ends = self._codes.pop(code, None)
        if ends is None or self._now() > ends:
            return ""
        while len(self._forms) >= MOST_SESSIONS:
            oldest = next(iter(self._forms))
            del self._forms[oldest]
            self._said.pop(oldest, None)
        session = self._token()
        self._forms[session] = self._token()
        return session

    def say(self, session: str, text: str) -> None:
        """Keep the result of an action for the next page of a session."""
        self._said[session] = (text, False)

    def said(self, session: str, *, is_update: bool = False) -> str:
        """The result of the last action, on one page; its updates keep it."""
        text, is_shown = self._said.get(session, ("", False))
        if is_update:
            return text if is_shown else ""
        if is_shown:
            del self._said[session]
            return ""
        if text:
            self._said[session] = (text, True)
        return text

    def form_secret(self, session: str) -> str:
        """The secret that every form of a session carries; empty for an unknown session."""
        return self._forms.get(session, "")


class AccessControl:
    """Passes on a request only if host, origin, session and form secret are right."""

    def __init__(self, application: Application, sessions: BoardSessions, port: int) -> None:
        self._application = application
        self._sessions = sessions
        self._hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))
        self.cookie = f"fairlead_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or pass it on with the facts of its session."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no WebSocket is offered, so none is answered
        send = _with_headers(send)
        if len(scope["headers"]) > MOST_HEADERS:
            await _refuse(send, 431, "The request has too many headers.")
            return
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_ADDRESS:
            await _refuse(send, 414, "The address is too long.")
            return
        headers = _headers(scope)
        if fault := self._fault(scope, headers):
            await _refuse(send, 403, fault)
            return
        if scope["path"] == "/enter":
            await self._enter(scope, send)
            return
        session = _cookie(headers.get("cookie", ""), self.cookie)
        secret = self._sessions.form_secret(session)
        if not secret:
            await _refuse(
                send,
                401,
                "Open the link that `fairlead serve` shows; press Enter in its terminal for a new one.",
            )
            return
        scope["session"] = session
        if scope["method"] in _READ:
            await self._application(scope, receive, send)
            return
        await self._form(scope, receive, send, headers, secret)

    def _fault(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Why a request is refused before its session is looked at."""
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(hosts) != 1 or headers.get("host", "") not in self._hosts:
            return "This server answers only under its own name."
        origins = {f"http://{host}" for host in self._hosts}
        origin = headers.get("origin")
        if origin is not None and origin not in origins:
            return "The request comes from another page."
        if scope["method"] not in (*_READ, "POST"):
            return "This method is not offered."
        is_entry = scope["path"] == "/enter" and scope["method"] == "GET"
        if scope["method"] == "POST" and origin is None:
            return "A form must say where it comes from."
        site = headers.get("sec-fetch-site", "same-origin")
        if not is_entry and site not in ("same-origin", "none"):
            return "The request comes from another page."
        return ""

    async def _enter(self, scope: Scope, send: Send) -> None:
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        session = self._sessions.exchange(query.get("code", ""))
        if not session:
            await _refuse(
                send,
                401,
                "This link has expired. Press Enter in the terminal of `fairlead serve` for another.",
            )
            return
        # A redirect would still count as coming from another site, and a strict cookie would be
        # left out; a page that refreshes itself does not.
        body = (
            b'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            b'<meta http-equiv="refresh" content="0; url=/"><title>Fairlead</title></head>'
            b'<body><a href="/">Open the board</a></body></html>'
        )
        cookie = f"{self.cookie}={session}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _form(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str], secret: str
    ) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            await _refuse(send, 415, "A form must be URL-encoded.")
            return
        body = await _body(receive)
        if body is None:
            await _refuse(send, 413, "The form is too large.")
            return
        try:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=50, errors="strict"
            )
        except ValueError:
            await _refuse(send, 400, "The form cannot be read.")
            return
        form = dict(pairs)
        given = form.pop(FORM_FIELD, "")
        if len(form) + 1 != len(pairs) or not hmac.compare_digest(given.encode(), secret.encode()):
            await _refuse(send, 403, "The form is out of date. Reload the page.")
            return
        scope["form"] = form
        await self._application(scope, receive, send)


async def _body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too large or breaks off."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part: bytes = message.get("body", b"")
        body += part
        if len(body) > MOST_BODY:
            return None
        if not message.get("more_body"):
            return body


def _headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _with_headers(send: Send) -> Send:
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = [(name.lower(), value) for name, value in message.get("headers", ())]
            known = {name for name, _ in HEADERS}
            message["headers"] = [pair for pair in given if pair[0] not in known] + list(HEADERS)
        await send(message)

    return guarded


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})
