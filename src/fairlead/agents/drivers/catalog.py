"""The agent CLIs and output formats that Fairlead knows, each by its name."""

from collections.abc import Callable

from fairlead.agents.drivers import antigravity, claude, codex, gemini, model_service, opencode
from fairlead.agents.drivers.driver import PLAIN_TEXT, Driver, StreamFormat
from fairlead.agents.model import Stream

DriverFactory = Callable[[], Driver]

# In the order in which an installed agent is looked for.
BUILT_IN: dict[str, DriverFactory] = {
    "claude": claude.driver,
    "codex": codex.driver,
    "opencode": opencode.driver,
    "gemini": gemini.driver,
    "agy": antigravity.driver,
}
FORMATS: dict[Stream, StreamFormat] = {
    Stream.CLAUDE: claude.FORMAT,
    Stream.CODEX: codex.FORMAT,
    Stream.GEMINI: gemini.FORMAT,
    Stream.ANTIGRAVITY: antigravity.FORMAT,
    Stream.OPENCODE: opencode.FORMAT,
    Stream.MODEL: model_service.FORMAT,
    Stream.TEXT: PLAIN_TEXT,
}
