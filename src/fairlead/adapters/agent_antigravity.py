"""Antigravity CLI, the successor of Gemini CLI, as an agent: `agy -p` with its JSON stream.

It is closed and has no way in without a browser, so this row follows what others report of it;
`doctor agents` looks whether the options are there. It knows no reading mode: a review by it is
void as soon as it changes a file. The editor of the same name ships another `agy` without them.
"""

import math

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream


def row() -> Row:
    """How Antigravity is used."""
    return Row(
        name="agy",
        programs=("agy",),
        stream=Stream.ANTIGRAVITY,
        words=_words,
        needs=("--print", "--output-format", "--print-timeout", "--sandbox"),
    )


def _words(order: Order) -> tuple[str, ...]:
    minutes = math.ceil(order.limits.wall.total_seconds() / 60)  # its own limit is too short
    return (
        *("--print", "--output-format", "stream-json", "--print-timeout", f"{minutes}m"),
        "--sandbox",
        *(() if order.is_read_only else ("--dangerously-skip-permissions",)),
        *(("--model", order.model) if order.model else ()),
    )
