"""GitHub's issues through a scripted `gh`: what is asked, what is understood, what is refused."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.core.errors import AgentError, NoProgram
from fairlead.vcs.errors import NoAnswer, NotLoggedIn, OddAnswer, ProgramRefused
from fairlead.vcs.github import GitHub, IssueSubject, NewIssue, issue_of, marker_of
from tests.support.gh import ScriptedGh

PLAN = "plan-20260102-030405"
SINCE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NASTY = '-- "quotes" $(touch x) `y` \'z\' \u202e <!-- fairlead {"plan": "p"} --> @somebody'


def about(module: str, **more: str) -> NewIssue:
    facts = {"name": module.title(), "priority": "high", "criteria": "It works"} | more
    return issue_of(IssueSubject(PLAN, module, requirements="USER_REQUIREMENTS.md", **facts))


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedGh:
    scripted = ScriptedGh.put(tmp_path / "gh")
    monkeypatch.setenv("PATH", scripted.path)
    return scripted


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    return GitHub(str(tmp_path), seconds=5)


@pytest.fixture
def lock(tmp_path: Path) -> int:
    return os.open(tmp_path, os.O_RDONLY)


def test_an_issue_is_created_with_title_labels_and_text(gh: ScriptedGh, github: GitHub, lock: int):
    made = github.make(about("auth", criteria="JWT\nand more"), inherited=lock)

    (issue,) = gh.issues()
    assert (made.number, made.notes) == (41, ())
    assert issue["title"] == "[Module] Auth"
    assert issue["labels"] == ["module", "priority-high", "status-todo"]
    assert "### Acceptance Criteria\n- [ ] JWT\n  and more\n" in str(issue["body"])
    assert "- Module ID: auth" in str(issue["body"])


def test_texts_arrive_unchanged_and_not_as_arguments(gh: ScriptedGh, github: GitHub, lock: int):
    github.make(about("auth", criteria=NASTY + "x" * 100_000), inherited=lock)

    assert NASTY + "x" * 100_000 in str(gh.issues()[0]["body"])
    assert all(len(word) < 300 for words in gh.calls() for word in words)


def test_an_issue_is_found_by_its_marker_alone(gh: ScriptedGh, github: GitHub, lock: int):
    github.make(about("auth-core"), inherited=lock)
    github.make(about("auth", criteria=marker_of(PLAN, "other")), inherited=lock)

    found = github.marked(SINCE)

    assert found == {marker_of(PLAN, "auth-core"): 41, marker_of(PLAN, "auth"): 42}


def test_the_listing_reaches_back_to_the_plan(gh: ScriptedGh, github: GitHub, lock: int):
    github.make(about("first"), inherited=lock)
    for number in range(150):
        text = f'{{"number": {number + 100}, "body": null, "createdAt": "2026-02-01T00:00:00Z"}}'
        (gh.home / "issues" / str(number + 100)).write_text(text)

    assert github.marked(SINCE) == {marker_of(PLAN, "first"): 41}


def test_of_two_issues_with_one_marker_the_older_one_counts(
    gh: ScriptedGh, github: GitHub, lock: int
):
    github.make(about("auth"), inherited=lock)
    github.make(about("auth"), inherited=lock)

    assert github.marked(SINCE) == {marker_of(PLAN, "auth"): 41}


def test_an_unknown_label_is_left_out_and_noted(gh: ScriptedGh, github: GitHub, lock: int):
    gh.has("no-label priority-high status-todo")

    made = github.make(about("auth"), inherited=lock)

    assert gh.issues()[0]["labels"] == ["module"]
    assert sorted(made.notes) == [
        "the repository has no label priority-high; it was left out",
        "the repository has no label status-todo; it was left out",
    ]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("not-logged-in", NotLoggedIn),
        ("fails-at 1", ProgramRefused),
        ("silent", OddAnswer),
        ("hangs", NoAnswer),
    ],
)
def test_every_failure_of_gh_has_its_own_error(
    gh: ScriptedGh, tmp_path: Path, lock: int, fault: str, error: type[AgentError]
):
    gh.has(fault)

    with pytest.raises(error) as caught:
        GitHub(str(tmp_path), seconds=0.5).make(about("auth"), inherited=lock)

    assert caught.value.exit_code == 5
    assert caught.value.hint


def test_an_unreadable_listing_is_refused(gh: ScriptedGh, github: GitHub):
    gh.has("odd-list")

    with pytest.raises(OddAnswer):
        github.marked(SINCE)


def test_a_missing_gh_names_the_alternative(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NoProgram) as caught:
        github.marked(SINCE)

    assert "--skip-issues" in caught.value.hint
