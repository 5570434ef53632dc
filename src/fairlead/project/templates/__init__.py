"""Templates of the documents of a new project, as packaged files."""

from functools import cache
from pkgutil import get_data


@cache
def template(name: str) -> str:
    """The text of a template, cached so that nothing is read from disk under a lock."""
    content = get_data(__name__, name)
    assert content is not None, name
    return content.decode("utf-8")
