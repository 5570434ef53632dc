"""What was asked of git once: ids name content, so that an answer about them can never change."""

from typing import TypeVar

_MOST = 256
_Key = TypeVar("_Key")
_Fact = TypeVar("_Fact")


class Remembered(dict[_Key, _Fact]):
    """Answers by what was asked; not more of them than are soon used again."""

    def __setitem__(self, key: _Key, fact: _Fact) -> None:
        if len(self) >= _MOST:
            self.clear()
        super().__setitem__(key, fact)
