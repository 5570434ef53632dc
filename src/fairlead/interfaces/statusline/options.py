"""What a project's settings say about its status line; everything is off unless set."""

from fairlead.errors import JsonSyntax
from fairlead.text.quickjson import read_quick_json


class Options:
    """The settings below `statusline`, each nested or as one dotted key."""

    __slots__ = (
        "has_context_in_front", "has_sub_repositories", "is_compact", "shows_freshness", "shows_git",
        "shows_last_command", "shows_tokens",
    )  # fmt: skip

    def __init__(self, config: str) -> None:
        held = _read(config)
        self.has_context_in_front = _value(held, "statusline.context_position") == "front"
        self.is_compact = _value(held, "statusline.state_format") == "compact"
        self.shows_last_command = _value(held, "statusline.show_last_command") is True
        self.shows_git = _value(held, "statusline.show_git") is True
        self.shows_tokens = _value(held, "statusline.show_context_tokens") is True
        self.shows_freshness = _value(held, "statusline.show_state_freshness") is True
        nested = _value(held, "planning.sub_repos") or _value(held, "sub_repos")
        # Commits in nested repositories do not move the outer one, so its age would lie.
        self.has_sub_repositories = isinstance(nested, list) and bool(nested)


def _read(config: str) -> object:
    try:
        return read_quick_json(config)
    except JsonSyntax:
        return None


def _value(held: object, path: str) -> object:
    if not isinstance(held, dict):
        return None
    if path in held:
        return held[path]
    for name in path.split("."):
        if not isinstance(held, dict) or name not in held:
            return None
        held = held[name]
    return held
