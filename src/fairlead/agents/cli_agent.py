"""Call an agent that is a program on this machine.

Drivers describe how programs differ; starting one, following its events and judging its end is
the same for all and is done here. A prompt goes through standard input or a private file, never
as an argument: arguments are limited in size and visible to everyone on the machine.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta

from fairlead.agents import supervisor
from fairlead.agents.budget import unmeasured
from fairlead.agents.drivers.catalog import FORMATS
from fairlead.agents.drivers.driver import PROMPT_FILE, Driver
from fairlead.agents.errors import NestedRun
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    CallLimits,
    CallResult,
    EndKind,
    MachineSlept,
    MalformedLine,
    Stream,
    TokenUsage,
)
from fairlead.agents.streams import Decoder, Exit, Tally
from fairlead.agents.supervision import (
    OUTPUT,
    PROMPT,
    Launch,
    SupervisorPool,
    private_folder,
    supervise,
)
from fairlead.core import process
from fairlead.core.errors import AgentError
from fairlead.core.values import replace

# What an agent gets of our environment, unless its driver names more. Everything else is withheld:
# LD_*, PYTHON*, NODE_OPTIONS, GIT_*, the variables of a host agent, other keys.
PASSED_VARIABLES = (
    *("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
_LOCALE = frozenset({"LANG", "LC_ALL", "LC_CTYPE"})
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "HEADERS", "CREDENTIALS")
_PIECE = 1 << 16
_LOGIN_LIMITS = process.ProcessLimits(timedelta(seconds=20))
_CUT_OFF = (EndKind.KILLED, EndKind.TIMEOUT, EndKind.IDLE)


class CliAgent:
    """An agent that is a program on this machine."""

    def __init__(
        self,
        driver: Driver,
        program: str,
        outside: tuple[str, ...] = (),
        supervisors: SupervisorPool | None = None,
    ) -> None:
        self.driver = driver
        self.program = program
        self._outside = outside  # folders whose programs are never used
        self._supervisors = supervisors  # None: every call starts its own

    @property
    def name(self) -> str:
        """The name it goes by in settings."""
        return self.driver.name

    def start(
        self,
        call: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """Run one call; see `ports.Agent`."""
        if nesting_depth() > 0:
            raise NestedRun
        listener = _EventListener(self.driver.stream, watch)
        launch = self._launch(call)
        for folder in (call.raw, *self.driver.folders(call)):
            private_folder(folder)
        start = time.monotonic()
        exit_ = supervise(launch, listener, is_wanted, self._supervisors)
        listener.close()
        ending = replace(listener.tally.ending(exit_), seconds=time.monotonic() - start)
        ending = _with_tokens(ending, self.driver.stream, call.role, len(call.prompt))
        return _without_secrets(ending, launch.environment, self.driver.secrets)

    @property
    def login(self) -> str:
        """The command with which a person logs in."""
        return self.driver.login or f"{self.name}, in a terminal"

    @property
    def is_logged_out(self) -> bool:
        """Whether the program itself says that nobody is logged in. No model is asked."""
        words = self.driver.login_arguments
        if not words or nesting_depth() > 0:
            return False
        try:
            result = process.run(
                (self.program, *words),
                folder=os.sep,
                environment={**self._passed(), **self.driver.variables, **self._fixed()},
                limits=_LOGIN_LIMITS,
            )
        except AgentError:
            return False
        is_ended = result.ended is process.ExitKind.EXITED
        output = (result.output + result.errors).decode("utf-8", "replace")
        return is_ended and self.driver.is_logged_out(result.code, output)

    def _launch(self, call: AgentCall) -> Launch:
        name = str(uuid.uuid4())
        words = (*self.driver.program_arguments, *self.driver.arguments(call))
        path = os.path.join(call.raw, PROMPT)
        return Launch(
            words=(self.program, *(path if word == PROMPT_FILE else word for word in words)),
            folder=call.folder,
            environment=self._environment(call, name),
            raw=call.raw,
            limits=self._limits(call.limits),
            call=name,
            stdin=call.prompt.encode("utf-8", "replace"),
            has_stdin=PROMPT_FILE not in words,
        )

    def _limits(self, limits: CallLimits) -> CallLimits:
        """Only the wall limit applies to a program that prints nothing before its end."""
        if FORMATS[self.driver.stream].reports_progress:
            return limits
        return replace(limits, first_event=limits.wall, idle=limits.wall)

    def _environment(self, call: AgentCall, name: str) -> dict[str, str]:
        marks = {supervisor.CALL: name, supervisor.JOB: call.job or name}
        passed = self._passed(*call.environment)
        # Without a locale, agents and their tools would handle ASCII only.
        locale = {} if passed.keys() & _LOCALE else {"LC_CTYPE": "C.UTF-8"}
        own = {**self.driver.variables, **self.driver.call_variables(call)}
        return {**locale, **passed, **own, **self._fixed(call.folder), **marks}

    def _passed(self, *names: str) -> dict[str, str]:
        """What the program gets of our environment."""
        return process.environment_of((*PASSED_VARIABLES, *self.driver.passed_variables, *names))

    def _fixed(self, *folders: str) -> dict[str, str]:
        """Variables of every process of an agent; programs in these folders are not found."""
        return {
            "PATH": process.search_path((*self._outside, *folders)),
            "TERM": "dumb",
            "NO_COLOR": "1",
            supervisor.DEPTH: str(nesting_depth() + 1),
        }


def recalled(stream: Stream, role: str, raw: str) -> CallResult | None:
    """The result of a call whose end was not seen, from its files; None if it never began."""
    listener = _EventListener(stream, lambda _: None)
    try:
        with open(os.path.join(raw, PROMPT), encoding="utf-8", errors="replace") as file:
            prompt_characters = len(file.read())
        with open(os.path.join(raw, OUTPUT), "rb") as output:
            while piece := output.read(_PIECE):
                listener.on_output(piece)
    except FileNotFoundError:
        return None
    listener.close()
    ending = listener.tally.ending(Exit(stopped=EndKind.KILLED))
    return _with_tokens(ending, stream, role, prompt_characters)


def _with_tokens(
    ending: CallResult, stream: Stream, role: str, prompt_characters: int
) -> CallResult:
    """The result with estimated tokens, where the program does not report them or was cut off."""
    has_output = bool(ending.session or ending.text) and ending.usage == TokenUsage()
    is_unreported = not FORMATS[stream].reports_tokens or (ending.kind in _CUT_OFF and has_output)
    if not is_unreported or ending.kind is EndKind.SPAWN:
        return ending
    read, wrote = unmeasured(role, prompt_characters, len(ending.text))
    return replace(ending, usage=TokenUsage(read, tokens_out=wrote), is_estimated=True)


def nesting_depth() -> int:
    """Inside how many agents this process runs."""
    depth = os.environ.get(supervisor.DEPTH, "0")
    return int(depth) if depth.isdecimal() else 1


def _without_secrets(
    ending: CallResult, environment: Mapping[str, str], secrets: tuple[str, ...]
) -> CallResult:
    """The result without the values of keys, because it is recorded and shown."""
    text, error = ending.text, ending.error
    for name, value in environment.items():
        is_secret = name in secrets or any(word in name for word in _SECRET)
        if is_secret and len(value) >= 8:
            text, error = text.replace(value, f"[{name}]"), error.replace(value, f"[{name}]")
    return replace(ending, text=text, error=error)


class _EventListener:
    """Decodes the output of a program; passes its events to a tally and to `watch`."""

    def __init__(self, stream: Stream, watch: Callable[[AgentEvent], None]) -> None:
        self._decoder = Decoder(stream)
        self._watch = watch
        self.tally = Tally(stream)

    @property
    def is_done(self) -> bool:
        return self.tally.finished is not None

    def on_output(self, data: bytes) -> bool:
        has_event = False
        for event in self._decoder.feed(data):
            self._take(event)
            has_event = has_event or not isinstance(event, MalformedLine)
        return has_event

    def on_errors(self, data: bytes) -> None:
        """Events come through standard output only."""

    def close(self) -> None:
        for event in self._decoder.close():
            self._take(event)

    def on_sleep(self, seconds: float) -> None:
        self._watch(MachineSlept(seconds))

    def _take(self, event: AgentEvent) -> None:
        self.tally.add(event)
        self._watch(event)
