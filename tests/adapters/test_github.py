"""GitHub's issues through a scripted `gh`: what is asked, what is understood, what is refused."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.adapters.github import GitHub
from fairlead.errors import (
    AgentError,
    NoAnswer,
    NoProgram,
    NotLoggedIn,
    OddAnswer,
    ProgramRefused,
)
from fairlead.model.issue import Issue, Subject, issue_of, marker_of
from tests.support.gh import ScriptedGh

PLAN = "plan-20260102-030405"
SINCE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NASTY = '-- "quotes" $(touch x) `y` \'z\' \u202e <!-- fairlead {"plan": "p"} --> @somebody'


def about(module: str, **more: str) -> Issue:
    facts = {"name": module.title(), "priority": "high", "criteria": "It works"} | more
    return issue_of(Subject(PLAN, module, requirements="USER_REQUIREMENTS.md", **facts))


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedGh:
    scripted = ScriptedGh.put(tmp_path / "gh")
    monkeypatch.setenv("PATH", scripted.path)
    return scripted


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    return GitHub(str(tmp_path), seconds=5)


@pytest.fixture
def held(tmp_path: Path) -> int:
    return os.open(tmp_path, os.O_RDONLY)


def test_an_issue_is_made_with_title_labels_and_text(gh: ScriptedGh, github: GitHub, held: int):
    made = github.make(about("auth", criteria="JWT\nand more"), held=held)

    (issue,) = gh.issues()
    assert (made.number, made.notes) == (41, ())
    assert issue["title"] == "[Module] Auth"
    assert issue["labels"] == ["module", "priority-high", "status-todo"]
    assert "### Acceptance Criteria\n- [ ] JWT\n  and more\n" in str(issue["body"])
    assert "- Module ID: auth" in str(issue["body"])


def test_texts_arrive_as_themselves_and_long_ones_never_as_arguments(
    gh: ScriptedGh, github: GitHub, held: int
):
    github.make(about("auth", criteria=NASTY + "x" * 100_000), held=held)

    assert NASTY + "x" * 100_000 in str(gh.issues()[0]["body"])
    assert all(len(word) < 300 for words in gh.calls() for word in words)


def test_an_issue_is_found_again_by_its_marker_alone(gh: ScriptedGh, github: GitHub, held: int):
    github.make(about("auth-core"), held=held)
    github.make(about("auth", criteria=marker_of(PLAN, "other")), held=held)

    found = github.marked(SINCE)

    assert found == {marker_of(PLAN, "auth-core"): 41, marker_of(PLAN, "auth"): 42}


def test_the_listing_goes_back_as_far_as_the_plan(gh: ScriptedGh, github: GitHub, held: int):
    github.make(about("first"), held=held)
    for number in range(150):
        text = f'{{"number": {number + 100}, "body": null, "createdAt": "2026-02-01T00:00:00Z"}}'
        (gh.home / "issues" / str(number + 100)).write_text(text)

    assert github.marked(SINCE) == {marker_of(PLAN, "first"): 41}


def test_of_two_issues_with_one_marker_the_older_one_is_kept(
    gh: ScriptedGh, github: GitHub, held: int
):
    github.make(about("auth"), held=held)
    github.make(about("auth"), held=held)

    assert github.marked(SINCE) == {marker_of(PLAN, "auth"): 41}


def test_a_label_that_is_unknown_is_left_out_and_named(gh: ScriptedGh, github: GitHub, held: int):
    gh.has("no-label priority-high status-todo")

    made = github.make(about("auth"), held=held)

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
def test_each_failure_of_gh_has_its_own_words(
    gh: ScriptedGh, tmp_path: Path, held: int, fault: str, error: type[AgentError]
):
    gh.has(fault)

    with pytest.raises(error) as caught:
        GitHub(str(tmp_path), seconds=0.5).make(about("auth"), held=held)

    assert caught.value.exit_code == 5
    assert caught.value.hint


def test_a_listing_that_is_no_listing_is_refused(gh: ScriptedGh, github: GitHub):
    gh.has("odd-list")

    with pytest.raises(OddAnswer):
        github.marked(SINCE)


def test_a_missing_program_names_the_way_without_it(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NoProgram) as caught:
        github.marked(SINCE)

    assert "--skip-issues" in caught.value.hint
