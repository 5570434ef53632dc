"""The first version of every document, as files."""

from importlib.resources import files


def template(name: str) -> str:
    """The text of a template."""
    return (files(__name__) / name).read_text(encoding="utf-8")
