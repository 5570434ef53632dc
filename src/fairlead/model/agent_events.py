"""What a coding agent reports while it works, and how it ended: one model for every program.

Each program has a JSON stream of its own; `agent_streams` reads them all into these values.
An event is a claim of the program. Whether the work is done is for the gate to find out.
"""

from enum import StrEnum

from fairlead.values import dataclass, field


class EndKind(StrEnum):
    """How a call of an agent ended."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"  # the wall limit
    IDLE = "idle"  # no sign of life for too long
    KILLED = "killed"  # stopped on request, or by a signal from elsewhere
    SPAWN = "spawn"  # it could not be started
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"  # key, login or bill: a person has to act
    OVERLOADED = "overloaded"  # the service did not answer; later it may
    INVALID_OUTPUT = "invalid_output"  # it ended without saying so in its own protocol

    @property
    def may_pass(self) -> bool:
        """Whether the same call may go well later, with nothing changed."""
        return self in (EndKind.RATE_LIMITED, EndKind.OVERLOADED)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call."""

    tokens_in: int = 0  # all that was read, from the cache or not
    tokens_cached: int = 0  # of these, from the cache
    tokens_out: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_cached + other.tokens_cached,
            self.tokens_out + other.tokens_out,
        )


@dataclass(frozen=True, slots=True)
class Started:
    """The program has begun; with its session the call can be found and resumed."""

    session: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """Text for people."""

    text: str
    is_piece: bool = False  # it continues what was said before
    is_thinking: bool = False


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is used."""

    call: str
    tool: str
    subject: str = ""  # the file or the command


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool gave its answer."""

    call: str
    tool: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class FileChanged:
    """The program says that it wrote a file."""

    path: str


@dataclass(frozen=True, slots=True)
class Retried:
    """The program asks its model again, by itself."""

    attempt: int
    delay_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Denied:
    """A tool was not allowed."""

    tool: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and price: of one step, or of the whole call."""

    usage: Usage
    cost_usd: float | None = None
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error the program reports without ending."""

    fault: EndKind
    message: str
    retry_after: float | None = None  # seconds
    resets_at: float | None = None  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Paused:
    """This machine slept, or the whole run was held; limits do not count that time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The program says that it is done, well or badly."""

    is_ok: bool
    text: str = ""
    fault: EndKind = EndKind.FAILED  # when it ended badly
    message: str = ""
    is_cut: bool = False  # at the cap on its tokens


@dataclass(frozen=True, slots=True)
class Other:
    """An event that means nothing here: known and dull, or not known yet."""

    name: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no event of the protocol."""

    reason: str
    size: int


AgentEvent = (
    Started
    | Said
    | ToolStarted
    | ToolFinished
    | FileChanged
    | Retried
    | Denied
    | Spent
    | Trouble
    | Paused
    | Finished
    | Other
    | Malformed
)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call of an agent ended, and what it left to say."""

    kind: EndKind
    text: str = ""  # the last message, whole
    session: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    is_estimated: bool = False  # the program does not tell its tokens
    cost_usd: float | None = None
    exit_code: int | None = None  # negative: the signal
    error: str = ""
    retry_after: float | None = None  # seconds
    dropped_bytes: int = 0  # output over the limit, not kept
    malformed_lines: int = 0
    denied: tuple[str, ...] = ()  # tools that were refused
    is_cut: bool = False  # the text ends where the cap on its tokens was reached
    seconds: float = 0.0  # how long the call took
    prompt_characters: int = 0  # how much it was asked
    call: str = ""  # what we call it
