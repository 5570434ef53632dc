"""The gates of a plan, and which of their commits holds all the rest."""

from fairlead.model.job import Run, TaskGate, first_base, last_work
from fairlead.model.lifecycle import Gate, GateStatus


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


def test_a_task_that_was_begun_anew_stands_on_those_after_it():
    first = a_gate(1, ("old", "failed"), ("head", "one"), ("two", "anew"), stands_on="two")
    second = a_gate(2, ("one", "two"))
    assert (last_work((first, second)), first_base((first, second))) == ("anew", "head")
    again = a_gate(2, ("one", "two"), ("anew", "last"), stands_on="anew")
    assert (last_work((first, again)), first_base((first, again))) == ("last", "head")


def test_what_failed_on_top_of_the_work_takes_none_of_it_away():
    first = a_gate(1, ("head", "one"), ("two", "wrong"), stands_on="two", is_passed=False)
    assert last_work((first, a_gate(2, ("one", "two")))) == "two"


def test_work_that_changed_nothing_is_still_the_last():
    assert last_work((a_gate(1, ("head", "one")), a_gate(2, ("one", "one")))) == "one"
    assert last_work((a_gate(1, ("head", "one")), a_gate(2, ("one", "head")))) == "head"
