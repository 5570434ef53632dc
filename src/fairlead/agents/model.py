"""The call of an agent, its events and its result: one model for all programs.

Every program has its own output format; its driver converts it into these events. An event is a
claim of the program: only the gate finds out whether the work is done.
"""

from datetime import timedelta
from enum import StrEnum

from fairlead.core.values import dataclass, field


class EndKind(StrEnum):
    """How a call of an agent ended."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"  # the wall limit
    IDLE = "idle"  # no event for too long
    KILLED = "killed"  # stopped on request, or by a signal from elsewhere
    SPAWN = "spawn"  # it could not be started
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"  # key, login or bill: only a person can fix it
    OVERLOADED = "overloaded"  # the service is unavailable for now
    INVALID_OUTPUT = "invalid_output"  # it ended without the last event of its format

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later."""
        return self in (EndKind.RATE_LIMITED, EndKind.OVERLOADED)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one call."""

    tokens_in: int = 0  # everything read, also from the cache
    tokens_cached: int = 0  # the part of tokens_in that came from the cache
    tokens_out: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.tokens_in + other.tokens_in,
            self.tokens_cached + other.tokens_cached,
            self.tokens_out + other.tokens_out,
        )


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """The program has started a session, by which the call can be found and resumed."""

    session: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class AgentText:
    """Text for the user."""

    text: str
    is_piece: bool = False  # it continues the text before
    is_thinking: bool = False


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call has begun."""

    call: str
    tool: str
    subject: str = ""  # the file or the command


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call has ended."""

    call: str
    tool: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class FileChanged:
    """The program reports that it wrote a file."""

    path: str


@dataclass(frozen=True, slots=True)
class ModelRetried:
    """The model is asked again."""

    attempt: int
    delay_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolDenied:
    """A tool was not allowed."""

    tool: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens and price of one step, or of the whole call."""

    usage: TokenUsage
    cost_usd: float | None = None
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class ErrorReported:
    """An error that does not end the program."""

    fault: EndKind
    message: str
    retry_after: float | None = None  # seconds
    resets_at: float | None = None  # seconds since 1970


@dataclass(frozen=True, slots=True)
class MachineSlept:
    """This machine slept, or the run was suspended; limits do not count that time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """The program reports its end."""

    is_ok: bool
    text: str = ""
    fault: EndKind = EndKind.FAILED  # if it is not ok
    message: str = ""
    is_cut: bool = False  # by the limit on its tokens


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event without a meaning here: known and unimportant, or not known yet."""

    name: str


@dataclass(frozen=True, slots=True)
class MalformedLine:
    """A line that is not an event of the format."""

    reason: str
    size: int


AgentEvent = (
    AgentStarted
    | AgentText
    | ToolStarted
    | ToolFinished
    | FileChanged
    | ModelRetried
    | ToolDenied
    | UsageReported
    | ErrorReported
    | MachineSlept
    | AgentFinished
    | OtherEvent
    | MalformedLine
)


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call of an agent."""

    kind: EndKind
    text: str = ""  # the complete last message
    session: str = ""
    model: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    is_estimated: bool = False  # the program does not report its tokens
    cost_usd: float | None = None
    exit_code: int | None = None  # negative: the signal
    error: str = ""
    retry_after: float | None = None  # seconds
    dropped_bytes: int = 0  # output over the limit
    malformed_lines: int = 0
    denied: tuple[str, ...] = ()  # tools that were not allowed
    is_cut: bool = False  # the text was cut by the limit on its tokens
    seconds: float = 0.0  # how long the call took
    prompt_characters: int = 0
    call: str = ""  # our name for the call
    lost: int = 0  # attempts that were lost with their machine before the one that ended


class AgentRole(StrEnum):
    """The roles of an execution."""

    EXECUTOR = "executor"
    ARCHITECT = "architect"


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call of an agent."""

    wall: timedelta = timedelta(minutes=30)
    first_event: timedelta = timedelta(minutes=15)  # until the first event
    idle: timedelta = timedelta(minutes=15)  # between two events
    after_end: timedelta = timedelta(seconds=10)  # how long a finished program may go on running
    output_bytes: int = 64 << 20  # stored of each stream; the rest is only counted


@dataclass(frozen=True, slots=True)
class CommandPermissions:
    """Which commands an agent may run; each driver maps this to the options of its program."""

    lines: tuple[str, ...] = ()  # exactly these command lines: the plan's verify commands
    programs: tuple[str, ...] = ()  # commands that begin with these words: `pytest`, `npm test`
    is_unlimited: bool = False

    @property
    def text(self) -> str:
        """What an executor may run, in one line."""
        if self.is_unlimited:
            return "every command"
        own = (words for words in self.programs if not words.startswith("git "))
        return ", ".join(("the verify commands", *own, "reading git"))


@dataclass(frozen=True, slots=True)
class CallSource:
    """What the folder of a call contains, for a machine that cannot see that folder."""

    commit: str
    subfolder: str = ""  # of the project in its repository
    left_out: tuple[str, ...] = ()  # paths that were removed after the commit was checked out
    setup: str = ""  # the approved command that installs the dependencies


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One call of an agent."""

    role: str  # an AgentRole, or another name
    prompt: str
    folder: str  # the worktree
    raw: str  # private folder for the prompt and the raw output; created if it does not exist
    job: str = ""  # in the environment of every process of the call, so that `reap` finds them
    session: str = ""  # a UUID, for programs that accept one
    model: str = ""  # empty: the program chooses
    is_read_only: bool = False
    max_tokens: int = 0  # of a plain model's answer; 0: no limit
    limits: CallLimits = field(default_factory=CallLimits)
    environment: tuple[str, ...] = ()  # names of more variables that are passed on
    tools: tuple[str, ...] = ()  # of its role, if the program accepts a list; empty: its own
    commands: CommandPermissions = field(default_factory=CommandPermissions)
    id: str = ""  # unique in its job: a call on another machine is found again by it
    source: CallSource | None = None  # None: `folder` is all that is known


class Stream(StrEnum):
    """The output formats of programs; see `drivers.catalog`."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    ANTIGRAVITY = "antigravity"
    OPENCODE = "opencode"
    MODEL = "model"  # of our own program for plain models
    TEXT = "text"  # no events: everything is the answer
