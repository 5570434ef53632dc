"""What a driver consists of: how a program is started, and how its output is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from fairlead.agents.model import AgentCall, AgentEvent, EndKind, Stream
from fairlead.core.values import dataclass, field

if TYPE_CHECKING:
    from fairlead.agents.custom_agents import ModelService
    from fairlead.agents.drivers.fields import Line, StreamMemory

PROMPT_FILE = "{prompt}"  # an argument that stands for the path of a private file with the prompt


@dataclass(frozen=True, slots=True)
class Driver:
    """One program, and how it is used as an agent."""

    name: str
    programs: tuple[str, ...]  # names to look for; the first one on PATH is used
    stream: Stream
    arguments: Callable[[AgentCall], tuple[str, ...]]
    passed_variables: tuple[str, ...] = ()  # of our environment: keys, addresses, its own folder
    variables: Mapping[str, str] = field(default_factory=dict)  # that we set
    folders: Callable[[AgentCall], tuple[str, ...]] = lambda _: ()  # private ones to create first
    call_variables: Callable[[AgentCall], Mapping[str, str]] = lambda _: {}
    commands_note: str = ""  # what its options cannot express of `AgentCall.commands`
    required_options: tuple[str, ...] = ()  # that its help must mention
    help_arguments: tuple[str, ...] = ("--help",)
    program_arguments: tuple[str, ...] = ()  # before `arguments`: a script for an interpreter
    is_free: bool = False  # asks no model
    login: str = ""  # the command with which a person logs in; empty: it is not known
    login_arguments: tuple[str, ...] = ()  # that show, without a model, whether a person is
    is_logged_out: Callable[[int, str], bool] = lambda _code, _output: False  # what they showed
    login_check: tuple[str, ...] = ()  # arguments that end with 0: logged in, or 1: not
    login_variables: tuple[str, ...] = ()  # one of them is enough instead of a login
    secrets: tuple[str, ...] = ()  # names of variables whose values are never shown
    family: str = ""  # of its models, as the person's settings say
    service: ModelService | None = None  # set for a plain model, which changes no files


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """How the standard output of a program is read."""

    decode: Callable[[Line, StreamMemory], Iterator[AgentEvent]] | None  # None: plain text
    reports_progress: bool = True  # False: it prints only at its end, so silence means nothing
    reports_tokens: bool = True
    reports_price: bool = True
    reports_end: bool = True  # its last event says how the call ended; else the exit code does
    needs_text: bool = False  # an exit code 0 without any text is a failure
    exit_fault: Callable[[int], EndKind] | None = None  # what its own exit codes mean


PLAIN_TEXT = StreamFormat(
    None, reports_progress=False, reports_tokens=False, reports_price=False, reports_end=False
)


def model_option(call: AgentCall) -> tuple[str, ...]:
    """`--model NAME`, or nothing where the program chooses."""
    return ("--model", call.model) if call.model else ()
