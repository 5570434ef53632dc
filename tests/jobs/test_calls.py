"""Every call of an agent is filtered and recorded in one place, whatever the kind of job."""

import json
import re
from pathlib import Path

from fairlead.agents.model import AgentCall, CallResult, EndKind, TokenUsage
from fairlead.jobs.model import JobStatus
from fairlead.workflows.service import WorkflowEnd
from tests.agents.test_secrets import ASSIGNED, LONG, SECRETS
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import git, written
from tests.support.roles import Player, Stage

SECRET = "sk-ant-" + "a1B2" * 8
_SOURCES = Path(__file__).resolve().parents[2] / "src/fairlead"


def test_an_executor_and_its_reviewer_never_receive_a_secret_of_the_plan(tmp_path: Path) -> None:
    plan = a_plan("01-01", "a.txt")
    project = a_project(tmp_path / "p", plan)
    path = project / ".planning/phases/01-work/01-01-PLAN.md"
    path.write_text(path.read_text().replace("Write a.txt.", f"Write a.txt with {SECRET}."))
    trial = ExecutionTrial(project, FakeAgent(succeeds))
    trial.run()
    assert {order.role for order in trial.agent.orders} == {"executor", "architect"}
    assert not any(SECRET in order.prompt for order in trial.agent.orders)
    assert any("Anthropic key left out" in order.prompt for order in trial.agent.orders)


def test_no_secret_of_an_agent_or_a_verify_command_reaches_a_record_or_a_commit(
    tmp_path: Path,
) -> None:
    kinds = {**SECRETS, **{line: line for line in ASSIGNED if "\\" not in line}}
    secrets = "\n".join(kinds.values())

    def leaks(order: AgentCall, call: int) -> object:
        done = dict(succeeds(order, call))
        if order.is_read_only:
            return {**done, "concerns": [secrets]}
        written(Path(order.folder) / "a.txt", "made a.txt\n" if call > 1 else secrets)
        return {**done, "evidence": secrets, "decisions": [secrets], "deviations": [secrets]}

    plan = a_plan("01-01", "a.txt")
    project = a_project(tmp_path / "p", plan)
    path = project / ".planning/phases/01-work/01-01-PLAN.md"
    path.write_text(path.read_text().replace("test -f a.txt", "cat a.txt; grep -q made a.txt"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "verify")
    trial = ExecutionTrial(project, FakeAgent(leaks), SteppingClock(60))  # type: ignore[arg-type]
    assert trial.run().job.status is JobStatus.DONE
    kept = [each for each in (project / ".planning").rglob("*") if each.is_file()]
    texts = [each.read_text() for each in kept] + [order.prompt for order in trial.agent.orders]
    texts += [git(project, "log", "-p", "main", "--", ".planning")]
    for text in texts:
        assert not [each for each in ("hunter2", "8c7d6e", LONG[:20]) if each in text]
    ledger = (project / ".planning/ledger/01-01.jsonl").read_text()
    assert all(f"[{kind} left out]" in ledger for kind in ("AWS key", "authorization"))


def test_the_start_of_a_call_is_on_disk_before_its_agent_runs(tmp_path: Path) -> None:
    seen: list[str] = []

    def looks(order: AgentCall, call: int) -> object:
        private = Path(order.raw).parents[1] / "seen"
        seen.extend(json.loads(each.read_text())["role"] for each in private.glob("*.call"))
        return succeeds(order, call)

    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(looks))  # type: ignore[arg-type]
    trial.run()
    assert seen == ["executor", "architect"]


def test_a_stopped_role_call_is_counted(tmp_path: Path) -> None:
    used = CallResult(EndKind.KILLED, usage=TokenUsage(700, 0, 7))
    stage = Stage(a_project(tmp_path / "p"), Player({}))

    def stopped(_order: AgentCall, _call: int) -> CallResult:
        stage.over.set()
        return used

    stage.agent = Player({"planner": stopped})
    from fairlead.workflows.role_calls import RoleCalls, RoleRequest
    from fairlead.workflows.roles import role
    from fairlead.workflows.service import JobPurpose

    def work(context):
        RoleCalls(context).call(
            RoleRequest(role("planner"), "plan-1", {"phase": "x"}), lambda given: given
        )
        return WorkflowEnd()

    report = stage.jobs.run(JobPurpose("plan", "1", "fairlead phase plan 1"), stage.setup, work)
    assert (report.job.status, report.spent.tokens) == ("BLOCKED", 707)


def test_no_job_starts_an_agent_except_through_the_recorder() -> None:
    starts = re.compile(r"\.start\(\s*(?:order|call|asked|AgentCall)\b")
    found = {
        path.relative_to(_SOURCES).as_posix()
        for package in ("jobs", "execution", "workflows", "verification", "council")
        for path in (_SOURCES / package).rglob("*.py")
        if starts.search(path.read_text("utf-8")) and "RecordedAgent" not in path.read_text("utf-8")
    }
    assert found == set()
