"""The bridge: an approved plan becomes a phase, and one process of the host carries it out."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairlead.engine.council_site import CouncilTerms
from fairlead.errors import PlanTampered
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Said, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.council_job import CouncilJob
from tests.support.council_table import Meetings, a_meeting
from tests.support.execution import Ticking
from tests.support.repositories import git, written

HOST = CouncilTerms(bridge="host")
OK = Ending(EndKind.OK, "done", usage=Usage(10, 0, 10), exit_code=0)


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("approved")
    return folder, a_meeting(folder).run().id


class Host:
    """A host's own command, as one process: it makes some summaries and ends in some way."""

    name = "host"

    def __init__(self, plans: int = 9, ending: Ending = OK) -> None:
        self.plans = plans
        self.ending = ending
        self.orders: list[Order] = []

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        self.orders.append(order)
        for plan in sorted(Path(order.folder).glob(".planning/phases/02-*/*-PLAN.md"))[
            : self.plans
        ]:
            name = plan.name.removesuffix("-PLAN.md")
            written(Path(order.folder) / f"notes/{name}.md", "made\n")
            summary = f"---\nphase: 02\nplan: {name[3:]}\n---\n\n# Done\n\n## Self-Check: PASSED\n"
            written(plan.with_name(f"{name}-SUMMARY.md"), summary)
        git(Path(order.folder), "add", "-A")
        git(Path(order.folder), "commit", "-qm", "the host's work", "--allow-empty")
        return self.ending


def carried_out(
    approved: tuple[Path, str], place: Path, host: Host, terms: CouncilTerms = HOST
) -> tuple[Meetings, CouncilJob]:
    folder, job = approved
    shutil.copytree(folder, place, symlinks=True)
    table = Meetings(place / "project", terms=terms, hands=host)  # type: ignore[arg-type]
    return table, table.run(job, may_execute=True)


def ended(kind: EndKind, code: int | None = None) -> Ending:
    return replace(OK, kind=kind, exit_code=code)


@pytest.mark.parametrize(
    ("plans", "ending", "status", "reason"),
    [
        (9, OK, "DONE", None),
        (9, ended(EndKind.FAILED, 1), "FAILED", "exit_nonzero_with_summary"),
        (1, OK, "FAILED", "partial"),
        (0, OK, "FAILED", "no_summary"),
        (0, ended(EndKind.FAILED, 1), "FAILED", "exec_failed"),
        (9, ended(EndKind.TIMEOUT), "FAILED", "timeout"),
        (0, replace(OK, text="", usage=Usage(20, 0, 0)), "FAILED", "exec_failed"),
    ],
)
def test_what_the_host_leaves_behind_decides(
    approved: tuple[Path, str],
    tmp_path: Path,
    plans: int,
    ending: Ending,
    status: str,
    reason: str | None,
) -> None:
    host = Host(plans, ending)
    _, job = carried_out(approved, tmp_path / "host", host)
    assert (job.status, job.exec.reason) == (status, reason)
    assert (job.exec.plans, job.exec.summaries) == (2, min(plans, 2))
    [order] = host.orders
    assert order.prompt == "/gsd-execute-phase 02"
    assert order.limits.wall == HOST.host_wall
    assert job.exec.deadline is not None
    assert job.usage.by_stage["execution"] == job.exec.spent
    assert job.usage.by_seat["host"] == job.exec.spent
    assert job.usage.total_tokens == sum(each.tokens for each in job.usage.by_stage.values())


@pytest.mark.parametrize("terms", [HOST, CouncilTerms()], ids=["host", "engine"])
def test_a_phase_that_a_host_has_begun_is_begun_by_nobody_else(
    approved: tuple[Path, str], tmp_path: Path, terms: CouncilTerms
) -> None:
    class Killed(Host):
        def start(self, *more: object, **most: object) -> Ending:
            super().start(*more, **most)  # type: ignore[arg-type]
            raise KeyboardInterrupt  # we die before the end is written down

    host = Killed(plans=1)
    with pytest.raises(KeyboardInterrupt):
        carried_out(approved, tmp_path / "host", host)
    table = Meetings(tmp_path / "host/project", terms=terms, hands=host)  # type: ignore[arg-type]
    job = table.run(approved[1], may_execute=True)
    assert (job.status, job.exec.reason) == ("FAILED", "partial")
    assert len(host.orders) == 1


def test_what_stands_in_the_way_is_said_and_nothing_is_begun(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    folder, job = approved
    shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    written(tmp_path / "copy/project/README.md", "not committed\n")
    host = Host()
    table = Meetings(tmp_path / "copy/project", terms=HOST, hands=host)  # type: ignore[arg-type]
    held = table.run(job, may_execute=True)
    assert held.blocker_reason == (
        "preflight: the tree has changes that are not committed: README.md"
    )
    assert not host.orders


def test_a_host_that_would_cost_too_much_is_not_started(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    host = Host()
    terms = replace(HOST, caps=Caps(run_usd=0.25))
    _, job = carried_out(approved, tmp_path / "host", host, terms)
    assert (job.blocker_reason or "").startswith("budget: this run would cost")
    assert not host.orders


def test_what_the_host_is_told_is_in_the_journal(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    table, _ = carried_out(approved, tmp_path / "host", Host())
    [told] = [each.text for each in table.happened if each.kind == "host"]
    assert told == "/gsd-execute-phase 02"


def test_a_plan_that_is_changed_while_it_is_carried_out_is_refused(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    table, job = carried_out(approved, tmp_path / "a", Host(), CouncilTerms())
    del table
    plan = tmp_path / f"a/project/.planning/jobs/{job.id}/master_plan.md"
    record = plan.with_name("job.json")
    record.write_text(
        record.read_text().replace(f'"status": "{job.status}"', '"status": "EXECUTING"')
    )
    plan.write_text(plan.read_text() + "\n")
    again = Meetings(tmp_path / "a/project", hands=Host())  # type: ignore[arg-type]
    with pytest.raises(PlanTampered):
        again.run(job.id, may_execute=True)


def test_a_retry_of_the_same_plan_finds_its_phase(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    table, job = carried_out(approved, tmp_path / "a", Host(plans=1))
    assert job.status == "FAILED"
    table.hands = Host()  # type: ignore[assignment]
    done = table.run(table.council.retry(job.id), may_execute=True)
    assert (done.status, done.phase) == ("DONE", job.phase)
    assert len(list((tmp_path / "a/project/.planning/phases").glob("02-*"))) == 1
    assert table.speaker.asked == []


def test_a_retry_whose_plans_have_all_their_summaries_is_done(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    failing = Host(ending=ended(EndKind.FAILED, 1))
    table, job = carried_out(approved, tmp_path / "a", failing)
    assert job.exec.reason == "exit_nonzero_with_summary"
    table.terms = CouncilTerms()
    done = table.run(table.council.retry(job.id), may_execute=True)
    assert (done.status, done.exec.plans, done.exec.summaries) == ("DONE", 2, 2)
    assert len(failing.orders) == 1


def test_a_host_that_is_silent_for_ten_minutes_is_told_once_and_goes_on(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    class Silent(Host):
        def start(self, order: Order, watch: Any, is_wanted: Any = None) -> Ending:
            for _ in range(2):
                assert all(is_wanted() for _ in range(25))
                watch(Said("still here"))
            return super().start(order, watch)

    shutil.copytree(approved[0], tmp_path / "host", symlinks=True)
    clock = Ticking(step_seconds=60)
    table = Meetings(tmp_path / "host/project", terms=HOST, hands=Silent(), clock=clock)  # type: ignore[arg-type]
    assert table.run(approved[1], may_execute=True).status == "DONE"
    assert table.kinds("stall") == ["host", "host"]
