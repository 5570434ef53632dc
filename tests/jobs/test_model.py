"""The gates of a plan, and which of their commits contains all the work."""

from fairlead.jobs.model import Run, TaskGate, first_base, last_work
from fairlead.project.state.gate_rules import Gate, GateStatus


def a_gate(number: int, *runs: tuple[str, str], stands_on: str = "", is_passed: bool = True):
    made = tuple(
        Run(at, at, base, "b", "s", "", "ok", commit) for at, (base, commit) in enumerate(runs, 1)
    )
    gate = Gate(status=GateStatus.APPROVED if is_passed else GateStatus.FAILED)
    return TaskGate(f"01-01-{number:02d}", "01-01", number, "it", gate, made, stands_on=stands_on)


def test_the_last_work_of_a_plan_is_that_of_its_last_task():
    gates = (a_gate(1, ("head", "one")), a_gate(2, ("one", "two")))
    assert (last_work(gates), first_base(gates)) == ("two", "head")
    assert (last_work(()), first_base(())) == ("", "")


def test_a_task_that_is_done_again_builds_on_the_tasks_after_it():
    first = a_gate(1, ("old", "failed"), ("head", "one"), ("two", "anew"), stands_on="two")
    second = a_gate(2, ("one", "two"))
    assert (last_work((first, second)), first_base((first, second))) == ("anew", "head")
    again = a_gate(2, ("one", "two"), ("anew", "last"), stands_on="anew")
    assert (last_work((first, again)), first_base((first, again))) == ("last", "head")


def test_a_failed_attempt_does_not_remove_earlier_work():
    first = a_gate(1, ("head", "one"), ("two", "wrong"), stands_on="two", is_passed=False)
    assert last_work((first, a_gate(2, ("one", "two")))) == "two"


def test_work_that_changed_nothing_is_still_the_last():
    assert last_work((a_gate(1, ("head", "one")), a_gate(2, ("one", "one")))) == "one"
    assert last_work((a_gate(1, ("head", "one")), a_gate(2, ("one", "head")))) == "head"
