"""Debugging: rounds that end, a file that outlives them, and a fix that lands through the gate."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.model import JobStatus
from fairlead.workflows.debug import DebugSearch
from fairlead.workflows.service import WorkflowReport
from tests.support.daily import QuickProject, a_quick_project, plays, quick_plan
from tests.support.roles import Answer

FAULT = "The greeting is missing"
CAUSE: Mapping[str, object] = {
    "status": "root_cause",
    "hypotheses": [
        {"hypothesis": "H2", "test": "ls", "result": "confirmed", "evidence": "no hello.txt"}
    ],
    "root_cause": "hello.txt is not made",
    "fix": "make hello.txt",
    "files": ["hello.txt"],
    "verify": "test -f hello.txt",
}


def unsure(next_action: str) -> Mapping[str, object]:
    seen = {"hypothesis": "H1", "test": "cat", "result": "refuted", "evidence": "it is fine"}
    return {"status": "inconclusive", "hypotheses": [seen], "next_action": next_action}


def a_search(folder: Path, *answers: Mapping[str, object], is_auto: bool = True) -> QuickProject:
    """A debugger that gives these answers, the last one for ever."""

    def debugger(_: AgentCall, call: int) -> Answer:
        return answers[min(call, len(answers)) - 1]

    played = plays(quick_plan("hello.txt"), debugger=debugger)
    return a_quick_project(folder, played, is_auto=is_auto)


def carried_out(
    workshop: QuickProject, search: DebugSearch | None = None, *, is_diagnosis: bool = False
) -> WorkflowReport:
    here = workshop.debugging
    chosen = search or here.new(FAULT, {}, is_diagnosis=is_diagnosis)
    return here.carry_out(chosen, workshop.stage.setup, workshop.execution())


def text_of(workshop: QuickProject, name: str = "the-greeting-is-missing.md") -> str:
    return (workshop.stage.project / ".planning/debug" / name).read_text("utf-8")


def test_a_proven_cause_is_fixed_through_the_gate_and_recorded(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, unsure("look further"), CAUSE)
    done = carried_out(workshop)
    assert done.job.status is JobStatus.DONE
    assert (workshop.stage.project / "hello.txt").exists()
    roles = [str(each.role) for each in workshop.stage.agent.orders]
    assert roles == ["debugger", "debugger", "executor", "architect"]
    resolved = text_of(workshop, "resolved/the-greeting-is-missing.md")
    assert ("status: resolved" in resolved, "root_cause: hello.txt is not made" in resolved) == (
        True,
        True,
    )
    assert "## the-greeting-is-missing" in text_of(workshop, "knowledge-base.md")
    assert not (workshop.stage.project / ".planning/debug/the-greeting-is-missing.md").exists()


def test_evidence_is_appended_and_the_trigger_stays(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, unsure("a"), unsure("b"), CAUSE)
    carried_out(workshop, is_diagnosis=True)
    text = text_of(workshop)
    assert text.count("- hypothesis: H1") == 2
    assert text.count("  checked: ") == 3
    assert f'trigger: "{FAULT}"' in text
    assert "status: diagnosed" in text


def test_a_diagnosis_changes_no_code_and_asks_no_other_role(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, CAUSE)
    assert carried_out(workshop, is_diagnosis=True).job.status is JobStatus.DONE
    assert [str(each.role) for each in workshop.stage.agent.orders] == ["debugger"]


def test_a_search_stops_after_four_rounds(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, *(unsure(f"step {at}") for at in range(9)))
    done = carried_out(workshop)
    assert done.job.status is JobStatus.BLOCKED
    assert len(workshop.stage.agent.asked("debugger")) == 4
    assert [each.options for each in done.questions] == [("continue", "stop")]


def test_a_debugger_that_repeats_its_next_step_is_stopped_earlier(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, unsure("look at the log"))
    assert carried_out(workshop).job.status is JobStatus.BLOCKED
    assert len(workshop.stage.agent.asked("debugger")) == 3


def test_a_resumed_session_repeats_no_round(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, *(unsure(f"step {at}") for at in range(4)), CAUSE)
    carried_out(workshop)
    session = workshop.debugging.one("the-greeting-is-missing")
    done = carried_out(workshop, DebugSearch(session.slug, session.trigger, goes_on=True))
    assert done.job.status is JobStatus.DONE
    assert len(workshop.stage.agent.asked("debugger")) == 5


@pytest.mark.parametrize(("answer", "status"), [("continue", "DONE"), ("stop", "FAILED")])
def test_the_recorded_answer_decides_whether_the_search_continues(
    tmp_path: Path, answer: str, status: str
) -> None:
    workshop = a_search(tmp_path, *(unsure(f"step {at}") for at in range(4)), CAUSE)
    waits = carried_out(workshop)
    workshop.stage.person.answer(waits.job.id, answer, waits.questions[0].id)
    done = carried_out(workshop, DebugSearch("the-greeting-is-missing", FAULT))
    assert str(done.job.status) == status


def test_without_a_policy_a_person_says_whether_the_fault_is_gone(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, CAUSE, is_auto=False)
    waits = carried_out(workshop)
    assert waits.job.status is JobStatus.BLOCKED
    assert "Is the fault gone?" in waits.questions[-1].text
    assert "status: awaiting_human_verify" in text_of(workshop)


def test_a_cause_without_a_verify_command_is_asked_for_again(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, {**CAUSE, "verify": ""}, CAUSE)
    assert carried_out(workshop).job.status is JobStatus.DONE
    assert len(workshop.stage.agent.asked("debugger")) == 2


@pytest.mark.parametrize("verify", ["true", "echo fixed", "exit 0"])
def test_a_fix_whose_verify_command_cannot_fail_is_asked_for_again(
    tmp_path: Path, verify: str
) -> None:
    workshop = a_search(tmp_path, {**CAUSE, "verify": verify}, CAUSE)
    assert carried_out(workshop).job.status is JobStatus.DONE
    assert len(workshop.stage.agent.asked("debugger")) == 2


def test_a_resolved_fault_is_not_searched_again(tmp_path: Path) -> None:
    workshop = a_search(tmp_path, CAUSE)
    carried_out(workshop)
    resolved = text_of(workshop, "resolved/the-greeting-is-missing.md")
    session = workshop.debugging.one("the-greeting-is-missing")

    done = carried_out(workshop, DebugSearch(session.slug, session.trigger, goes_on=True))

    assert (done.job.note, done.calls) == ("hello.txt is not made", ())
    assert text_of(workshop, "resolved/the-greeting-is-missing.md") == resolved
    assert not (workshop.stage.project / ".planning/debug/the-greeting-is-missing.md").exists()
