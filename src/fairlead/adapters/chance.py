"""Chance: names that nobody can foresee."""

import uuid


def fresh() -> str:
    """A new name, good as a nonce and as the session of an agent."""
    return str(uuid.uuid4())
