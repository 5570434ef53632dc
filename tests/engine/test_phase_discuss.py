"""`phase discuss`: what is open is compared and decided, and the context says who chose what."""

from pathlib import Path

import pytest

from fairlead.engine.phase_discuss import PhaseDiscussion
from fairlead.engine.phase_documents import PhaseDocuments
from fairlead.errors import ArtefactFault, ContextThere
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.records.advice import read_advice, read_analysis
from fairlead.records.context import read_context
from fairlead.store.files import Files
from tests.engine.test_phase_plan import PLANNING, ROADMAP, STATE
from tests.support.repositories import a_repository, git, written
from tests.support.roles import Answer, Play, Player, Stage

SCORES = {"fit": 4, "simplicity": 3, "risk": 4, "reversibility": 5}


def area(name: str) -> dict[str, object]:
    told = {"question": f"How about {name}?", "assumption": "as before", "why": "README.md:1"}
    return {"name": name, **told, "if_wrong": "more work", "confidence": "likely"}


def analyses(*names: str) -> Play:
    answer = {"boundary": "the thing", "areas": [area(name) for name in names], "insights": ["a"]}
    return lambda _order, _call: answer


def advises(_: Order, __: int) -> Answer:
    options = [
        {"name": "rich", "pros": "more", "cons": "slow", "scores": {**SCORES, "fit": 5}},
        {"name": "plain", "pros": "quick", "cons": "less", "scores": SCORES},
    ]
    return {"options": options, "recommended": "plain", "rationale": "it is enough"}


def stage(tmp_path: Path, *names: str, advisor: Play = advises) -> Stage:
    files = {".planning/STATE.md": STATE, ".planning/ROADMAP.md": ROADMAP, "README.md": "x\n"}
    plays = {"assumptions-analyzer": analyses(*names), "advisor-researcher": advisor}
    return Stage(a_repository(tmp_path / "project", files), Player(plays))


def discussion(held: Stage) -> PhaseDiscussion:
    return PhaseDiscussion(held.jobs, PhaseDocuments(Files(str(held.project)), held.clock))


def context_of(held: Stage) -> str:
    return (held.project / PLANNING / "01-CONTEXT.md").read_text("utf-8")


def test_the_recommended_way_is_taken_where_nobody_is_to_be_asked(tmp_path: Path):
    held = stage(tmp_path, "Storage", "Errors")

    report = discussion(held).carry_out("1", held.company)

    assert report.job.status is JobStatus.DONE
    decided = read_context("c", context_of(held)).decisions
    assert [(each.id, each.text) for each in decided] == [
        ("D-01", "Storage: plain"),
        ("D-02", "Errors: plain"),
    ]
    assert "| plain | quick | less | 16/20 | ✓ |" in context_of(held)


def test_each_area_has_its_advisor(tmp_path: Path):
    held = stage(tmp_path, "Storage", "Errors", "Names")

    discussion(held).carry_out("1", held.company)

    assert len(held.agent.asked("advisor-researcher")) == 3


def test_a_person_may_take_another_way_or_their_own(tmp_path: Path):
    held = stage(tmp_path, "Storage", "Errors")
    held.is_auto = False
    held.answers = {"choice-area-storage": "rich", "choice-area-errors": "other: none at all"}

    discussion(held).carry_out("1", held.company)

    decided = read_context("c", context_of(held)).decisions
    assert [each.text for each in decided] == ["Storage: rich", "Errors: none at all"]
    assert "chosen by person" in context_of(held)


def test_without_a_person_it_waits_and_nothing_is_asked_twice_when_it_goes_on(tmp_path: Path):
    held = stage(tmp_path, "Storage")
    held.is_auto = False

    waiting = discussion(held).carry_out("1", held.company)
    held.answers = {"choice-area-storage": "plain"}
    done = discussion(held).carry_out("1", held.company)

    assert (waiting.job.status, done.job.status) == (JobStatus.BLOCKED, JobStatus.DONE)
    assert len(held.agent.orders) == 2
    assert waiting.job.id == done.job.id


def test_where_no_advisor_answers_the_assumption_is_what_can_be_chosen(tmp_path: Path):
    held = stage(tmp_path, "Storage", advisor=lambda _order, _call: "no idea")

    discussion(held).carry_out("1", held.company)

    assert "- **D-01:** Storage: as before" in context_of(held)


def test_afterwards_the_phase_wants_to_be_planned_and_git_has_it(tmp_path: Path):
    held = stage(tmp_path, "Storage")

    discussion(held).carry_out("1", held.company)

    state = (held.project / ".planning/STATE.md").read_text("utf-8")
    assert "next_action: plan-phase" in state
    assert "active_phase: null" in state
    assert git(held.project, "status", "--porcelain") == ""


def test_a_phase_that_was_discussed_is_not_discussed_again_unasked(tmp_path: Path):
    held = stage(tmp_path, "Storage")
    discussion(held).carry_out("1", held.company)

    with pytest.raises(ContextThere):
        discussion(held).preview("1", {}, again=False)
    assert discussion(held).preview("1", {}, again=True).phase == "1"


OPTION = {"name": "a", "scores": SCORES}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"options": [OPTION], "recommended": "a"}, "two options"),
        ({"options": [OPTION, OPTION], "recommended": "a"}, "name of its own"),
        ({"options": [OPTION, {**OPTION, "name": "b"}], "recommended": "c"}, "no option"),
        ({"options": [OPTION, {"name": "b", "scores": {"fit": 9}}], "recommended": "a"}, "scores"),
        ({"options": ["a", "b"], "recommended": "a"}, "list of maps"),
    ],
)
def test_advice_that_does_not_fit_together_is_refused(answer: dict[str, object], reason: str):
    with pytest.raises(ArtefactFault, match=reason):
        read_advice(answer)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "one to 5 areas"),
        ({"areas": [{"name": "a"}]}, "no question"),
        ({"areas": [area("a"), area("A")]}, "same name"),
        ({"areas": [area(str(at)) for at in range(9)]}, "there are 9"),
    ],
)
def test_an_analysis_that_leaves_something_out_is_refused(answer: dict[str, object], reason: str):
    with pytest.raises(ArtefactFault, match=reason):
        read_analysis(answer)


def test_areas_in_any_script_are_questions_of_their_own(tmp_path: Path):
    held = stage(tmp_path, "存储", "错误")
    held.is_auto = False
    held.answers = {"choice-area--1": "rich", "choice-area--2": "plain"}

    discussion(held).carry_out("1", held.company)

    decided = [each.text for each in read_context("c", context_of(held)).decisions]
    assert decided == ["存储: rich", "错误: plain"]


def test_what_a_person_chose_stays_theirs_when_a_policy_ends_the_discussion(tmp_path: Path):
    held = stage(tmp_path, "Storage", "Errors")
    held.is_auto = False
    held.answers = {"choice-area-storage": "rich"}
    discussion(held).carry_out("1", held.company)
    held.is_auto = True

    discussion(held).carry_out("1", held.company)

    assert context_of(held).count("chosen by person") == 1


def test_a_context_that_is_replaced_is_kept_and_keeps_its_name(tmp_path: Path):
    held = stage(tmp_path, "Storage")
    mine = "# Phase 1: Work - Context\n\n<decisions>\n\n- **D-01:** mine\n\n</decisions>\n"
    written(held.project / PLANNING / "CONTEXT.md", mine)

    report = discussion(held).carry_out("1", held.company)

    kept = report.job.note.partition("before: ")[2]
    assert (held.project / kept).read_text("utf-8") == mine
    assert [each.name for each in (held.project / PLANNING).iterdir()] == ["CONTEXT.md"]
