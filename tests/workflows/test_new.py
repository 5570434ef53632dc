"""`new`: an idea becomes a project in one step, or nothing of it does."""

import json
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.model import JobStatus
from fairlead.project.errors import ProjectExists
from fairlead.workflows.errors import ArtefactFault, NoIdea
from fairlead.workflows.new import NewProjects
from fairlead.workflows.new_documents import read_new_roadmap, read_product, read_vision
from tests.support.repositories import a_repository, git, written
from tests.support.roles import Answer, Play, Player, Stage

VISION = {
    "title": "Tracker",
    "what_this_is": "A tracker.",
    "core_value": "Tickets are found",
    "questions": [{"topic": "users", "question": "Who?", "options": ["one", "many"]}],
}
PRODUCT = {
    "what_this_is": "A tracker.",
    "core_value": "Tickets are found",
    "requirements": [
        {
            "id": "TRACKER-01",
            "category": "Tracker",
            "text": "A user can file a ticket",
            "when": "v1",
        },
        {"id": "FIND-01", "category": "Find", "text": "A user can find it", "when": "v1"},
        {"id": "FIND-02", "category": "Find", "text": "A user can sort", "when": "v2"},
    ],
    "out_of_scope": [{"feature": "Chat", "reason": "not needed"}],
}


def roadmap(*phases: tuple[str, str], risk: str = "LOW - small", depends: str = "") -> str:
    lines = ["# Roadmap: Tracker", "", "## Phases", ""]
    lines += [f"- [ ] **Phase {at}: P{at}** - x" for at, _ in phases]
    lines += ["", "## Phase Details", ""]
    for at, ids in phases:
        lines += [f"### Phase {at}: P{at}", "", "**Goal**: it works", f"**Depends on**: {depends}"]
        lines += [f"**Requirements**: [{ids}]", f"**Risk**: {risk}"]
        lines += ["**Success Criteria** (what must be TRUE):", "", "  1. It works", ""]
        lines += ["**Plans**: TBD", ""]
    return "\n".join(lines)


GOOD = roadmap(("1", "TRACKER-01"), ("2", "FIND-01"))
PARTS = {
    "STACK": ["Recommended Stack"],
    "FEATURES": ["Table Stakes"],
    "ARCHITECTURE": ["Recommended Architecture"],
    "PITFALLS": ["Critical Pitfalls"],
    "SUMMARY": ["Executive Summary", "Key Findings", "Implications for Roadmap"],
}


def product_manager(order: AgentCall, _: int) -> Answer:
    return VISION if "pm · questions" in order.prompt else PRODUCT


def researches(order: AgentCall, _: int) -> Answer:
    for kind, parts in PARTS.items():
        if f"fairlead-output/{kind}.md" in order.prompt:
            text = "# T\n\n" + "".join(f"## {each}\n\nthree good words\n\n" for each in parts)
            written(Path(order.folder) / "fairlead-output" / f"{kind}.md", text)
    return {"status": "done"}


def maps(*texts: str) -> Play:
    def play(order: AgentCall, count: int) -> Answer:
        text = texts[min(count, len(texts)) - 1]
        written(Path(order.folder) / "fairlead-output" / "ROADMAP.md", text)
        return {"status": "done"}

    return play


def new_stage(tmp_path: Path, *, is_git: bool = False, **plays: Play) -> Stage:
    usual: dict[str, Play] = {
        "pm": product_manager,
        "project-researcher": researches,
        "research-synthesizer": researches,
        "roadmapper": maps(GOOD),
    }
    project = tmp_path / "project"
    if is_git:
        a_repository(project, {"README.md": "x\n"})
    else:
        written(project / "README.md", "x\n")
    return Stage(project, Player({**usual, **plays}))


def test_a_new_project_gets_all_documents(tmp_path: Path):
    stage = new_stage(tmp_path, is_git=True)

    report = NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    assert report.job.status is JobStatus.DONE
    made = {
        path.relative_to(stage.project / ".planning").as_posix() for path in report_files(stage)
    }
    assert made >= {
        "PROJECT.md",
        "REQUIREMENTS.md",
        "ROADMAP.md",
        "STATE.md",
        "config.json",
        *(f"research/{each}.md" for each in PARTS),
    }
    assert "| FIND-01 | Phase 2 | Pending |" in text_of(stage, "REQUIREMENTS.md")
    assert "Phase: 1 of 2 (P1)" in text_of(stage, "STATE.md")
    assert "next_action: discuss-phase" in text_of(stage, "STATE.md")
    assert git(stage.project, "status", "--porcelain") == ""


def test_existing_code_is_mapped_and_described_to_the_roles(tmp_path: Path):
    stage = new_stage(tmp_path)
    written(stage.project / "tracker/__main__.py", "print('tracker')\n")
    written(stage.project / "pyproject.toml", 'dependencies = ["click"]\n')

    NewProjects(stage.jobs).carry_out("a better tracker", stage.setup)

    prompts = [order.prompt for order in stage.agent.orders if order.role != "research-synthesizer"]
    informed = [each for each in prompts if "tracker/__main__.py" in each]
    assert len(informed) == len(prompts) - 1  # the roadmapper goes by the requirements
    assert "- Python: 1 files" in text_of(stage, "codebase/STACK.md")
    assert "`tracker/__main__.py`" in text_of(stage, "codebase/STRUCTURE.md")


def report_files(stage: Stage) -> list[Path]:
    return [path for path in (stage.project / ".planning").rglob("*") if path.is_file()]


def text_of(stage: Stage, name: str) -> str:
    return (stage.project / ".planning" / name).read_text("utf-8")


def test_four_researchers_get_the_answers_of_the_person(tmp_path: Path):
    stage = new_stage(tmp_path)

    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    asked = [order.prompt for order in stage.agent.asked("project-researcher")]
    assert len(asked) == 4
    assert all("Who? one" in each for each in asked)


def test_nothing_is_written_until_a_person_agrees(tmp_path: Path):
    stage = new_stage(tmp_path)
    stage.is_auto = False
    stage.answers = {"choice-topic-1": "many"}

    report = NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    assert report.job.status is JobStatus.BLOCKED
    assert not (stage.project / ".planning/PROJECT.md").exists()


def test_resuming_needs_no_idea_and_asks_nothing_twice(tmp_path: Path):
    stage = new_stage(tmp_path)
    stage.is_auto = False
    stage.answers = {"choice-topic-1": "many"}
    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)
    count = len(stage.agent.orders)
    stage.answers = {"choice-requirements-1": "agree", "choice-roadmap-1": "agree"}

    report = NewProjects(stage.jobs).carry_out("", stage.setup)

    assert report.job.status is JobStatus.DONE
    assert [each.role for each in stage.agent.orders[count:]] == ["roadmapper"]


def test_a_requested_change_reaches_the_product_manager(tmp_path: Path):
    stage = new_stage(tmp_path)
    stage.is_auto = False
    stage.answers = {
        "choice-topic-1": "one",
        "choice-requirements-1": "change: no tickets",
        "choice-requirements-2": "agree",
        "choice-roadmap-1": "agree",
    }

    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    assert "no tickets" in stage.agent.asked("pm")[-1].prompt


def test_a_roadmap_without_a_requirement_is_asked_for_again(tmp_path: Path):
    stage = new_stage(tmp_path, roadmapper=maps(roadmap(("1", "TRACKER-01")), GOOD))

    report = NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    assert report.job.status is JobStatus.DONE
    assert "no phase has FIND-01" in stage.agent.asked("roadmapper")[1].prompt


def test_an_existing_project_is_never_created_again(tmp_path: Path):
    stage = new_stage(tmp_path)
    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    with pytest.raises(ProjectExists):
        NewProjects(stage.jobs).preview("another", {})


def test_a_project_without_an_idea_is_refused(tmp_path: Path):
    with pytest.raises(NoIdea):
        NewProjects(new_stage(tmp_path).jobs).preview("", {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (roadmap(("1", "TRACKER-01"), ("2", "TRACKER-01, FIND-01")), "in phase 1 and in phase 2"),
        (roadmap(("1", "TRACKER-01, FIND-01, ELSE-01")), "ELSE-01"),
        (roadmap(("2", "TRACKER-01"), ("3", "FIND-01")), "numbered from 1"),
        (roadmap(("1", "TRACKER-01"), ("2", "FIND-01"), risk="some"), "Risk"),
        (roadmap(("1", "TRACKER-01"), ("2", "FIND-01"), depends="Phase 2"), "depends on phase 2"),
        (GOOD.replace("  1. It works\n", ""), "Success Criteria"),
        (GOOD.replace("- [ ] **Phase 2: P2** - x", ""), "in the list"),
        ("# Roadmap\n", "no phase"),
    ],
)
def test_an_incomplete_roadmap_is_refused_with_its_place(text: str, reason: str):
    with pytest.raises(ArtefactFault, match=reason) as caught:
        read_new_roadmap("ROADMAP.md", text, ("TRACKER-01", "FIND-01"), 1)

    assert str(caught.value).startswith("ROADMAP.md:")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"requirements": []}, "v1"),
        ({"requirements": [PRODUCT["requirements"][0]] * 2}, "TRACKER-01"),
        ({"requirements": [{"id": "tracker 1", "text": "x", "when": "v1"}]}, "AUTH-01"),
        ({"core_value": ""}, "core_value"),
    ],
)
def test_requirements_that_cannot_be_traced_are_refused(change: dict[str, object], reason: str):
    with pytest.raises(ArtefactFault, match=reason):
        read_product({**PRODUCT, **change}, "Tracker")


def test_more_than_five_questions_are_refused():
    topics = VISION["questions"] * 6  # type: ignore[operator]

    with pytest.raises(ArtefactFault, match="at most 5"):
        read_vision({**VISION, "questions": topics})


def test_questions_in_any_script_stay_separate(tmp_path: Path):
    topics = [
        {"topic": name, "question": f"{name}?", "options": ["甲", "乙"]}
        for name in ("用户", "存储")
    ]
    vision = {**VISION, "questions": topics}
    stage = new_stage(
        tmp_path, pm=lambda order, _: vision if "pm · questions" in order.prompt else PRODUCT
    )
    stage.is_auto = False
    stage.answers = {"choice-topic-1": "甲", "choice-topic-2": "乙"}

    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)

    prompt = stage.agent.asked("project-researcher")[0].prompt
    assert ("用户? 甲" in prompt, "存储? 乙" in prompt) == (True, True)


def test_agreement_holds_only_for_the_same_requirements(tmp_path: Path):
    stage = new_stage(tmp_path)
    stage.is_auto = False
    stage.answers = {"choice-topic-1": "one", "choice-requirements-1": "agree"}
    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)
    shout = {"id": "TRACKER-01", "category": "Tracker", "text": "A user can shout", "when": "v1"}
    stage.agent.plays = {
        **stage.agent.plays,
        "pm": lambda order, _: (
            VISION if "pm · questions" in order.prompt else {**PRODUCT, "requirements": [shout]}
        ),
    }
    stage.answers = {}

    report = NewProjects(stage.jobs).carry_out("something else", stage.setup)

    (waits,) = (each for each in report.questions if each.subject == "requirements-1")
    assert (waits.answer, "A user can shout" in waits.text) == ("", True)


def test_answers_are_reused_after_another_role_failed(tmp_path: Path):
    stage = new_stage(tmp_path, roadmapper=maps("# Nothing\n", "# Nothing\n", GOOD))
    failed = NewProjects(stage.jobs).carry_out("a tracker", stage.setup)
    count = len(stage.agent.orders)

    done = NewProjects(stage.jobs).carry_out("", stage.setup)

    assert (failed.job.status, done.job.status) == (JobStatus.FAILED, JobStatus.DONE)
    assert [each.role for each in stage.agent.orders[count:]] == ["roadmapper"]


def test_skipped_research_of_a_new_project_is_not_paid_again(tmp_path: Path):
    def silent(order: AgentCall, count: int) -> Answer:
        return "no idea" if "fairlead-output/STACK.md" in order.prompt else researches(order, count)

    stage = new_stage(tmp_path)
    stage.agent.plays = {**stage.agent.plays, "project-researcher": silent}
    stage.is_auto = False
    stage.answers = {"choice-topic-1": "one"}
    NewProjects(stage.jobs).carry_out("a tracker", stage.setup)
    count = len(stage.agent.asked("project-researcher"))
    stage.answers = {"choice-research": "continue"}
    NewProjects(stage.jobs).carry_out("", stage.setup)
    stage.answers = {"choice-requirements-1": "agree", "choice-roadmap-1": "agree"}

    done = NewProjects(stage.jobs).carry_out("", stage.setup)

    assert done.job.status is JobStatus.DONE
    assert len(stage.agent.asked("project-researcher")) == count + 2  # when the question was open


def test_existing_settings_and_code_maps_stay(tmp_path: Path):
    stage = new_stage(tmp_path)
    written(stage.project / "tracker/__main__.py", "print('tracker')\n")
    written(stage.project / ".planning/config.json", '{\n  "mine": 1\n}\n')
    written(stage.project / ".planning/codebase/STACK.md", "# My own map\n")

    report = NewProjects(stage.jobs, "fine").carry_out("a tracker", stage.setup)

    assert report.job.status is JobStatus.DONE
    config = json.loads(text_of(stage, "config.json"))
    assert (config["mine"], config["granularity"]) == (1, "fine")
    assert text_of(stage, "codebase/STACK.md") == "# My own map\n"


def test_existing_research_is_reported_before_anything_is_spent(tmp_path: Path):
    stage = new_stage(tmp_path)
    written(stage.project / ".planning/research/PITFALLS.md", "# Mine\n")

    with pytest.raises(ProjectExists, match="PITFALLS"):
        NewProjects(stage.jobs).preview("a tracker", {})
