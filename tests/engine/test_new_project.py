"""`new`: an idea becomes a project in one step, or nothing of it does."""

import json
from pathlib import Path

import pytest

from fairlead.engine.new_project import NewProjects
from fairlead.errors import ArtefactFault, NoIdea, ProjectExists
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.records.product import read_product, read_vision
from fairlead.records.roadmap_check import whole_roadmap
from tests.support.repositories import a_repository, git, written
from tests.support.roles import Answer, Play, Player, Stage

VISION = {
    "title": "Desk",
    "what_this_is": "A desk.",
    "core_value": "Tickets are found",
    "questions": [{"topic": "users", "question": "Who?", "options": ["one", "many"]}],
}
PRODUCT = {
    "what_this_is": "A desk.",
    "core_value": "Tickets are found",
    "requirements": [
        {"id": "DESK-01", "category": "Desk", "text": "A user can file a ticket", "when": "v1"},
        {"id": "FIND-01", "category": "Find", "text": "A user can find it", "when": "v1"},
        {"id": "FIND-02", "category": "Find", "text": "A user can sort", "when": "v2"},
    ],
    "out_of_scope": [{"feature": "Chat", "reason": "not needed"}],
}


def roadmap(*phases: tuple[str, str], risk: str = "LOW - small", depends: str = "") -> str:
    lines = ["# Roadmap: Desk", "", "## Phases", ""]
    lines += [f"- [ ] **Phase {at}: P{at}** - x" for at, _ in phases]
    lines += ["", "## Phase Details", ""]
    for at, ids in phases:
        lines += [f"### Phase {at}: P{at}", "", "**Goal**: it works", f"**Depends on**: {depends}"]
        lines += [f"**Requirements**: [{ids}]", f"**Risk**: {risk}"]
        lines += ["**Success Criteria** (what must be TRUE):", "", "  1. It works", ""]
        lines += ["**Plans**: TBD", ""]
    return "\n".join(lines)


GOOD = roadmap(("1", "DESK-01"), ("2", "FIND-01"))
PARTS = {
    "STACK": ["Recommended Stack"],
    "FEATURES": ["Table Stakes"],
    "ARCHITECTURE": ["Recommended Architecture"],
    "PITFALLS": ["Critical Pitfalls"],
    "SUMMARY": ["Executive Summary", "Key Findings", "Implications for Roadmap"],
}


def wishes(order: Order, _: int) -> Answer:
    return VISION if "pm · questions" in order.prompt else PRODUCT


def researches(order: Order, _: int) -> Answer:
    for kind, parts in PARTS.items():
        if f"fairlead-output/{kind}.md" in order.prompt:
            text = "# T\n\n" + "".join(f"## {each}\n\nthree good words\n\n" for each in parts)
            written(Path(order.folder) / "fairlead-output" / f"{kind}.md", text)
    return {"status": "done"}


def maps(*texts: str) -> Play:
    def play(order: Order, count: int) -> Answer:
        text = texts[min(count, len(texts)) - 1]
        written(Path(order.folder) / "fairlead-output" / "ROADMAP.md", text)
        return {"status": "done"}

    return play


def stage(tmp_path: Path, *, is_git: bool = False, **plays: Play) -> Stage:
    usual: dict[str, Play] = {
        "pm": wishes,
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


def test_an_idea_becomes_every_document_of_a_project(tmp_path: Path):
    held = stage(tmp_path, is_git=True)

    report = NewProjects(held.jobs).carry_out("a desk", held.company)

    assert report.job.status is JobStatus.DONE
    made = {path.relative_to(held.project / ".planning").as_posix() for path in report_files(held)}
    assert made >= {
        "PROJECT.md",
        "REQUIREMENTS.md",
        "ROADMAP.md",
        "STATE.md",
        "config.json",
        *(f"research/{each}.md" for each in PARTS),
    }
    assert "| FIND-01 | Phase 2 | Pending |" in text_of(held, "REQUIREMENTS.md")
    assert "Phase: 1 of 2 (P1)" in text_of(held, "STATE.md")
    assert "next_action: discuss-phase" in text_of(held, "STATE.md")
    assert git(held.project, "status", "--porcelain") == ""


def test_code_that_is_there_already_is_mapped_and_told_to_everybody_who_plans(tmp_path: Path):
    held = stage(tmp_path)
    written(held.project / "desk/__main__.py", "print('desk')\n")
    written(held.project / "pyproject.toml", 'dependencies = ["click"]\n')

    NewProjects(held.jobs).carry_out("a better desk", held.company)

    prompts = [order.prompt for order in held.agent.orders if order.role != "research-synthesizer"]
    told = [each for each in prompts if "desk/__main__.py" in each]
    assert len(told) == len(prompts) - 1  # the roadmapper goes by the requirements
    assert "- Python: 1 files" in text_of(held, "codebase/STACK.md")
    assert "`desk/__main__.py`" in text_of(held, "codebase/STRUCTURE.md")


def report_files(held: Stage) -> list[Path]:
    return [path for path in (held.project / ".planning").rglob("*") if path.is_file()]


def text_of(held: Stage, name: str) -> str:
    return (held.project / ".planning" / name).read_text("utf-8")


def test_four_researchers_look_in_four_directions(tmp_path: Path):
    held = stage(tmp_path)

    NewProjects(held.jobs).carry_out("a desk", held.company)

    asked = [order.prompt for order in held.agent.asked("project-researcher")]
    assert len(asked) == 4
    assert all("Who? one" in each for each in asked)


def test_until_a_person_agrees_nothing_is_written(tmp_path: Path):
    held = stage(tmp_path)
    held.is_auto = False
    held.answers = {"choice-topic-1": "many"}

    report = NewProjects(held.jobs).carry_out("a desk", held.company)

    assert report.job.status is JobStatus.BLOCKED
    assert not (held.project / ".planning/PROJECT.md").exists()


def test_going_on_needs_no_idea_and_asks_nothing_twice(tmp_path: Path):
    held = stage(tmp_path)
    held.is_auto = False
    held.answers = {"choice-topic-1": "many"}
    NewProjects(held.jobs).carry_out("a desk", held.company)
    count = len(held.agent.orders)
    held.answers = {"choice-requirements-1": "agree", "choice-roadmap-1": "agree"}

    report = NewProjects(held.jobs).carry_out("", held.company)

    assert report.job.status is JobStatus.DONE
    assert [each.role for each in held.agent.orders[count:]] == ["roadmapper"]


def test_what_a_person_wants_changed_reaches_the_product_manager(tmp_path: Path):
    held = stage(tmp_path)
    held.is_auto = False
    held.answers = {
        "choice-topic-1": "one",
        "choice-requirements-1": "change: no tickets",
        "choice-requirements-2": "agree",
        "choice-roadmap-1": "agree",
    }

    NewProjects(held.jobs).carry_out("a desk", held.company)

    assert "no tickets" in held.agent.asked("pm")[-1].prompt


def test_a_roadmap_that_leaves_a_requirement_out_is_made_again(tmp_path: Path):
    held = stage(tmp_path, roadmapper=maps(roadmap(("1", "DESK-01")), GOOD))

    report = NewProjects(held.jobs).carry_out("a desk", held.company)

    assert report.job.status is JobStatus.DONE
    assert "no phase has FIND-01" in held.agent.asked("roadmapper")[1].prompt


def test_a_project_that_is_there_is_never_made_anew(tmp_path: Path):
    held = stage(tmp_path)
    NewProjects(held.jobs).carry_out("a desk", held.company)

    with pytest.raises(ProjectExists):
        NewProjects(held.jobs).preview("another", {})


def test_without_an_idea_there_is_nothing_to_begin(tmp_path: Path):
    with pytest.raises(NoIdea):
        NewProjects(stage(tmp_path).jobs).preview("", {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (roadmap(("1", "DESK-01"), ("2", "DESK-01, FIND-01")), "stands in phase 1 and in phase 2"),
        (roadmap(("1", "DESK-01, FIND-01, ELSE-01")), "no requirement"),
        (roadmap(("2", "DESK-01"), ("3", "FIND-01")), "numbered from 1"),
        (roadmap(("1", "DESK-01"), ("2", "FIND-01"), risk="some"), "Risk"),
        (roadmap(("1", "DESK-01"), ("2", "FIND-01"), depends="Phase 2"), "not before it"),
        (GOOD.replace("  1. It works\n", ""), "Success Criteria"),
        (GOOD.replace("- [ ] **Phase 2: P2** - x", ""), "in the list"),
        ("# Roadmap\n", "no phase"),
    ],
)
def test_a_roadmap_that_is_not_whole_is_refused_with_its_place(text: str, reason: str):
    with pytest.raises(ArtefactFault, match=reason) as caught:
        whole_roadmap("ROADMAP.md", text, ("DESK-01", "FIND-01"), 1)

    assert str(caught.value).startswith("ROADMAP.md:")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"requirements": []}, "v1"),
        ({"requirements": [PRODUCT["requirements"][0]] * 2}, "twice"),
        ({"requirements": [{"id": "desk 1", "text": "x", "when": "v1"}]}, "AUTH-01"),
        ({"core_value": ""}, "core_value"),
    ],
)
def test_requirements_that_nobody_could_trace_are_refused(change: dict[str, object], reason: str):
    with pytest.raises(ArtefactFault, match=reason):
        read_product({**PRODUCT, **change}, "Desk")


def test_more_than_five_questions_are_refused():
    topics = VISION["questions"] * 6  # type: ignore[operator]

    with pytest.raises(ArtefactFault, match="at most 5"):
        read_vision({**VISION, "questions": topics})


def test_two_questions_are_two_whatever_their_script(tmp_path: Path):
    topics = [
        {"topic": name, "question": f"{name}?", "options": ["甲", "乙"]}
        for name in ("用户", "存储")
    ]
    vision = {**VISION, "questions": topics}
    held = stage(
        tmp_path, pm=lambda order, _: vision if "pm · questions" in order.prompt else PRODUCT
    )
    held.is_auto = False
    held.answers = {"choice-topic-1": "甲", "choice-topic-2": "乙"}

    NewProjects(held.jobs).carry_out("a desk", held.company)

    prompt = held.agent.asked("project-researcher")[0].prompt
    assert ("用户? 甲" in prompt, "存储? 乙" in prompt) == (True, True)


def test_who_agreed_with_requirements_has_not_agreed_with_others(tmp_path: Path):
    held = stage(tmp_path)
    held.is_auto = False
    held.answers = {"choice-topic-1": "one", "choice-requirements-1": "agree"}
    NewProjects(held.jobs).carry_out("a desk", held.company)
    shout = {"id": "DESK-01", "category": "Desk", "text": "A user can shout", "when": "v1"}
    held.agent.plays = {
        **held.agent.plays,
        "pm": lambda order, _: (
            VISION if "pm · questions" in order.prompt else {**PRODUCT, "requirements": [shout]}
        ),
    }
    held.answers = {}

    report = NewProjects(held.jobs).carry_out("something else", held.company)

    (waits,) = (each for each in report.questions if each.subject == "requirements-1")
    assert (waits.answer, "A user can shout" in waits.text) == ("", True)


def test_what_was_paid_for_is_not_asked_again_after_a_role_has_failed(tmp_path: Path):
    held = stage(tmp_path, roadmapper=maps("# Nothing\n", "# Nothing\n", GOOD))
    failed = NewProjects(held.jobs).carry_out("a desk", held.company)
    count = len(held.agent.orders)

    done = NewProjects(held.jobs).carry_out("", held.company)

    assert (failed.job.status, done.job.status) == (JobStatus.FAILED, JobStatus.DONE)
    assert [each.role for each in held.agent.orders[count:]] == ["roadmapper"]


def test_a_direction_that_a_person_goes_without_is_not_paid_again(tmp_path: Path):
    def silent(order: Order, count: int) -> Answer:
        return "no idea" if "fairlead-output/STACK.md" in order.prompt else researches(order, count)

    held = stage(tmp_path)
    held.agent.plays = {**held.agent.plays, "project-researcher": silent}
    held.is_auto = False
    held.answers = {"choice-topic-1": "one"}
    NewProjects(held.jobs).carry_out("a desk", held.company)
    count = len(held.agent.asked("project-researcher"))
    held.answers = {"choice-research": "continue"}
    NewProjects(held.jobs).carry_out("", held.company)
    held.answers = {"choice-requirements-1": "agree", "choice-roadmap-1": "agree"}

    done = NewProjects(held.jobs).carry_out("", held.company)

    assert done.job.status is JobStatus.DONE
    assert len(held.agent.asked("project-researcher")) == count + 2  # when the question was open


def test_settings_and_a_map_that_were_there_before_stay(tmp_path: Path):
    held = stage(tmp_path)
    written(held.project / "desk/__main__.py", "print('desk')\n")
    written(held.project / ".planning/config.json", '{\n  "mine": 1\n}\n')
    written(held.project / ".planning/codebase/STACK.md", "# My own map\n")

    report = NewProjects(held.jobs, "fine").carry_out("a desk", held.company)

    assert report.job.status is JobStatus.DONE
    config = json.loads(text_of(held, "config.json"))
    assert (config["mine"], config["granularity"]) == (1, "fine")
    assert text_of(held, "codebase/STACK.md") == "# My own map\n"


def test_research_that_is_there_is_said_before_anybody_is_paid(tmp_path: Path):
    held = stage(tmp_path)
    written(held.project / ".planning/research/PITFALLS.md", "# Mine\n")

    with pytest.raises(ProjectExists, match="PITFALLS"):
        NewProjects(held.jobs).preview("a desk", {})
