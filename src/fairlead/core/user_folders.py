"""The folders of the user's own settings: of Fairlead and of host agents."""

import os

NOTIFY_SETTINGS = "notify.json"  # in the user's own folder, and readable only by the user
# Settings files in the folder of a host agent, and those in a project.
CLAUDE_SETTINGS = "settings.json"
CLAUDE_LOCAL_SETTINGS = "settings.local.json"
CODEX_HOOKS = "hooks.json"
CODEX_CONFIG = "config.toml"
HOST_SETTINGS = (
    *(".claude/settings.json", ".claude/settings.local.json", ".mcp.json"),
    *(".codex/hooks.json", ".codex/config.toml", "opencode.json", "opencode.jsonc"),
    ".gemini/settings.json",
)


def user_folder() -> str:
    """The user's configuration folder."""
    return _folder("XDG_CONFIG_HOME", ".config")


def cache_folder() -> str:
    """The folder for data that can be rebuilt."""
    return _folder("XDG_CACHE_HOME", ".cache")


def host_folder(host: str) -> str:
    """The folder with the user's settings of a host agent."""
    home = os.path.expanduser("~")
    if host == "opencode":
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return os.environ.get("OPENCODE_CONFIG_DIR") or os.path.join(base, "opencode")
    if host == "gemini":
        return os.path.join(os.environ.get("GEMINI_CLI_HOME") or home, ".gemini")
    variable = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[host]
    return os.environ.get(variable) or os.path.join(home, f".{host}")


def _folder(variable: str, default: str) -> str:
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # the XDG specification says to ignore a relative path
        base = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(base, "fairlead")
