"""The first version of every document, as files."""

from functools import cache
from pkgutil import get_data


@cache
def template(name: str) -> str:
    """The text of a template; once read before a lock is taken, it is there while it is held."""
    found = get_data(__name__, name)
    assert found is not None, name
    return found.decode("utf-8")
