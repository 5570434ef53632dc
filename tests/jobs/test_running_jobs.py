"""Jobs that another process runs: cancelling one, and what its report lists of its calls."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from fairlead.agents.model import AgentCall, AgentEvent, CallResult, EndKind, TokenUsage
from fairlead.execution.model import ExecutionReport
from fairlead.jobs.model import JobStatus
from fairlead.store.files import Files
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    a_plan,
    a_project,
    block,
    jobs_of,
    succeeds,
)


class Waiting(FakeAgent):
    """An agent that works until it is not wanted any more."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = threading.Event()

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        self.has_begun.set()
        while is_wanted():
            time.sleep(0.01)
        return CallResult(EndKind.KILLED, seconds=1.5, model="large")


def test_a_running_job_is_cancelled_from_elsewhere(tmp_path: Path) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Waiting())
    reports: list[ExecutionReport] = []
    running = threading.Thread(target=lambda: reports.append(trial.run()))
    running.start()
    assert isinstance(trial.agent, Waiting)
    assert trial.agent.has_begun.wait(900)
    files, pause = Files(str(trial.project)), lambda: time.sleep(0.05)
    jobs = jobs_of(files, trial.state, trial.clock, pause=pause)
    (record,) = jobs.all()
    assert jobs.is_running(record)
    ended = jobs.cancel(record.id)
    running.join(900)
    assert (ended.status, ended.note) == (JobStatus.FAILED, "ended by a person")
    assert not running.is_alive()
    (report,) = reports  # its own process does not offer to continue it
    assert (report.job.status, report.job.note.partition(":")[0]) == (ended.status, ended.note)
    assert jobs.record(record.id).status is JobStatus.FAILED
    assert [(call.model, call.seconds) for call in jobs.report(record.id).paid] == [("large", 1.5)]


def test_the_report_of_a_job_lists_every_call_with_its_model_time_and_cost(tmp_path: Path) -> None:
    def costs(order: AgentCall, call: int) -> CallResult:
        text = block(order.prompt, succeeds(order, call))
        usage = TokenUsage(1000, 0, 100)
        return CallResult(EndKind.OK, text, usage=usage, cost_usd=0.25, seconds=2.5, exit_code=0)

    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(costs))
    trial.models = ("small", "large")
    job = trial.run().job.id
    paid = trial.jobs.report(job).paid
    assert [(call.call, call.kind, call.agent, call.model) for call in paid] == [
        ("01-01-01", "execute", "fake", "small"),
        ("01-01-01", "review", "fake", "large"),
    ]
    assert {(call.seconds, call.tokens, call.cost_usd) for call in paid} == {(2.5, 1100, 0.25)}
