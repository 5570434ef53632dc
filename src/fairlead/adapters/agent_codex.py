"""Codex as an agent: `codex exec` with its JSON stream, in its own sandbox."""

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream


def row() -> Row:
    """How Codex is used."""
    return Row(
        name="codex",
        programs=("codex",),
        stream=Stream.CODEX,
        words=_words,
        keys=("OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"),
        needs=("--json", "--sandbox", "--skip-git-repo-check"),
        help_words=("exec", "--help"),
    )


def _words(order: Order) -> tuple[str, ...]:
    return (
        *("exec", "--json", "--skip-git-repo-check"),
        *("--sandbox", "read-only" if order.is_read_only else "workspace-write"),
        # It would wait five seconds at its end for a service that is not needed here.
        *("-c", "analytics.enabled=false", "--disable", "plugins", "--disable", "apps"),
        *(("--model", order.model) if order.model else ()),
        "-",
    )
