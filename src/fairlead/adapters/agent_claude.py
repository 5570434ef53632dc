"""Claude Code as an agent: `claude -p` with its JSON stream.

Settings of the project are not read: without a person to ask, the program would run the
repository's hooks and start its MCP servers unseen.
"""

import uuid

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream

_READERS = ("Read", "Grep", "Glob")
_WEB = ("WebSearch", "WebFetch")


def row() -> Row:
    """How Claude Code is used."""
    return Row(
        name="claude",
        programs=("claude",),
        stream=Stream.CLAUDE,
        words=_words,
        keys=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
            *("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_MAX_RETRIES"),
            *("AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
            *("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"),
        ),
        settings={"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        needs=("--output-format", "--permission-mode", "--setting-sources", "--strict-mcp-config"),
    )


def _words(order: Order) -> tuple[str, ...]:
    web = tuple(each for each in order.tools if each in _WEB)
    way: tuple[str, ...] = ("--permission-mode", "acceptEdits")
    if order.is_read_only:  # no tool that writes is even offered
        readers = ",".join((*_READERS, *web))
        way = ("--permission-mode", "dontAsk", "--tools", readers, "--allowedTools", readers)
    elif web:  # a role that researches may look around without being asked
        way = (*way, "--allowedTools", ",".join((*_READERS, *web)))
    return (
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--setting-sources", "user", "--strict-mcp-config"),
        *way,
        *_session(order.session),
        *(("--model", order.model) if order.model else ()),
    )


def _session(name: str) -> tuple[str, ...]:
    try:
        return ("--session-id", str(uuid.UUID(name)))
    except ValueError:  # the program takes nothing else, and then chooses one
        return ()
