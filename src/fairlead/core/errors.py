"""The root of all errors, one family per exit code, and the errors that `core` itself raises.

Every other package declares its errors in its own `errors.py`, one short class each:

    class UnknownPhase(UsageError, code="unknown-phase"):
        '''The project has no such phase.'''

        phase: object
        known: Sequence[str]
        message = "phase {phase} is not in scope"
        hint = "known phases: {known}"

The annotated names are the arguments of the class, in this order. The line that raises passes
facts; the class has the sentence. `code` is stable: scripts rely on it. A hint is the next
command to run. A class whose sentence needs a decision overrides `_message` or `_hint`.

The status line and the hooks load this module at every start: it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, dataclass_transform
else:

    def dataclass_transform() -> object:
        """At run time nothing is generated: `FairleadError.__init__` serves every class."""
        return lambda kind: kind


class _Items(tuple[object, ...]):
    """A list in a template: `{names}`, with another separator `{names:; }`, at most three `{names:3}`."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        separator = spec.rstrip("0123456789")
        most = int(spec[len(separator) :] or len(self))
        shown = (separator or ", ").join(map(str, self[:most])) or "none"
        return f"{shown} and {len(self) - most} more" if self[most:] else shown


@dataclass_transform()
class FairleadError(Exception):
    """Anything that Fairlead refuses or cannot do, with the next step."""

    code = "fairlead"
    exit_code = 1
    message = ""  # a template in the class, the finished sentence in an error
    hint = ""
    _is_kw_only = False

    def __init_subclass__(cls, *, code: str, kw_only: bool = False) -> None:
        cls.code = code
        cls._is_kw_only = kw_only

    def __init__(self, *values: object, **named: object) -> None:
        super().__init__(*values)
        positional, keywords = _fields(type(self))
        facts = {**dict(zip(positional, values)), **named}  # noqa: B905  # counted below
        missing = [name for name in positional if name not in facts and not hasattr(self, name)]
        unknown = facts.keys() - {*positional, *keywords}
        if missing or unknown or len(facts) < len(values) + len(named):
            raise TypeError(f"{type(self).__name__} takes {positional}, not {values} and {named}")
        vars(self).update(facts)
        self.message = self._message()
        self.hint = self._hint()

    @classmethod
    def saying(cls, message: str, hint: str = "") -> Self:
        """An error of this family with a sentence of its own, for what no row describes."""
        error = cls()
        error.message, error.hint = message, hint
        return error

    def _message(self) -> str:
        return self._filled(type(self).message)

    def _hint(self) -> str:
        return self._filled(type(self).hint)

    def _filled(self, template: str) -> str:
        positional, keywords = _fields(type(self))
        facts = {name: getattr(self, name) for name in (*positional, *keywords)}
        lists = {k: _Items(v) for k, v in facts.items() if isinstance(v, tuple | list)}
        return template.format(self=self, **{**facts, **lists})

    def __str__(self) -> str:
        return self.message


def _fields(kind: type[FairleadError]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments of a class: those by position, and those by name only."""
    positional: dict[str, None] = {}
    keywords: dict[str, None] = {}
    for one in reversed(kind.__mro__):
        if issubclass(one, FairleadError) and one is not FairleadError:
            (keywords if one._is_kw_only else positional).update(dict.fromkeys(one.__annotations__))
    return tuple(positional), tuple(keywords)


class UsageError(FairleadError, code="usage"):
    """The command line, or a value given with it, is wrong."""

    exit_code = 2


class DocumentError(FairleadError, code="document", kw_only=True):
    """A file cannot be read, or cannot be rewritten exactly. Lines and columns count from 1."""

    exit_code = 3

    line: int = 0
    column: int = 0
    path: str = ""

    def located(self, path: object) -> DocumentError:
        """The same error with the name of its file, which parsers do not know."""
        if not self.path:
            self.path = str(path)
        return self

    def __str__(self) -> str:
        place = self.path
        if self.line:
            place += f":{self.line}:{self.column or 1}"
        return f"{place}: {self.message}" if place else self.message


class Located:
    """A context that names the file in every `DocumentError` raised inside it."""

    def __init__(self, path: object) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing to do before an error."""

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, DocumentError):
            error.located(self.path)


class ConflictError(FairleadError, code="conflict"):
    """Something exists already, is in use, or changed in the meantime."""

    exit_code = 4


class AgentError(FairleadError, code="agent"):
    """An agent, a model or another program failed."""

    exit_code = 5


class BlockedError(FairleadError, code="blocked"):
    """A person has to decide first, or criteria are not met."""

    exit_code = 6


class StorageError(FairleadError, code="storage"):
    """The disk is full, read-only or broken."""

    exit_code = 7


class MalformedId(UsageError, code="malformed-id"):
    """A phase, plan or other identifier has the wrong form."""

    kind: str
    text: str
    example: str
    message = "{text!r} is not a {kind}"
    hint = "a {kind} looks like {example}"


class MalformedDuration(UsageError, code="malformed-duration"):
    """A duration has the wrong form."""

    text: str
    message = "{text!r} is not a duration"
    hint = "a duration looks like 45s, 12m or 1h5m"


class UnknownSetting(UsageError, code="unknown-setting"):
    """A setting exists neither in Fairlead nor in a configuration file."""

    key: str
    near: str = ""
    message = "there is no setting {key}"

    def _hint(self) -> str:
        return f"did you mean {self.near}?" if self.near else "list them: fairlead config list"


class SettingValue(UsageError, code="setting-value"):
    """A setting does not accept the value."""

    key: str
    value: object
    allowed: str
    message = "{key} cannot be {value!r}"
    hint = "it takes {allowed}"


class MalformedRecord(DocumentError, code="malformed-record"):
    """A record of a job has a missing or wrong value."""

    wanted: object
    shown: str
    where: str = ""
    message = "{where}expected {wanted}, found {shown}"
    hint = (
        "restore the file (git restore {path}), or move the folder of this job out of .planning; "
        "nothing was changed"
    )

    def __init__(
        self, place: str, wanted: object, found: object, *, line: int = 0, column: int = 0
    ) -> None:
        path, dot, inside = place.partition(".json")
        where = f"{inside.lstrip('.')}: " if inside else ""
        shown = repr(found)
        shown = shown if len(shown) <= 80 else shown[:79] + "…"
        place_ = {"path": path + dot, "line": line or 1, "column": column}
        FairleadError.__init__(self, wanted, shown, where, **place_)


class NoProgram(AgentError, code="no-program"):
    """A program that Fairlead needs is not installed."""

    name: str
    alternative: str = ""
    message = "the program {name} is not on PATH"

    def _hint(self) -> str:
        otherwise = f"; or {self.alternative}" if self.alternative else ""
        return f"install {self.name}, then run the command again{otherwise}"


class NotStarted(AgentError, code="not-started"):
    """The operating system refused to start a program."""

    path: object
    why: str
    message = "{path} cannot be started: {why}"
    hint = "check the permissions of the file"
