"""`phase discuss`: what is open is compared and decided, and the context says who chose what."""

from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.model import JobStatus
from fairlead.store.files import Files
from fairlead.workflows.context_document import read_context
from fairlead.workflows.discuss import PhaseDiscussion, read_advice, read_analysis
from fairlead.workflows.errors import ArtefactFault, ContextThere
from fairlead.workflows.phase_documents import PhaseDocuments
from tests.support.repositories import a_repository, git, written
from tests.support.roles import Answer, Play, Player, Stage
from tests.workflows.test_plan import PLANNING, ROADMAP, STATE

SCORES = {"fit": 4, "simplicity": 3, "risk": 4, "reversibility": 5}


def area(name: str) -> dict[str, object]:
    area = {"question": f"How about {name}?", "assumption": "as before", "why": "README.md:1"}
    return {"name": name, **area, "if_wrong": "more work", "confidence": "likely"}


def analyses(*names: str) -> Play:
    answer = {"boundary": "the thing", "areas": [area(name) for name in names], "insights": ["a"]}
    return lambda _order, _call: answer


def advises(_: AgentCall, __: int) -> Answer:
    options = [
        {"name": "rich", "pros": "more", "cons": "slow", "scores": {**SCORES, "fit": 5}},
        {"name": "plain", "pros": "quick", "cons": "less", "scores": SCORES},
    ]
    return {"options": options, "recommended": "plain", "rationale": "it is enough"}


def new_stage(tmp_path: Path, *names: str, advisor: Play = advises) -> Stage:
    files = {".planning/STATE.md": STATE, ".planning/ROADMAP.md": ROADMAP, "README.md": "x\n"}
    plays = {"assumptions-analyzer": analyses(*names), "advisor-researcher": advisor}
    return Stage(a_repository(tmp_path / "project", files), Player(plays))


def discussion(stage: Stage) -> PhaseDiscussion:
    return PhaseDiscussion(stage.jobs, PhaseDocuments(Files(str(stage.project)), stage.clock))


def context_of(stage: Stage) -> str:
    return (stage.project / PLANNING / "01-CONTEXT.md").read_text("utf-8")


def test_a_policy_takes_the_recommended_option(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage", "Errors")

    report = discussion(stage).carry_out("1", stage.setup)

    assert report.job.status is JobStatus.DONE
    decided = read_context("c", context_of(stage)).decisions
    assert [(each.id, each.text) for each in decided] == [
        ("D-01", "Storage: plain"),
        ("D-02", "Errors: plain"),
    ]
    assert "| plain | quick | less | 16/20 | ✓ |" in context_of(stage)


def test_each_area_gets_an_advisor(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage", "Errors", "Names")

    discussion(stage).carry_out("1", stage.setup)

    assert len(stage.agent.asked("advisor-researcher")) == 3


def test_a_person_may_choose_another_option_or_their_own(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage", "Errors")
    stage.is_auto = False
    stage.answers = {"choice-area-storage": "rich", "choice-area-errors": "other: none at all"}

    discussion(stage).carry_out("1", stage.setup)

    decided = read_context("c", context_of(stage)).decisions
    assert [each.text for each in decided] == ["Storage: rich", "Errors: none at all"]
    assert "chosen by person" in context_of(stage)


def test_a_discussion_waits_for_answers_and_asks_no_role_twice(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage")
    stage.is_auto = False

    waiting = discussion(stage).carry_out("1", stage.setup)
    stage.answers = {"choice-area-storage": "plain"}
    done = discussion(stage).carry_out("1", stage.setup)

    assert (waiting.job.status, done.job.status) == (JobStatus.BLOCKED, JobStatus.DONE)
    assert len(stage.agent.orders) == 2
    assert waiting.job.id == done.job.id


def test_without_advice_the_assumption_is_the_only_option(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage", advisor=lambda _order, _call: "no idea")

    discussion(stage).carry_out("1", stage.setup)

    assert "- **D-01:** Storage: as before" in context_of(stage)


def test_after_a_discussion_the_next_step_is_planning_and_all_is_committed(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage")

    discussion(stage).carry_out("1", stage.setup)

    state = (stage.project / ".planning/STATE.md").read_text("utf-8")
    assert "next_action: plan-phase" in state
    assert "active_phase: null" in state
    assert git(stage.project, "status", "--porcelain") == ""


def test_a_discussed_phase_is_repeated_only_on_request(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage")
    discussion(stage).carry_out("1", stage.setup)

    with pytest.raises(ContextThere):
        discussion(stage).preview("1", {}, again=False)
    assert discussion(stage).preview("1", {}, again=True).phase == "1"


OPTION = {"name": "a", "scores": SCORES}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"options": [OPTION], "recommended": "a"}, "two options"),
        ({"options": [OPTION, OPTION], "recommended": "a"}, "different name"),
        ({"options": [OPTION, {**OPTION, "name": "b"}], "recommended": "c"}, "not an option"),
        ({"options": [OPTION, {"name": "b", "scores": {"fit": 9}}], "recommended": "a"}, "scores"),
        ({"options": ["a", "b"], "recommended": "a"}, "options\\[0\\]"),
    ],
)
def test_inconsistent_advice_is_refused(answer: dict[str, object], reason: str):
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
def test_an_incomplete_analysis_is_refused(answer: dict[str, object], reason: str):
    with pytest.raises(ArtefactFault, match=reason):
        read_analysis(answer)


def test_areas_in_any_script_get_separate_questions(tmp_path: Path):
    stage = new_stage(tmp_path, "存储", "错误")
    stage.is_auto = False
    stage.answers = {"choice-area--1": "rich", "choice-area--2": "plain"}

    discussion(stage).carry_out("1", stage.setup)

    decided = [each.text for each in read_context("c", context_of(stage)).decisions]
    assert decided == ["存储: rich", "错误: plain"]


def test_a_choice_of_a_person_stays_theirs_when_a_policy_finishes(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage", "Errors")
    stage.is_auto = False
    stage.answers = {"choice-area-storage": "rich"}
    discussion(stage).carry_out("1", stage.setup)
    stage.is_auto = True

    discussion(stage).carry_out("1", stage.setup)

    assert context_of(stage).count("chosen by person") == 1


def test_a_replaced_context_is_kept_and_the_file_name_stays(tmp_path: Path):
    stage = new_stage(tmp_path, "Storage")
    mine = "# Phase 1: Work - Context\n\n<decisions>\n\n- **D-01:** mine\n\n</decisions>\n"
    written(stage.project / PLANNING / "CONTEXT.md", mine)

    report = discussion(stage).carry_out("1", stage.setup)

    kept = report.job.note.partition("version: ")[2]
    assert (stage.project / kept).read_text("utf-8") == mine
    assert [each.name for each in (stage.project / PLANNING).iterdir()] == ["CONTEXT.md"]
