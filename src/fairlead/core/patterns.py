"""Regular expressions that are compiled when they are first used.

Compiling takes 0.1 to 1 ms each. A short command imports a hundred patterns and uses a few of
them, so no module compiles a pattern while it is imported. A used pattern is as fast as any other.

Use its methods: functions of `re` do not accept it, and `match.re` is the compiled pattern inside.
"""

import re
from typing import AnyStr, cast


class _LazyPattern:
    """A pattern with the attributes of `re.Pattern`."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """The attribute of the compiled pattern. Kept, so that this runs once for each name."""
        if name == "_compiled":
            value: object = re.compile(self.pattern, self._flags)
        else:
            value = getattr(self._compiled, name)
        vars(self)[name] = value
        return value


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is a constant of a module."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
