"""Scheduling of plans: waves, which plans may run at once, and why the others wait."""

import random
from statistics import median

import pytest

from bench.waves import overs, seconds_to_schedule
from fairlead.plans.errors import PlanCycle, PlanTwice
from fairlead.plans.waves import (
    ConcurrencyLimits,
    PlanNode,
    choose,
    may_start,
    schedule,
    transitive_needs,
)


def nodes(*lines: str) -> list[PlanNode]:
    """`b < a: src/x` is a plan b that needs a and declares src/x."""
    plans = []
    for line in lines:
        head, _, files = line.partition(":")
        name, _, needs = head.partition("<")
        plans.append(PlanNode(name.strip(), tuple(needs.split()), tuple(files.split())))
    return plans


@pytest.mark.parametrize(
    ("lines", "waves"),
    [
        ([], ()),
        (["a"], (("a",),)),
        (["a", "b"], (("a", "b"),)),
        (["b < a", "a"], (("a",), ("b",))),
        (["a", "b < a", "c < a b", "d < a"], (("a",), ("b", "d"), ("c",))),
        (["a", "B < A"], (("a",), ("B",))),
        (["a: x", "b: x"], (("a",), ("b",))),
        (["a: ./x", "b: x", "c: y"], (("a", "c"), ("b",))),
        (["a: src/", "b: src/x/y.ts"], (("a",), ("b",))),
        (["a: src/x/y.ts", "b: src/**/*.ts"], (("a",), ("b",))),
        (["a: src/x", "b: srcs/x"], (("a", "b"),)),
        (["a: app/[id].ts", "b: app/[slug].ts"], (("a", "b"),)),
        (["a: x", "b: x", "c < b", "d < a: x"], (("a",), ("b",), ("c", "d"))),
        (["a", "b < elsewhere"], (("a", "b"),)),
    ],
)
def test_a_wave_is_the_longest_path_and_separates_plans_of_the_same_files(
    lines: list[str], waves: tuple[tuple[str, ...], ...]
) -> None:
    assert schedule(nodes(*lines)).waves == waves


def test_a_warning_names_the_file_that_makes_plans_sequential() -> None:
    assert schedule(nodes("a: x y", "b: y")).warnings == ("b runs after a: both change y",)


def test_a_dependency_outside_the_phase_is_a_warning_and_ignored() -> None:
    assert schedule(nodes("a < 01-09")).warnings == (
        "a depends on 01-09, which is not a plan of this phase",
    )


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (["a < a"], "a -> a"),
        (["x", "a < x c", "b < a", "c < b", "d < c"], "a -> b -> c -> a"),
    ],
)
def test_a_cycle_is_reported_by_name(lines: list[str], named: str) -> None:
    with pytest.raises(PlanCycle) as caught:
        schedule(nodes(*lines))

    cycle = caught.value.plans
    assert set(cycle) == set(named.split(" -> "))
    assert cycle[0] == cycle[-1]


def test_two_plans_with_one_name_are_refused() -> None:
    with pytest.raises(PlanTwice, match="a and A"):
        schedule(nodes("a", "A"))


def test_priority_is_the_weight_of_the_longest_path_that_begins_here() -> None:
    plan = schedule(
        [PlanNode("a", weight=2), PlanNode("b", ("a",), weight=5), PlanNode("c", weight=4)]
    )

    assert plan.priority == {"a": 7, "b": 5, "c": 4}


def test_transitive_needs_include_the_needs_of_dependencies() -> None:
    plan = schedule(
        [
            PlanNode("a"),
            PlanNode("b", ("a",)),
            PlanNode("c", ("b", "d")),
            PlanNode("d"),
            PlanNode("e"),
        ]
    )
    assert transitive_needs(plan, ("a", "d")) == {"b": ("a",), "c": ("a", "d")}
    assert transitive_needs(plan, ()) == {}


def test_a_plan_that_needs_a_halted_plan_is_blocked() -> None:
    plan = schedule(
        [PlanNode("a", is_halted=True), PlanNode("b", ("a",)), PlanNode("c", ("b",)), PlanNode("d")]
    )

    assert plan.blocked_by == {"b": ("a",), "c": ("a",)}
    assert may_start(plan, (), (), ConcurrencyLimits(9)) == ("d",)


@pytest.mark.parametrize(
    ("running", "done", "wip", "start"),
    [
        ((), (), ConcurrencyLimits(9), ("a", "c")),
        (("a",), (), ConcurrencyLimits(9), ("c",)),
        (("a",), (), ConcurrencyLimits(1), ()),
        ((), ("a",), ConcurrencyLimits(9), ("b", "c")),
        ((), ("a",), ConcurrencyLimits(1), ("b",)),
        (("c",), ("a",), ConcurrencyLimits(9), ("b",)),
        (("c",), ("a", "b"), ConcurrencyLimits(9), ()),
        ((), ("a", "b", "c"), ConcurrencyLimits(9), ("d",)),
        ((), ("a",), ConcurrencyLimits(9, {"": 1}), ("b",)),
    ],
)
def test_a_plan_may_start_with_its_dependencies_a_slot_and_its_files(
    running: tuple[str, ...], done: tuple[str, ...], wip: ConcurrencyLimits, start: tuple[str, ...]
) -> None:
    plan = schedule(nodes("a", "b < a", "c: x", "d < b: x"))

    assert may_start(plan, running, done, wip) == start


def test_every_waiting_plan_has_a_reason() -> None:
    plan = schedule(nodes("a", "b < a", "c: x", "d: x", "e"))

    assert choose(plan, (), (), ConcurrencyLimits(2)).waiting == {
        "b": "waits for a",
        "d": "all 2 slots are taken",
        "e": "all 2 slots are taken",
    }
    assert choose(plan, ("c",), ("a",), ConcurrencyLimits(9)).waiting == {"d": "c changes x too"}


def test_running_plans_never_share_a_file_or_lack_a_dependency() -> None:
    generator = random.Random(4)
    for _ in range(60):
        plans = [
            PlanNode(
                f"p{at}",
                tuple(
                    {f"p{generator.randrange(at)}" for _ in range(generator.randrange(3))}
                    if at
                    else ()
                ),
                tuple(generator.sample(["a", "b", "c", "d/", "d/e"], generator.randrange(3))),
                generator.randint(1, 9),
            )
            for at in range(20)
        ]
        plan = schedule(plans)
        place = plan.wave_of()
        assert all(place[need] < place[node.id] for node in plans for need in node.depends_on)
        running: list[str] = []
        done: set[str] = set()
        while len(done) < len(plans):
            running += may_start(plan, running, done, ConcurrencyLimits(4))
            files = [path for node in plans if node.id in running for path in node.files]
            assert len(files) == len(set(files))
            assert not {"d/", "d/e"} <= set(files) or _one_holds_both(plans, running)
            done.add(running.pop(generator.randrange(len(running))))


def _one_holds_both(plans: list[PlanNode], running: list[str]) -> bool:
    return any({"d/", "d/e"} <= set(node.files) for node in plans if node.id in running)


def test_ten_thousand_plans_are_scheduled_within_a_second() -> None:
    assert seconds_to_schedule(10_000) < 1


def test_a_run_stays_within_three_percent_of_the_least_possible_time() -> None:
    assert median(overs(9)) <= 0.03
