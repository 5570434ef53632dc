"""Plain models for tests: the program that asks them, here or in its own process, on loopback."""

from dataclasses import dataclass
from pathlib import Path

from fairlead.adapters import model_program, registry
from fairlead.adapters.agent import CliAgent
from fairlead.model.agent_events import AgentEvent, Ending
from fairlead.model.agent_streams import Exit, Stream, Tally, events_of
from fairlead.model.model_services import ModelService
from tests.support.model_server import ModelServer

KEY = "sk-loop-0123456789abcdef"
VARIABLE = "LOOPBACK"  # a name that does not tell what it holds
NAMES = {"anthropic": "claude-mock", "openai": "mock-model"}


@dataclass(frozen=True)
class Spoken:
    """What the program wrote, and what that means."""

    raw: bytes
    events: tuple[AgentEvent, ...]
    ending: Ending


def a_service(kind: str, server: ModelServer, **more) -> ModelService:
    """A described model on loopback."""
    url = server.url if kind == "anthropic" else f"{server.url}/v1"
    return ModelService("mine", kind, NAMES[kind], url, VARIABLE, **more)


def a_model(kind: str, server: ModelServer, **more) -> CliAgent:
    """The same behind its adapter; the key is in the environment of who calls this."""
    return registry.agent("mine", commands=(a_service(kind, server, **more),))


def spoken(kind: str, server: ModelServer, *, prompt: str = "plan it", seconds: float = 20, **more):
    """Ask in this process: the client's import is paid for once."""
    url = server.url if kind == "anthropic" else f"{server.url}/v1"
    call = {"kind": kind, "name": "mine", "model": NAMES[kind], "base_url": url}
    limits = {"key_env": VARIABLE, "max_tokens": 0, "seconds": seconds - model_program.OWN_LIMIT}
    lines: list[bytes] = []
    code = model_program.ask({**call, **limits, **more}, prompt, KEY, lines.append)
    events = events_of(Stream.MODEL, b"".join(lines))
    tally = Tally(Stream.MODEL)
    for event in events:
        tally.add(event)
    return Spoken(b"".join(lines), events, tally.ending(Exit(code)))


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file with its content."""
    found = [each for each in folder.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)): each.read_bytes() for each in found}
