"""Waves: the order of plans, what may run at once, and the reasons for what may not."""

import random
from statistics import median

import pytest

from bench.waves import overs, seconds_to_schedule
from fairlead.errors import PlanCycle, PlanTwice
from fairlead.model.waves import Node, Wip, choose, may_start, schedule, standing_on


def nodes(*lines: str) -> list[Node]:
    """`b < a: src/x` is a plan b that needs a and declares src/x."""
    made = []
    for line in lines:
        head, _, files = line.partition(":")
        name, _, needs = head.partition("<")
        made.append(Node(name.strip(), tuple(needs.split()), tuple(files.split())))
    return made


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
def test_a_wave_is_the_longest_path_with_the_same_files_kept_apart(
    lines: list[str], waves: tuple[tuple[str, ...], ...]
) -> None:
    assert schedule(nodes(*lines)).waves == waves


def test_the_reason_is_told_when_parallel_became_sequential() -> None:
    assert schedule(nodes("a: x y", "b: y")).warnings == ("b runs after a: both change y",)


def test_a_dependency_outside_the_phase_is_told_and_ignored() -> None:
    assert schedule(nodes("a < 01-09")).warnings == (
        "a depends on 01-09, which is no plan of this phase",
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

    told = caught.value.what.removeprefix("plans wait for each other: ").split(" -> ")
    wanted = named.split(" -> ")
    assert set(told) == set(wanted)
    assert told[0] == told[-1]


def test_two_plans_of_one_name_are_refused() -> None:
    with pytest.raises(PlanTwice, match="a and A"):
        schedule(nodes("a", "A"))


def test_priority_is_the_weight_of_the_longest_path_that_begins_here() -> None:
    plan = schedule([Node("a", weight=2), Node("b", ("a",), weight=5), Node("c", weight=4)])

    assert plan.priority == {"a": 7, "b": 5, "c": 4}


def test_what_stands_on_a_plan_stands_on_what_that_one_needs() -> None:
    plan = schedule([Node("a"), Node("b", ("a",)), Node("c", ("b", "d")), Node("d"), Node("e")])
    assert standing_on(plan, ("a", "d")) == {"b": ("a",), "c": ("a", "d")}
    assert standing_on(plan, ()) == {}


def test_what_needs_a_halted_plan_is_blocked_by_it() -> None:
    plan = schedule([Node("a", is_halted=True), Node("b", ("a",)), Node("c", ("b",)), Node("d")])

    assert plan.blocked_by == {"b": ("a",), "c": ("a",)}
    assert may_start(plan, (), (), Wip(9)) == ("d",)


@pytest.mark.parametrize(
    ("running", "done", "wip", "start"),
    [
        ((), (), Wip(9), ("a", "c")),
        (("a",), (), Wip(9), ("c",)),
        (("a",), (), Wip(1), ()),
        ((), ("a",), Wip(9), ("b", "c")),
        ((), ("a",), Wip(1), ("b",)),
        (("c",), ("a",), Wip(9), ("b",)),
        (("c",), ("a", "b"), Wip(9), ()),
        ((), ("a", "b", "c"), Wip(9), ("d",)),
        ((), ("a",), Wip(9, {"": 1}), ("b",)),
    ],
)
def test_what_may_start_needs_its_dependencies_a_slot_and_its_files(
    running: tuple[str, ...], done: tuple[str, ...], wip: Wip, start: tuple[str, ...]
) -> None:
    plan = schedule(nodes("a", "b < a", "c: x", "d < b: x"))

    assert may_start(plan, running, done, wip) == start


def test_every_plan_that_waits_has_its_reason() -> None:
    plan = schedule(nodes("a", "b < a", "c: x", "d: x", "e"))

    assert choose(plan, (), (), Wip(2)).waiting == {
        "b": "waits for a",
        "d": "all 2 slots are taken",
        "e": "all 2 slots are taken",
    }
    assert choose(plan, ("c",), ("a",), Wip(9)).waiting == {"d": "c changes x too"}


def test_no_run_ever_has_two_plans_with_the_same_file_or_an_open_dependency() -> None:
    chance = random.Random(4)
    for _ in range(60):
        plans = [
            Node(
                f"p{at}",
                tuple(
                    {f"p{chance.randrange(at)}" for _ in range(chance.randrange(3))} if at else ()
                ),
                tuple(chance.sample(["a", "b", "c", "d/", "d/e"], chance.randrange(3))),
                chance.randint(1, 9),
            )
            for at in range(20)
        ]
        plan = schedule(plans)
        place = plan.wave_of()
        assert all(place[need] < place[node.id] for node in plans for need in node.depends_on)
        running: list[str] = []
        done: set[str] = set()
        while len(done) < len(plans):
            running += may_start(plan, running, done, Wip(4))
            files = [path for node in plans if node.id in running for path in node.files]
            assert len(files) == len(set(files))
            assert not {"d/", "d/e"} <= set(files) or _one_holds_both(plans, running)
            done.add(running.pop(chance.randrange(len(running))))


def _one_holds_both(plans: list[Node], running: list[str]) -> bool:
    return any({"d/", "d/e"} <= set(node.files) for node in plans if node.id in running)


def test_ten_thousand_plans_are_scheduled_within_a_second() -> None:
    assert seconds_to_schedule(10_000) < 1


def test_a_run_stays_within_three_percent_of_the_least_possible_time() -> None:
    assert median(overs(9)) <= 0.03
