"""Gemini CLI as an agent: its JSON stream, edits approved, nothing else."""

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream


def row() -> Row:
    """How Gemini CLI is used."""
    return Row(
        name="gemini",
        programs=("gemini",),
        stream=Stream.GEMINI,
        words=_words,
        keys=(
            *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME"),
            *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
            *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_GCA"),
        ),
        settings={"GEMINI_CLI_TRUST_WORKSPACE": "true"},  # else it refuses; the folder is ours
        needs=("--output-format", "--approval-mode"),
    )


def _words(order: Order) -> tuple[str, ...]:
    return (
        *("--output-format", "stream-json"),
        *("--approval-mode", "plan" if order.is_read_only else "auto_edit"),
        *(("--model", order.model) if order.model else ()),
    )
