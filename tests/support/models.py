"""Model services on loopback for tests, called in this process or through the agent program."""

from dataclasses import dataclass
from pathlib import Path

from fairlead.agents import registry
from fairlead.agents.cli_agent import CliAgent
from fairlead.agents.custom_agents import ModelService
from fairlead.agents.drivers import model_program
from fairlead.agents.model import AgentEvent, CallResult, Stream
from fairlead.agents.streams import Exit, Tally, events_of
from tests.support.model_server import ModelServer

KEY = "sk-loop-0123456789abcdef"
VARIABLE = "LOOPBACK"  # a name that does not reveal its purpose
NAMES = {"anthropic": "claude-mock", "openai": "mock-model"}


@dataclass(frozen=True)
class ModelOutput:
    """The output of the program, and its interpretation."""

    raw: bytes
    events: tuple[AgentEvent, ...]
    ending: CallResult


def a_service(kind: str, server: ModelServer, **more) -> ModelService:
    """A custom model service on loopback."""
    url = server.url if kind == "anthropic" else f"{server.url}/v1"
    return ModelService("mine", kind, NAMES[kind], url, VARIABLE, **more)


def a_model(kind: str, server: ModelServer, **more) -> CliAgent:
    """An agent for such a service; the caller sets the key in the environment."""
    return registry.agent("mine", custom=(a_service(kind, server, **more),))


def model_output(
    kind: str, server: ModelServer, *, prompt: str = "plan it", seconds: float = 20, **more
):
    """Call the model in this process, which imports the client only once."""
    url = server.url if kind == "anthropic" else f"{server.url}/v1"
    call = {"kind": kind, "name": "mine", "model": NAMES[kind], "base_url": url}
    limits = {
        "key_env": VARIABLE,
        "max_tokens": 0,
        "seconds": seconds - model_program.EXTRA_SECONDS,
    }
    lines: list[bytes] = []
    code = model_program.ask({**call, **limits, **more}, prompt, KEY, lines.append)
    events = events_of(Stream.MODEL, b"".join(lines))
    tally = Tally(Stream.MODEL)
    for event in events:
        tally.add(event)
    return ModelOutput(b"".join(lines), events, tally.ending(Exit(code)))


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file with its content."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}
