"""Where a person keeps settings: of this program, and of host agents."""

import os


def user_folder() -> str:
    """The person's own configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "fairlead")


def host_folder(host: str) -> str:
    """Where a host agent keeps a person's settings."""
    named = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[host]
    return os.environ.get(named) or os.path.join(os.path.expanduser("~"), f".{host}")
