"""A function of somebody's code, as far as one can tell whether it does anything."""

import re
from enum import StrEnum

from fairlead.values import dataclass

_EMPTY_VALUE = re.compile(
    r"None|null|nil|undefined|\{\s*\}|\[\s*\]|\(\s*\)|\"\"|''|``|0(?:\.0)?|-1|False|false|True|true|Ok\(\(\)\)"
    r"|(?:list|dict|set|tuple)\(\)|iter\((?:\[\]|\(\))\)|(?:Vec|String|HashMap)::new\(\)|vec!\[\]|Default::default\(\)|Promise\.resolve\(\)"
    r"|new (?:Array|Hash)\w*(?:<[^>]*>)?\(\)|(?:List|Map|Set)\.of\(\)|Optional\.empty\(\)"
    r"|Collections\.empty\w+\(\)|(?:\w+\.)*(?:json|send|end)\((?:\{\s*\}|\[\s*\]|null)?\)"
)
_UNFINISHED = re.compile(
    r"not[\s_-]*(?:yet[\s_-]*)?implemented|\bunimplemented\b|implement me|to be implemented",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\b(?:todo|fixme)\b", re.IGNORECASE)
_TO_DO = re.compile(
    r"[#/*<!-]\s*(?:todo|fixme|xxx|tbd|stub|placeholder|implement)\b"
    r"|not (?:yet )?implemented|to be implemented"
    r"|\bfor now\b|\bimplement (?:this|me|later)|your code here|real implementation|\btodo:",
    re.IGNORECASE,
)
_DERIVED = re.compile(
    r"overrid|\bhook\b|subclass|by default|default implementation|inherit", re.IGNORECASE
)
_MEANT = re.compile(
    rf"{_DERIVED.pattern}|\bcalled\b|no-?op|nothing|intentional|on purpose"
    r"|\bempty\b|not (?:needed|supported|necessary|used)|un(?:supported"
    r"|used)|ignored?\b|always|never|no effect",
    re.IGNORECASE,
)


class Deed(StrEnum):
    """What a function's body comes to."""

    REAL = "real"
    EMPTY = "empty"
    CONSTANT = "constant"  # an empty value or a bare truth value, whatever was asked
    FIXED = "fixed"  # a value that is written down in it, and no more
    UNIMPLEMENTED = "unimplemented"  # it says so itself
    LOG = "log"  # it only says something


@dataclass(frozen=True, slots=True)
class Function:
    """One function with a body."""

    name: str
    line: int
    deed: Deed
    params: tuple[str, ...] = ()  # names that a caller fills; without self and `_unused`
    uses_params: bool = False
    value: str = ""  # of a constant
    owner: str = ""  # its class, type or trait
    is_override: bool = False  # its owner has a base: another place decides what it must be
    is_abstract: bool = False  # declared so, or without any need to do something
    is_nested: bool = False
    is_route: bool = False
    note: str = ""  # its docstring, and the comments in it

    @property
    def has_todo(self) -> bool:
        """Whether its own words say that it is not done."""
        return bool(_TO_DO.search(self.note))

    @property
    def is_meant(self) -> bool:
        """Whether its own words say that doing nothing is what it is for, or that others do it."""
        words = _DERIVED if self.deed is Deed.CONSTANT else _MEANT
        return bool(words.search(self.note)) and not self.has_todo


@dataclass(frozen=True, slots=True)
class Outline:
    """The functions and the empty classes of a file."""

    functions: tuple[Function, ...] = ()
    empty_classes: tuple[tuple[str, int], ...] = ()  # without a base
    has_more: bool = False  # statements beside them that do something
    problem: str = ""  # why it could not be read, and
    line: int = 0  # where


def is_empty_value(value: str) -> bool:
    """Whether an expression is an empty value, several of them, or a bare truth value."""
    value = re.sub(r"\s+as\s+[\w<>\[\], |.]+$", "", value)
    parts = [part.strip() for part in value.split(",")] if "(" not in value else [value.strip()]
    return all(_EMPTY_VALUE.fullmatch(part) for part in parts)


def says_unimplemented(text: str, *, is_error: bool = True) -> bool:
    """Whether a text says of itself that something is still to be made.

    `todo` alone says so in an error; as a value it is a status like another.
    """
    return bool(_UNFINISHED.search(text)) or (is_error and bool(_WORDS.search(text)))
