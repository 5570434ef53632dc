"""GitHub issues for the modules of a plan, through the program `gh` and the user's own login.

The first line of an issue's text is a marker with plan and module, so an issue that a killed
approval left behind is found again. Only the first line counts: text that a person wrote into a
criterion can never pass for a marker. Issues are found in a listing and never by search, because
the search index is minutes late, and a listing with a label filter is such a search. Texts are
passed through standard input.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from fairlead.core.errors import NoProgram
from fairlead.core.patterns import lazy_pattern
from fairlead.core.process import (
    ExitKind,
    ProcessLimits,
    ProcessResult,
    environment_of,
    program,
    run,
)
from fairlead.core.values import dataclass
from fairlead.vcs.errors import NoAnswer, NotLoggedIn, OddAnswer, ProgramRefused

_PASSED_VARIABLES = """PATH HOME USER LANG LC_ALL TMPDIR XDG_CONFIG_HOME XDG_STATE_HOME
    XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS GH_TOKEN GITHUB_TOKEN
    GH_HOST GH_REPO GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN GH_CONFIG_DIR HTTP_PROXY
    HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR""".split()
_NEEDS_LOGIN = 4  # exit code of gh
_PAGES = (100, 1000, 10_000)  # listing sizes, tried until one reaches back to the time asked for
_SKEW = timedelta(days=1)  # clocks differ
_UNDATED = datetime.max.replace(tzinfo=UTC)
_LIST_BYTES = 64 << 20
_LONGEST_MESSAGE = 300
_LONGEST_TITLE = 256  # GitHub's limit
_MARK = "<!-- fairlead "
_URL = lazy_pattern(r"/issues/(\d+)\s*$")
_UNKNOWN_LABEL = lazy_pattern(r"label: '([^']*)' not found")


@dataclass(frozen=True, slots=True)
class NewIssue:
    """An issue to create."""

    title: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MadeIssue:
    """An issue that was created, with notes about what was left out."""

    number: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueSubject:
    """The module that an issue describes."""

    plan: str
    module: str
    name: str
    priority: str
    criteria: str
    requirements: str  # the file with the requirements of the plan


class GitHub:
    """The issues of the repository that a folder belongs to."""

    def __init__(self, folder: str, *, seconds: float) -> None:
        self._folder = folder
        self._wall = timedelta(seconds=seconds)

    def marked(self, since: datetime) -> Mapping[str, int]:
        """The issues with a Fairlead marker created since then: numbers by marker."""
        issues: list[tuple[int, str, datetime]] = []
        for most in _PAGES:
            issues = self._listed(most)
            if len(issues) < most or min(created for _, _, created in issues) < since - _SKEW:
                break
        else:
            raise OddAnswer("gh issue list", f"{len(issues)} issues, all newer than the plan")
        marked = ((marker_in(text), number) for number, text, _ in issues)
        # The listing is newest first, so of two issues with one marker the older one wins.
        return {marker: number for marker, number in marked if marker}

    def make(self, issue: NewIssue, *, inherited: int) -> MadeIssue:
        """Create an issue; a label that the repository does not have is left out and noted."""
        labels = issue.labels
        notes: tuple[str, ...] = ()
        while True:
            words = ["issue", "create", "--title", issue.title, "--body-file", "-"]
            words += [word for label in labels for word in ("--label", label)]
            result = self._run(words, stdin=issue.text.encode(), inherited=(inherited,))
            unknown = _unknown_label(result, labels)
            if not unknown:
                break
            labels = tuple(label for label in labels if label != unknown)
            notes = (*notes, f"the repository has no label {unknown}; it was left out")
        _require_success("gh issue create", result)
        url = _URL.search(_text(result.output).rstrip())
        if url is None:
            raise OddAnswer("gh issue create", _short(result.output))
        return MadeIssue(int(url[1]), notes)

    def _listed(self, most: int) -> list[tuple[int, str, datetime]]:
        words = ["issue", "list", "--state", "all", "--limit", str(most)]
        result = self._run([*words, "--json", "number,body,createdAt"], output=_LIST_BYTES)
        _require_success("gh issue list", result)
        try:
            return [_issue(entry) for entry in json.loads(result.output or b"[]")]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise OddAnswer("gh issue list", _short(result.output)) from error

    def _run(
        self,
        words: list[str],
        *,
        stdin: bytes = b"",
        inherited: tuple[int, ...] = (),
        output: int = 1 << 20,
    ) -> ProcessResult:
        try:
            gh = program("gh")
        except NoProgram as missing:
            raise NoProgram("gh", "approve without issues: --skip-issues") from missing
        no_prompts = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
        return run(
            [gh, *words],
            folder=self._folder,
            environment=environment_of(_PASSED_VARIABLES, **no_prompts),
            limits=ProcessLimits(self._wall, output),
            stdin=stdin,
            inherited=inherited,
        )


def marker_of(plan: str, module: str) -> str:
    """The line that identifies the issue of a module."""
    return f"{_MARK}{json.dumps({'plan': plan, 'module': module})} -->"


def marker_in(text: str) -> str:
    """The marker in an issue's text; empty if it has none."""
    first = text.partition("\n")[0].rstrip("\r ")
    return first if first.startswith(_MARK) else ""


def issue_of(subject: IssueSubject) -> NewIssue:
    """The issue for a module."""
    name = " ".join(subject.name.split())
    lines = (
        marker_of(subject.plan, subject.module),
        f"## Module: {name}",
        "",
        "### Description",
        f"Implementation of the {name} module as part of plan {subject.plan}.",
        "",
        "### Acceptance Criteria",
        *_checkboxes(subject.criteria),
        "",
        "### Priority",
        subject.priority,
        "",
        "### Related",
        f"- Plan ID: {subject.plan}",
        f"- Module ID: {subject.module}",
        f"- Requirements: {subject.requirements}",
        "",
    )
    labels = ("module", f"priority-{subject.priority}", "status-todo")
    return NewIssue(f"[Module] {name}"[:_LONGEST_TITLE], "\n".join(lines), labels)


def _checkboxes(criteria: str) -> Iterable[str]:
    """One checkbox for the criterion; its further lines are indented below it."""
    first, *rest = criteria.splitlines() or [""]
    return (f"- [ ] {first}", *(f"  {line}".rstrip() for line in rest))


def _require_success(what: str, result: ProcessResult) -> None:
    match result.ended:
        case ExitKind.TIMED_OUT:
            raise NoAnswer(what, "did not answer in time")
        case ExitKind.TOO_MUCH:
            raise NoAnswer(what, "wrote too much output")
        case ExitKind.EXITED:
            pass
    message = _short(result.errors) or _short(result.output) or f"exit code {result.code}"
    if result.code == _NEEDS_LOGIN or (result.code and "gh auth login" in message):
        raise NotLoggedIn(message)
    if result.code:
        raise ProgramRefused(what, message)


def _unknown_label(result: ProcessResult, labels: tuple[str, ...]) -> str:
    """The label because of which gh refused to create the issue."""
    match = _UNKNOWN_LABEL.search(_text(result.errors)) if result.code > 0 else None
    return match[1] if match and match[1] in labels else ""


def _issue(entry: dict[str, object]) -> tuple[int, str, datetime]:
    number, created = entry["number"], entry.get("createdAt")
    if not isinstance(number, int):
        raise TypeError(number)
    at = datetime.fromisoformat(created) if isinstance(created, str) else _UNDATED
    return number, str(entry.get("body") or ""), at if at.tzinfo else at.replace(tzinfo=UTC)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def _short(output: bytes) -> str:
    return " ".join(_text(output).split())[:_LONGEST_MESSAGE]
