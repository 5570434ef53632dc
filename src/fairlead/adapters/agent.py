"""An agent as a row of a table: which program, which words, which variables, which stream.

What programs differ in is in their rows (`agent_*.py`); starting, watching and judging is here,
once. A prompt goes in by standard input or a private file, never as a word of the command: the
system limits words, and everybody on the machine can read them.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping

from fairlead.adapters import keeper, process
from fairlead.adapters.supervision import OUTPUT, PROMPT, Keepers, Launch, supervise
from fairlead.errors import NestedRun
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Malformed, Paused, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import TELLS_NO_TOKENS, Decoder, Exit, Stream, Tally
from fairlead.model.budget import unmeasured
from fairlead.model.model_services import ModelService
from fairlead.values import dataclass, field, replace

# Everything a program gets of our environment, unless its row names more. What is not here is
# not passed on: LD_*, PYTHON*, NODE_OPTIONS, GIT_*, the marks of a host agent, other keys.
PASSED = (
    *("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
_LOCALE = frozenset({"LANG", "LC_ALL", "LC_CTYPE"})
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "HEADERS", "CREDENTIALS")
_PIECE = 1 << 16
_CUT_OFF = (EndKind.KILLED, EndKind.TIMEOUT, EndKind.IDLE)
PROMPT_FILE = "{prompt}"  # a word that stands for the path of a private file with the prompt


@dataclass(frozen=True, slots=True)
class Row:
    """One program, and how it is used."""

    name: str
    programs: tuple[str, ...]  # names to look for, the first found is used
    stream: Stream
    words: Callable[[Order], tuple[str, ...]]  # what follows the program
    keys: tuple[str, ...] = ()  # variables it needs: keys, addresses, its own folder
    settings: Mapping[str, str] = field(default_factory=dict)  # variables that we set
    settings_for: Callable[[Order], Mapping[str, str]] = lambda _: {}
    needs: tuple[str, ...] = ()  # options that its help must know
    help_words: tuple[str, ...] = ("--help",)
    first_words: tuple[str, ...] = ()  # between the program and the words: for a program's program
    is_free: bool = False  # asks no model
    secrets: tuple[str, ...] = ()  # names of variables whose values are never told
    family: str = ""  # of its models, as a person says
    service: ModelService | None = None  # it is a plain model, which answers and changes nothing


class CliAgent:
    """An agent that is a program on this machine."""

    def __init__(
        self,
        row: Row,
        program: str,
        outside: tuple[str, ...] = (),
        keepers: Keepers | None = None,
    ) -> None:
        self.row = row
        self.program = program
        self._outside = outside  # folders whose programs are never used
        self._keepers = keepers  # None: each call starts its own

    @property
    def name(self) -> str:
        """The name it goes by in settings."""
        return self.row.name

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """Carry out an order; see `engine.ports.Agent`."""
        if depth() > 0:
            raise NestedRun
        hearing = _Hearing(self.row.stream, watch)
        launch = self._launch(order)
        begun = time.monotonic()
        exit_ = supervise(launch, hearing, is_wanted, self._keepers)
        hearing.close()
        ending = replace(hearing.tally.ending(exit_), seconds=time.monotonic() - begun)
        ending = _measured(ending, self.row.stream, order.role, len(order.prompt))
        return _without_secrets(ending, launch.environment, self.row.secrets)

    def _launch(self, order: Order) -> Launch:
        call = str(uuid.uuid4())
        words = (*self.row.first_words, *self.row.words(order))
        path = os.path.join(order.raw, PROMPT)
        return Launch(
            words=(self.program, *(path if word == PROMPT_FILE else word for word in words)),
            folder=order.folder,
            environment=self._environment(order, call),
            raw=order.raw,
            limits=order.limits,
            call=call,
            stdin=order.prompt.encode("utf-8", "replace"),
            has_stdin=PROMPT_FILE not in words,
        )

    def _environment(self, order: Order, call: str) -> dict[str, str]:
        ours = {
            "PATH": process.search_path((*self._outside, order.folder)),
            "TERM": "dumb",
            "NO_COLOR": "1",
            keeper.CALL: call,
            keeper.JOB: order.job or call,
            keeper.DEPTH: str(depth() + 1),
        }
        passed = process.surroundings((*PASSED, *self.row.keys, *order.environment))
        # Where nobody has said which letters there are, agents and their tools know only English.
        letters = {} if passed.keys() & _LOCALE else {"LC_CTYPE": "C.UTF-8"}
        own = {**self.row.settings, **self.row.settings_for(order)}
        return {**letters, **passed, **own, **ours}


def recalled(stream: Stream, role: str, raw: str) -> Ending | None:
    """What a call took that nobody saw the end of, told from its files; None: it never began."""
    hearing = _Hearing(stream, lambda _: None)
    try:
        with open(os.path.join(raw, PROMPT), encoding="utf-8", errors="replace") as file:
            asked = len(file.read())
        with open(os.path.join(raw, OUTPUT), "rb") as output:
            while piece := output.read(_PIECE):
                hearing.hear(piece)
    except FileNotFoundError:
        return None
    hearing.close()
    return _measured(hearing.tally.ending(Exit(stopped=EndKind.KILLED)), stream, role, asked)


def _measured(ending: Ending, stream: Stream, role: str, prompt_characters: int) -> Ending:
    """The ending with the tokens that its program does not tell, or tells at its end alone."""
    was_heard = bool(ending.session or ending.text) and ending.usage == Usage()
    is_untold = stream in TELLS_NO_TOKENS or (ending.kind in _CUT_OFF and was_heard)
    if not is_untold or ending.kind is EndKind.SPAWN:
        return ending
    read, wrote = unmeasured(role, prompt_characters, len(ending.text))
    return replace(ending, usage=Usage(read, tokens_out=wrote), is_estimated=True)


def depth() -> int:
    """How many agents we run inside of."""
    held = os.environ.get(keeper.DEPTH, "0")
    return int(held) if held.isdecimal() else 1


def _without_secrets(
    ending: Ending, environment: Mapping[str, str], secrets: tuple[str, ...]
) -> Ending:
    """The ending without the values of keys: what it says is written into records and shown."""
    text, error = ending.text, ending.error
    for name, value in environment.items():
        is_secret = name in secrets or any(word in name for word in _SECRET)
        if is_secret and len(value) >= 8:
            text, error = (each.replace(value, f"[{name}]") for each in (text, error))
    return replace(ending, text=text, error=error)


class _Hearing:
    """Listens to a program: bytes to events, events to the tally and to who watches."""

    def __init__(self, stream: Stream, watch: Callable[[AgentEvent], None]) -> None:
        self._decoder = Decoder(stream)
        self._watch = watch
        self.tally = Tally(stream)

    @property
    def is_done(self) -> bool:
        return self.tally.finished is not None

    def hear(self, data: bytes) -> bool:
        is_alive = False
        for event in self._decoder.feed(data):
            self._take(event)
            is_alive = is_alive or not isinstance(event, Malformed)
        return is_alive

    def overhear(self, data: bytes) -> None:
        """Its protocol is on standard output alone."""

    def close(self) -> None:
        for event in self._decoder.close():
            self._take(event)

    def slept(self, seconds: float) -> None:
        self._watch(Paused(seconds))

    def _take(self, event: AgentEvent) -> None:
        self.tally.add(event)
        self._watch(event)
