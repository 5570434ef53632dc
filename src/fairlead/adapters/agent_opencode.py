"""OpenCode as an agent: `opencode run` with its JSON stream.

It waits for ever on a permission that has to be asked for, so every one is settled before.
"""

import json
from collections.abc import Mapping

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream


def row() -> Row:
    """How OpenCode is used."""
    return Row(
        name="opencode",
        programs=("opencode",),
        stream=Stream.OPENCODE,
        words=_words,
        keys=(
            *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
            *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_MODELS_FETCH"),
        ),
        settings={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        settings_for=_permissions,
        needs=("--format",),
        help_words=("run", "--help"),
    )


def _words(order: Order) -> tuple[str, ...]:
    model = ("--model", order.model) if order.model else ()
    return ("run", "--format", "json", *model)


def _permissions(order: Order) -> Mapping[str, str]:
    edit = "deny" if order.is_read_only else "allow"
    held = {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow"}
    return {"OPENCODE_PERMISSION": json.dumps({**held, "edit": edit})}
