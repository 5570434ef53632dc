"""The channels: desktop, terminal bell and webhook. Each returns what went wrong, or nothing."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import socket
import sys
from datetime import timedelta
from urllib.parse import urlsplit

from fairlead.core import process
from fairlead.core.concurrency import ThreadGroup
from fairlead.core.errors import FairleadError
from fairlead.core.serialization import plain
from fairlead.jobs.notify.model import Notification
from fairlead.jobs.notify.settings import Webhook

SIGNATURE, TIMESTAMP = "X-Fairlead-Signature", "X-Fairlead-Timestamp"
PAYLOAD_VERSION = 1

_LIMIT = timedelta(seconds=5)
_SESSION = ("HOME", "PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY",
            "DBUS_SESSION_BUS_ADDRESS")  # fmt: skip
# The message is an argument of the script and never part of its text.
_APPLE_SCRIPT = (
    "on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run",
)  # fmt: skip


def desktop_program(project: str) -> str:
    """The program that shows a notification; empty if there is none. Never one of the project."""
    name = "osascript" if sys.platform == "darwin" else "notify-send"
    try:
        return process.program(name, (project,))
    except FairleadError:
        return ""


def show_on_desktop(message: Notification, project: str) -> str:
    """Show a message with the desktop's own program."""
    program = desktop_program(project)
    if not program:
        return "there is no notify-send or osascript"
    words = [program, "--app-name=Fairlead", "--", message.title, message.text]
    if os.path.basename(program) == "osascript":
        script = [word for line in _APPLE_SCRIPT for word in ("-e", line)]
        words = [program, *script, message.title, message.text]
    try:
        done = process.run(
            words,
            folder="/",
            environment=process.environment_of(_SESSION),
            limits=process.ProcessLimits(_LIMIT),
        )
    except FairleadError as problem:
        return str(problem)
    return "" if done.code == 0 else f"{os.path.basename(program)} ended with code {done.code}"


def ring_bell() -> str:
    """Ring the bell of the terminal that the job runs in."""
    try:
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return "there is no terminal"
    try:
        os.write(terminal, b"\a")
    except OSError as problem:
        return problem.strerror or "the terminal is closed"
    finally:
        os.close(terminal)
    return ""


def payload(message: Notification) -> bytes:
    """The body of a webhook's request."""
    return json.dumps({"version": PAYLOAD_VERSION, **plain(message)}, sort_keys=True).encode()


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of a request: HMAC-SHA256 of the timestamp, a full stop and the body."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def post(message: Notification, webhook: Webhook, limit: timedelta = _LIMIT) -> str:
    """Send a message to a webhook: one request, no redirect, no proxy, and a limit for all of it."""
    result: list[str] = []
    # A name lookup has no limit of its own, so the request runs in a thread that is left behind.
    threads = ThreadGroup()
    threads.start("webhook", lambda: result.append(_posted(message, webhook, limit)))
    if not threads.wait(limit.total_seconds()):
        return f"no answer within {limit.seconds} seconds"
    return result[0]


def _posted(message: Notification, webhook: Webhook, limit: timedelta) -> str:
    parts = urlsplit(webhook.url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    body = payload(message)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "fairlead",
        "Connection": "close",
        TIMESTAMP: message.at,
        SIGNATURE: signature(webhook.secret, message.at, body),
    }
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = kind(str(parts.hostname), parts.port, timeout=limit.total_seconds())
    try:
        connection.request("POST", target, body, headers)
        status = connection.getresponse().status
    except TimeoutError:
        return f"no answer within {limit.seconds} seconds"
    except (OSError, http.client.HTTPException, UnicodeError) as problem:
        return f"{type(problem).__name__}: {_reason(problem)}"
    finally:
        connection.close()
    if 300 <= status < 400:
        return f"it answered with a redirect ({status}), which is not followed"
    return "" if 200 <= status < 300 else f"it answered with status {status}"


def _reason(problem: BaseException) -> str:
    """Why a connection failed, without what the other side sent."""
    if isinstance(problem, socket.gaierror):
        return "the name is not known"
    return getattr(problem, "strerror", None) or "the connection failed"
