"""The first version of every document, as files."""

from functools import cache
from importlib.resources import files


@cache
def template(name: str) -> str:
    """The text of a template; once read before a lock is taken, it is there while it is held."""
    return (files(__name__) / name).read_text(encoding="utf-8")
