"""Where a person keeps settings: of this program, and of host agents."""

import os


def user_folder() -> str:
    """The person's own configuration folder."""
    return _own("XDG_CONFIG_HOME", ".config")


def cache_folder() -> str:
    """Where what can be found out again is kept."""
    return _own("XDG_CACHE_HOME", ".cache")


def host_folder(host: str) -> str:
    """Where a host agent keeps a person's settings."""
    named = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[host]
    return os.environ.get(named) or os.path.join(os.path.expanduser("~"), f".{host}")


def _own(variable: str, usual: str) -> str:
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # to be ignored, says the standard: it would change with the folder
        base = os.path.join(os.path.expanduser("~"), usual)
    return os.path.join(base, "fairlead")
