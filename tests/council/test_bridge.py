"""The bridge: an approved plan becomes a phase, which one host process executes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentCall, AgentEvent, AgentText, CallResult, EndKind, TokenUsage
from fairlead.council.context import CouncilOptions
from fairlead.council.errors import PlanTampered
from fairlead.council.model import CouncilJob
from fairlead.jobs.model import JobStatus
from tests.support.council_runs import CouncilProject, a_council, copy_of
from tests.support.execution import SteppingClock
from tests.support.repositories import git, written

HOST = CouncilOptions(bridge="host")
OK = CallResult(EndKind.OK, "done", usage=TokenUsage(10, 0, 10), exit_code=0)


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("approved")
    return folder, a_council(folder).run().id


class Host:
    """A host command that writes some summaries and ends with a given result."""

    name = "host"

    def __init__(self, plans: int = 9, ending: CallResult = OK) -> None:
        self.plans = plans
        self.ending = ending
        self.orders: list[AgentCall] = []

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
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


def executed(
    approved: tuple[Path, str],
    place: Path,
    host: Host,
    options: CouncilOptions = HOST,
    **more: object,
) -> tuple[CouncilProject, CouncilJob]:
    folder, job = approved
    council = CouncilProject(copy_of(folder, place), options=options, executor=host, **more)  # type: ignore[arg-type]
    return council, council.run(job, may_execute=True)


def ended(kind: EndKind, code: int | None = None) -> CallResult:
    return replace(OK, kind=kind, exit_code=code)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("plans", "ending", "status", "reason"),
    [
        (9, OK, "DONE", None),
        (9, ended(EndKind.FAILED, 1), "FAILED", "exit_nonzero_with_summary"),
        (1, OK, "FAILED", "partial"),
        (0, OK, "FAILED", "no_summary"),
        (0, ended(EndKind.FAILED, 1), "FAILED", "exec_failed"),
        (9, ended(EndKind.TIMEOUT), "FAILED", "timeout"),
        (0, replace(OK, text="", usage=TokenUsage(20, 0, 0)), "FAILED", "exec_failed"),
    ],
)
def test_summaries_and_exit_code_of_the_host_decide_the_status(
    approved: tuple[Path, str],
    tmp_path: Path,
    plans: int,
    ending: CallResult,
    status: str,
    reason: str | None,
) -> None:
    host = Host(plans, ending)
    _, job = executed(approved, tmp_path / "host", host)
    assert (job.status, job.exec.reason) == (status, reason)
    assert (job.exec.plans, job.exec.summaries) == (2, min(plans, 2))
    [order] = host.orders
    assert order.prompt == "/gsd-execute-phase 02"
    assert order.limits.wall == HOST.host_wall
    assert job.exec.deadline is not None
    assert job.usage.by_stage["execution"] == job.exec.spent
    assert job.usage.by_seat["host"] == job.exec.spent
    assert job.usage.total_tokens == sum(each.tokens for each in job.usage.by_stage.values())


@pytest.mark.parametrize("options", [HOST, CouncilOptions()], ids=["host", "engine"])
def test_a_phase_that_a_host_started_is_never_started_again(
    approved: tuple[Path, str], tmp_path: Path, options: CouncilOptions
) -> None:
    class Killed(Host):
        def start(self, *more: object, **most: object) -> CallResult:
            super().start(*more, **most)  # type: ignore[arg-type]
            raise KeyboardInterrupt  # the run is killed before the result is stored

    host = Killed(plans=1)
    with pytest.raises(KeyboardInterrupt):
        executed(approved, tmp_path / "host", host)
    council = CouncilProject(tmp_path / "host/project", options=options, executor=host)  # type: ignore[arg-type]
    job = council.run(approved[1], may_execute=True)
    assert (job.status, job.exec.reason) == ("FAILED", "partial")
    assert len(host.orders) == 1


def test_preflight_faults_block_the_job_before_the_host_starts(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    folder, job = approved
    copy_of(folder, tmp_path / "copy")
    written(tmp_path / "copy/project/README.md", "not committed\n")
    host = Host()
    council = CouncilProject(tmp_path / "copy/project", options=HOST, executor=host)  # type: ignore[arg-type]
    blocked = council.run(job, may_execute=True)
    assert blocked.blocker_reason == (
        "preflight: the tree has changes that are not committed: README.md"
    )
    assert not host.orders


def test_a_host_that_exceeds_the_budget_is_not_started(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    host = Host()
    _, job = executed(approved, tmp_path / "host", host, caps=Caps(run_usd=0.25))
    assert (job.blocker_reason or "").startswith("budget: this run would cost")
    assert not host.orders


def test_the_journal_contains_the_command_of_the_host(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    council, _ = executed(approved, tmp_path / "host", Host())
    [command] = [event.text for event in council.events if event.kind == "host"]
    assert command == "/gsd-execute-phase 02"


def test_a_master_plan_that_changes_during_execution_is_refused(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    _, job = executed(approved, tmp_path / "a", Host(), CouncilOptions())
    plan = tmp_path / f"a/project/.planning/jobs/{job.id}/master_plan.md"
    again = CouncilProject(tmp_path / "a/project", executor=Host())  # type: ignore[arg-type]
    executing = replace(job, status=JobStatus.EXECUTING)
    again.service.folder(job.id).save_record(executing)
    plan.write_text(plan.read_text() + "\n")
    with pytest.raises(PlanTampered):
        again.run(job.id, may_execute=True)


def test_a_retry_of_the_same_plan_reuses_its_phase(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    council, job = executed(approved, tmp_path / "a", Host(plans=1))
    assert job.status == "FAILED"
    council.executor = Host()  # type: ignore[assignment]
    done = council.run(council.service.retry(job.id), may_execute=True)
    assert (done.status, done.phase) == ("DONE", job.phase)
    assert len(list((tmp_path / "a/project/.planning/phases").glob("02-*"))) == 1
    assert council.model.asked == []


def test_a_retry_with_all_summaries_is_done_without_execution(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    failing = Host(ending=ended(EndKind.FAILED, 1))
    council, job = executed(approved, tmp_path / "a", failing)
    assert job.exec.reason == "exit_nonzero_with_summary"
    council.options = CouncilOptions()
    done = council.run(council.service.retry(job.id), may_execute=True)
    assert (done.status, done.exec.plans, done.exec.summaries) == ("DONE", 2, 2)
    assert len(failing.orders) == 1


def test_a_host_that_is_silent_for_ten_minutes_gives_one_warning(
    approved: tuple[Path, str], tmp_path: Path
) -> None:
    class Silent(Host):
        def start(self, order: AgentCall, watch: Any, is_wanted: Any = None) -> CallResult:
            for _ in range(2):
                assert all(is_wanted() for _ in range(25))
                watch(AgentText("still here"))
            return super().start(order, watch)

    copy_of(approved[0], tmp_path / "host")
    clock = SteppingClock(step_seconds=60)
    silent: Any = Silent()
    council = CouncilProject(tmp_path / "host/project", options=HOST, executor=silent, clock=clock)
    assert council.run(approved[1], may_execute=True).status == "DONE"
    assert council.kinds("stall") == ["host", "host"]
