"""GitHub's issues, through the program `gh`: the person's own login, and no token in our hands.

Issues are found again in a listing, never by search: the index behind a search is minutes late,
and a listing with a label filter is such a search. Texts go in through standard input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from fairlead.adapters.process import Ended, Finished, Limits, program, run, surroundings
from fairlead.errors import NoAnswer, NoProgram, NotLoggedIn, OddAnswer, ProgramRefused
from fairlead.model.issue import Issue, MadeIssue, marker_in

_PASSED_ON = """PATH HOME USER LANG LC_ALL TMPDIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    XDG_CACHE_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS GH_TOKEN GITHUB_TOKEN GH_HOST GH_REPO
    GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN GH_CONFIG_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY
    http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR""".split()
_NEEDS_LOGIN = 4  # what gh exits with
_PAGES = (100, 1000, 10_000)  # how far back a listing goes, until it reaches the time asked for
_SKEW = timedelta(days=1)  # clocks differ
_UNDATED = datetime.max.replace(tzinfo=UTC)
_LIST_BYTES = 64 << 20
_LONGEST_SAID = 300
_URL = re.compile(r"/issues/(\d+)\s*$")
_UNKNOWN_LABEL = re.compile(r"label: '([^']*)' not found")


class GitHub:
    """The issues of the repository that a folder belongs to."""

    def __init__(self, folder: str, *, seconds: float) -> None:
        self._folder = folder
        self._wall = timedelta(seconds=seconds)

    def marked(self, since: datetime) -> Mapping[str, int]:
        """The issues that carry a marker of ours and were made since then, by marker."""
        found: list[tuple[int, str, datetime]] = []
        for most in _PAGES:
            found = self._listed(most)
            if len(found) < most or min(made for _, _, made in found) < since - _SKEW:
                break
        else:
            raise OddAnswer("gh issue list", f"{len(found)} issues, all newer than the plan")
        marked = ((marker_in(text), number) for number, text, _ in found)
        # Newest first: of two with one marker, the older one is the one to keep.
        return {marker: number for marker, number in marked if marker}

    def make(self, issue: Issue, *, held: int) -> MadeIssue:
        """Make an issue; a label that the repository does not have is left out, and named."""
        labels = issue.labels
        notes: tuple[str, ...] = ()
        while True:
            words = ["issue", "create", "--title", issue.title, "--body-file", "-"]
            words += [word for label in labels for word in ("--label", label)]
            done = self._asked(words, stdin=issue.text.encode(), held=(held,))
            unknown = _unknown_label(done, labels)
            if not unknown:
                break
            labels = tuple(label for label in labels if label != unknown)
            notes = (*notes, f"the repository has no label {unknown}; it was left out")
        _require_done("gh issue create", done)
        url = _URL.search(_text(done.output).rstrip())
        if url is None:
            raise OddAnswer("gh issue create", _short(done.output))
        return MadeIssue(int(url[1]), notes)

    def _listed(self, most: int) -> list[tuple[int, str, datetime]]:
        words = ["issue", "list", "--state", "all", "--limit", str(most)]
        done = self._asked([*words, "--json", "number,body,createdAt"], output=_LIST_BYTES)
        _require_done("gh issue list", done)
        try:
            return [_row(each) for each in json.loads(done.output or b"[]")]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise OddAnswer("gh issue list", _short(done.output)) from error

    def _asked(
        self,
        words: list[str],
        *,
        stdin: bytes = b"",
        held: tuple[int, ...] = (),
        output: int = 1 << 20,
    ) -> Finished:
        try:
            gh = program("gh")
        except NoProgram as missing:
            raise NoProgram("gh", "approve without issues: --skip-issues") from missing
        quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
        return run(
            [gh, *words],
            folder=self._folder,
            environment=surroundings(_PASSED_ON, **quiet),
            limits=Limits(self._wall, output),
            stdin=stdin,
            held=held,
        )


def _require_done(what: str, done: Finished) -> None:
    match done.ended:
        case Ended.TIMED_OUT:
            raise NoAnswer(what, "did not answer in time")
        case Ended.TOO_MUCH:
            raise NoAnswer(what, "said more than it may")
        case Ended.EXITED:
            pass
    said = _short(done.errors) or _short(done.output) or f"exit code {done.code}"
    if done.code == _NEEDS_LOGIN or (done.code and "gh auth login" in said):
        raise NotLoggedIn(said)
    if done.code:
        raise ProgramRefused(what, said)


def _unknown_label(done: Finished, labels: tuple[str, ...]) -> str:
    """The label over which gh refused, before it made anything."""
    found = _UNKNOWN_LABEL.search(_text(done.errors)) if done.code > 0 else None
    return found[1] if found and found[1] in labels else ""


def _row(each: dict[str, object]) -> tuple[int, str, datetime]:
    number, made = each["number"], each.get("createdAt")
    if not isinstance(number, int):
        raise TypeError(number)
    at = datetime.fromisoformat(made) if isinstance(made, str) else _UNDATED
    return number, str(each.get("body") or ""), at if at.tzinfo else at.replace(tzinfo=UTC)


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")


def _short(said: bytes) -> str:
    return " ".join(_text(said).split())[:_LONGEST_SAID]
