"""The engine behaves the same with workers behind its ports, also when they or it are lost."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.agents.scripted.council import answer
from fairlead.app import App
from fairlead.cluster.errors import RemoteUnreachable
from fairlead.cluster.model import LONGEST_TEXT, CallEnd, CallOrder
from fairlead.core.serialization import revived
from fairlead.core.values import replace
from fairlead.council.context import CouncilRun
from fairlead.execution.errors import NothingToExecute
from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind
from fairlead.jobs.model import Job
from fairlead.jobs.roster import Roster
from tests.execution import test_service, test_subfolders, test_undeclared
from tests.support.cluster import ledger_entries
from tests.support.council_runs import (
    CouncilProject,
    ScriptedModel,
    a_council,
)
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    a_plan,
    a_project,
    block,
    commits_of,
    succeeds,
)
from tests.support.fake_cluster import (
    CoordinatorKilledError,
    FakeCluster,
    FakeServer,
    RemoteAgent,
)
from tests.support.repositories import git

# Engine tests that need nothing but a folder. Left out: tests of what an agent on this machine
# can do to the files of the coordinator, which it cannot reach from a worker, and of the command
# that continues a run on this machine.
_LOCAL_ONLY = {
    "test_following_a_job_that_is_not_running_ends",
    "test_a_landed_branch_is_removed_even_if_the_agent_made_commits",
    "test_changes_below_planning_stay_on_the_branch",
}
SHARED = [
    test
    for module in (test_service, test_subfolders, test_undeclared)
    for name, test in inspect.getmembers(module, inspect.isfunction)
    if name.startswith("test_")
    and [*inspect.signature(test).parameters] == ["tmp_path"]
    and name not in _LOCAL_ONLY
]


@pytest.fixture
def on_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the agents of every `ExecutionTrial` behind the adapter of the cluster."""

    def placed(trial: ExecutionTrial, roster: Roster) -> Roster:
        if not (trial.project / ".git").exists():
            return roster
        return FakeCluster(trial.project.parent, trial.agent).roster(roster, trial.project)

    monkeypatch.setattr(ExecutionTrial, "placed", placed)


@pytest.mark.sweep(6)
@pytest.mark.usefixtures("on_workers")
@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
def test_the_engine_test_passes_on_workers(test: Callable[..., None], tmp_path: Path) -> None:
    test(tmp_path=tmp_path)


@pytest.mark.walk
@pytest.mark.usefixtures("on_workers")
@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
def test_every_engine_test_passes_on_workers(test: Callable[..., None], tmp_path: Path) -> None:
    test(tmp_path=tmp_path)


@pytest.mark.usefixtures("on_workers")
def test_a_file_that_an_agent_deletes_on_a_worker_is_deleted_here(tmp_path: Path) -> None:
    test_service.test_a_deletion_that_the_plan_declares_lands(tmp_path)


class ClusterTrial(ExecutionTrial):
    """A trial whose server a test can reach."""

    cluster: FakeCluster

    def placed(self, roster: Roster) -> Roster:
        """On the worker."""
        return self.cluster.roster(roster, self.project)


def a_trial(folder: Path, act: Callable[..., object] = succeeds) -> tuple[ClusterTrial, FakeServer]:
    project = a_project(folder / "project", a_plan("01-01", "a.txt"))
    trial = ClusterTrial(project, FakeAgent(act))  # type: ignore[arg-type]
    trial.cluster = FakeCluster(folder, trial.agent)
    return trial, trial.cluster.server


@pytest.fixture
def trial(tmp_path: Path) -> tuple[ClusterTrial, FakeServer]:
    return a_trial(tmp_path)


def test_a_shared_repository_that_cannot_be_read_is_named_before_the_run(tmp_path: Path) -> None:
    project = a_project(tmp_path / "project", a_plan("01-01", "a.txt"))
    cluster = FakeCluster(tmp_path, FakeAgent())
    session = cluster.session(project)
    session.require_remote()
    cluster.shared.rename(tmp_path / "elsewhere.git")

    with pytest.raises(RemoteUnreachable, match=str(cluster.shared)):
        session.require_remote()


def test_orders_name_no_path_of_the_coordinator(trial: tuple[ClusterTrial, FakeServer]) -> None:
    run, server = trial

    assert run.run().job.status == "DONE"

    assert server.texts
    assert not [text for text in server.texts.values() if str(run.project) in text]
    assert {id_.split("/")[0] for id_ in server.texts} == {"project"}


def test_a_lost_attempt_is_in_the_ledger_once_with_unknown_cost(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.lost = {"executor": 2, "architect": 1}

    assert run.run().job.status == "DONE"

    entries = ledger_entries(run.project)
    calls = [entry.call for entry in entries if entry.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]
    assert len(calls) == len({*calls}) == 5
    lost = [entry for entry in entries if entry.verdict == LOST]
    assert [(entry.kind, entry.tokens_in, entry.cost_usd) for entry in lost] == [
        (EntryKind.EXECUTE, 0, None),
        (EntryKind.EXECUTE, 0, None),
        (EntryKind.REVIEW, 0, None),
    ]
    assert len([each for each in commits_of(run.project) if each.startswith("feat(01-01)")]) == 1


@pytest.mark.parametrize("role", ["executor", "architect"])
def test_a_restarted_coordinator_attaches_to_the_call(
    trial: tuple[ClusterTrial, FakeServer], role: str
) -> None:
    run, server = trial
    server.dies_in, server.lost = role, {role: 1}
    with pytest.raises(CoordinatorKilledError):
        run.run()
    calls = len(run.agent.orders)

    assert run.run().job.status == "DONE"

    # The call of the killed coordinator was not made again: only what followed it was.
    assert len(run.agent.orders) == calls + (role == "executor")
    entries = ledger_entries(run.project)
    made = [entry.call for entry in entries if entry.call]
    assert len(made) == len({*made}) == 3
    assert [entry.verdict for entry in entries if entry.verdict == LOST] == [LOST]
    assert server.cancelled == []


def test_a_restarted_coordinator_attaches_to_the_verify_command(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.dies_in = "command"
    with pytest.raises(CoordinatorKilledError):
        run.run()
    commands = [id_ for id_ in server.texts if "/verify-" in id_]

    assert run.run().job.status == "DONE"

    assert [id_ for id_ in server.texts if "/verify-" in id_] == commands
    assert len(commands) == 1


def test_a_verify_command_that_was_cancelled_runs_again(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.dies_in = "command"
    with pytest.raises(CoordinatorKilledError):
        run.run()
    [command] = [id_ for id_ in server.texts if "/verify-" in id_]
    server.ends[command] = CallEnd(1, is_cancelled=True)

    assert run.run().job.status == "DONE"

    assert len([id_ for id_ in server.texts if "/verify-" in id_]) == 2


def test_a_call_with_another_input_is_cancelled_and_counted(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.dies_in = "executor"
    with pytest.raises(CoordinatorKilledError):
        run.run()
    roadmap = run.project / ".planning/ROADMAP.md"
    roadmap.write_text(roadmap.read_text().replace("Phase 1: Work", "Phase 1: Other work"))

    assert run.run().job.status == "DONE"

    executed = [each for each in ledger_entries(run.project) if each.kind is EntryKind.EXECUTE]
    assert [entry.verdict for entry in executed] == ["killed", "executor-success"]
    assert len(server.cancelled) == 1
    assert len({*server.texts}) == len(server.texts)


def test_a_failure_of_the_agent_is_a_result_and_no_lost_attempt(tmp_path: Path) -> None:
    def fails_once(order: AgentCall, call: int) -> object:
        if call == 1 and not order.is_read_only:
            return CallResult(EndKind.FAILED, error="it gave up", exit_code=3)
        return succeeds(order, call)

    run, server = a_trial(tmp_path, fails_once)

    assert run.run().job.status == "DONE"

    verdicts = [entry.verdict for entry in ledger_entries(run.project)]
    assert verdicts.count("executor-failure") == 1
    assert LOST not in verdicts
    assert {end.attempt for end in server.ends.values()} == {1}


def test_long_texts_travel_by_git(tmp_path: Path) -> None:
    def says_much(order: AgentCall, call: int) -> object:
        answer = block(order.prompt, succeeds(order, call))
        return CallResult(EndKind.OK, f"{'é ' * LONGEST_TEXT}\n\n{answer}", exit_code=0)

    run, server = a_trial(tmp_path, says_much)
    plan = run.project / ".planning/phases/01-work/01-01-PLAN.md"
    text = plan.read_text()
    plan.write_text(text.replace("Write a.txt.", f"Write a.txt. {'ü' * LONGEST_TEXT}"))

    assert run.run().job.status == "DONE"

    assert max(map(len, server.texts.values())) < LONGEST_TEXT
    assert max(len(end.report) for end in server.ends.values()) < LONGEST_TEXT
    prompts = [order.prompt for order in run.agent.orders]
    assert any("ü" * 1000 in prompt for prompt in prompts)


def test_the_coordinator_decides_on_the_merged_tree(tmp_path: Path) -> None:
    project = a_project(tmp_path / "project", a_plan("01-01", "a.txt"))
    plan = project / ".planning/phases/01-work/01-01-PLAN.md"
    plan.write_text(plan.read_text().replace("test -f a.txt", "test -f never.txt"))
    run = ClusterTrial(project, FakeAgent())
    run.cluster = FakeCluster(tmp_path, run.agent)
    server = run.cluster.server

    def lies(order: CallOrder, report: str) -> str:
        return report.replace('"exit_code":1', '"exit_code":0') if order.line else report

    server.forge = lies

    assert run.run().job.status == "BLOCKED"

    verify = [each for each in ledger_entries(project) if each.kind is EntryKind.VERIFY]
    assert [(each.verdict, each.note) for each in verify] == [
        ("verify-passed", "on the worker here:1"),
        ("verify-failed", "on the merged tree"),
    ]
    assert not (project / "a.txt").exists()


class TrustingTrial(ClusterTrial):
    """A trial whose verify runs on merged code take place on the worker, too."""

    def placed(self, roster: Roster) -> Roster:
        """On the worker, whose results are trusted."""
        return replace(super().placed(roster), trusts_workers=True)


@pytest.mark.parametrize(("kind", "trusted"), [(ClusterTrial, 0), (TrustingTrial, 1)])
def test_the_report_of_a_job_counts_the_verify_runs_that_were_trusted(
    tmp_path: Path, kind: type[ClusterTrial], trusted: int
) -> None:
    project = a_project(tmp_path / "project", a_plan("01-01", "a.txt"))
    run = kind(project, FakeAgent())
    run.cluster = FakeCluster(tmp_path, run.agent)
    job = run.run().job

    assert App(str(project)).jobs.report(job.id).trusted_verify_runs == trusted


def test_the_result_equals_that_of_a_local_run(tmp_path: Path) -> None:
    def result_of(project: Path) -> tuple[object, ...]:
        facts = [
            (entry.kind, entry.task, entry.attempt, entry.verdict, entry.exit_code, entry.tree)
            for entry in ledger_entries(project)
        ]
        summary = (project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
        lines = [
            line for line in summary.splitlines() if not re.match("ledger|duration|comp", line)
        ]
        text = re.sub("`[0-9a-f]{7,40}`", "", "\n".join(lines))
        return facts, text, commits_of(project), git(project, "ls-tree", "HEAD", "--name-only")

    (tmp_path / "remote").mkdir()
    run, _ = a_trial(tmp_path / "remote")
    local = ExecutionTrial(a_project(tmp_path / "local/project", a_plan("01-01", "a.txt")))

    assert run.run().job.status == local.run().job.status == "DONE"
    assert result_of(run.project) == result_of(local.project)


def test_a_lost_attempt_of_a_council_is_in_the_ledger_of_its_job(tmp_path: Path) -> None:
    def loses_one(prompt: str) -> CallResult:
        return CallResult(EndKind.OK, answer(prompt), exit_code=0, call="seat-1", lost=1)

    council = a_council(tmp_path, model=ScriptedModel({"skeptic": loses_one}))

    job = council.run()

    assert job.status == "APPROVED"
    lost = [entry for entry in ledger_entries(council.project) if entry.verdict == LOST]
    assert [(entry.call, entry.job, entry.cost_usd) for entry in lost] == [
        ("seat-1.1", job.id, None)
    ]


def test_calls_of_ended_jobs_are_ended_whoever_left_them(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    ids = ["project/over/call-1", "project/open/call-1", "project/open-2/call-1"]
    server.texts |= dict.fromkeys(ids, "{}")  # as if their coordinators had been killed

    run.cluster.session(run.project).clean_up(["open"])

    assert server.cancelled == [ids[0], ids[2]]
    assert server.open_calls() == (ids[1],)


def test_the_command_of_a_job_on_workers_names_the_cluster(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.dies_in = "executor"
    with pytest.raises(CoordinatorKilledError):
        run.run()

    (record,) = [path.read_text() for path in (run.project / ".planning/jobs").glob("*/job.json")]

    assert revived(Job, json.loads(record)).command == "fairlead phase execute 01 --cluster"


class ClusterCouncil(CouncilProject):
    """A council whose calls run on the worker of a fake cluster."""

    cluster: FakeCluster

    @property
    def council_run(self) -> CouncilRun:
        """See the class."""
        run = super().council_run
        session = self.cluster.session(self.project)
        respondents = {
            role: tuple(replace(each, agent=RemoteAgent(each.agent, session)) for each in several)
            for role, several in run.setup.roster.respondents.items()
        }
        roster = replace(
            run.setup.roster, respondents=respondents, ready=session.ready, calls=session
        )
        return replace(run, setup=replace(run.setup, roster=roster))


def a_cluster_council(folder: Path) -> ClusterCouncil:
    council = ClusterCouncil(a_project(folder / "project"))
    council.cluster = FakeCluster(folder, council.model)
    return council


@pytest.mark.sweep(2)
@pytest.mark.parametrize("role", ["pm", "seat", "synthesis", "ballot"])
def test_a_restarted_council_attaches_to_its_calls(tmp_path: Path, role: str) -> None:
    whole = a_cluster_council(tmp_path / "whole")
    assert whole.run().status == "APPROVED"
    council = a_cluster_council(tmp_path / "killed")
    council.cluster.server.dies_in = role
    with pytest.raises(CoordinatorKilledError):
        council.run()

    job = council.run()

    assert (job.status, job.is_on_cluster) == ("APPROVED", True)
    assert job.command.endswith(" --cluster")
    # No call was made twice: as many reached the worker as without a kill.
    assert len(council.model.asked) == len(whole.model.asked)
    assert council.cluster.server.cancelled == []


def test_a_call_of_a_council_with_another_input_is_given_up_and_counted(tmp_path: Path) -> None:
    council = a_cluster_council(tmp_path)
    council.cluster.server.dies_in = "pm"
    with pytest.raises(CoordinatorKilledError):
        council.run()
    git(council.project, "commit", "--quiet", "--allow-empty", "-m", "another base")

    assert council.run().status == "APPROVED"

    lost = [entry for entry in ledger_entries(council.project) if entry.verdict == LOST]
    assert [entry.cost_usd for entry in lost] == [None]


def test_a_late_push_of_a_lost_attempt_changes_nothing(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, server = trial
    server.lost = {"executor": 1}
    assert run.run().job.status == "DONE"
    session = run.cluster.session(run.project)
    session.clean_up()
    before = (commits_of(run.project), ledger_entries(run.project), git(run.project, "status"))
    call = next(id_ for id_, end in server.ends.items() if end.attempt == 2)

    server.perform(server.texts[call], 1, lambda: True)  # its agent ended after the job
    assert [name.rpartition("/")[2] for name in run.cluster.refs()] == ["1"]
    with pytest.raises(NothingToExecute):
        run.run()
    session.clean_up()

    after = (commits_of(run.project), ledger_entries(run.project), git(run.project, "status"))
    assert after == before
    assert run.cluster.refs() == []


def test_nothing_of_a_run_stays_in_the_private_folder(
    trial: tuple[ClusterTrial, FakeServer],
) -> None:
    run, _ = trial
    assert run.run().job.status == "DONE"
    exchange = run.cluster.remote(run.project)
    assert exchange.fetched("refs/fairlead/")

    run.cluster.session(run.project).clean_up()

    assert exchange.fetched("refs/") == ("refs/kept/base",)


def test_a_call_is_not_lost_while_the_shared_repository_is_away(tmp_path: Path) -> None:
    calls: list[str] = []

    def act(call: AgentCall, number: int) -> object:
        calls.append(call.role)
        result = succeeds(call, number)
        if not call.is_read_only:
            run.cluster.go_away()  # before the worker pushes
        return result

    def away(order: CallOrder, report: str) -> str:
        if not order.is_read_only:
            run.cluster.go_away()  # before the coordinator fetches
        return report

    run, server = a_trial(tmp_path, act)
    server.forge = away

    assert run.run().job.status == "DONE"
    assert calls == ["executor", "architect"]
    assert run.cluster.pauses == 2
    assert all(entry.verdict != LOST for entry in ledger_entries(run.project))


def test_an_outage_that_is_too_long_ends_the_run_and_loses_no_call(tmp_path: Path) -> None:
    run, server = a_trial(tmp_path)
    cluster = run.cluster
    cluster.outage_seconds, cluster.shared_returns = 0.0, False

    def away(_: CallOrder, report: str) -> str:
        cluster.go_away()
        return report

    server.forge = away
    with pytest.raises(RemoteUnreachable) as error:
        run.run()
    assert error.value.exit_code == 5

    server.forge = lambda _, report: report
    (cluster.folder / "away.git").rename(cluster.shared)
    assert run.run().job.status == "DONE"
    entries = ledger_entries(run.project)
    assert [entry.verdict for entry in entries if entry.kind is EntryKind.EXECUTE] == [
        "executor-success"
    ]


def test_bases_that_no_running_call_needs_are_deleted_during_a_run(tmp_path: Path) -> None:
    plans = [a_plan(f"01-{number:02d}", f"f{number}.txt") for number in range(1, 49)]
    most = 0

    def act(call: AgentCall, number: int) -> Mapping[str, object] | CallResult:
        nonlocal most
        most = max(most, sum("/base/" in each for each in run.cluster.refs()))
        return succeeds(call, number)

    run = ClusterTrial(a_project(tmp_path / "project", *plans), FakeAgent(act), slots=2)
    run.cluster = FakeCluster(tmp_path, run.agent)

    assert run.run().job.status == "DONE"
    assert 16 < most < 60  # of about a hundred


def test_refs_of_ended_jobs_are_deleted_whoever_left_them(tmp_path: Path) -> None:
    run, _ = a_trial(tmp_path)
    assert run.run().job.status == "DONE"
    left = run.cluster.refs()
    assert left  # as if the coordinator had been killed before it deleted them
    late, other = ("refs/fairlead/project/other/out/late/1", "refs/fairlead/elsewhere/job/base/x")
    commit = git(run.cluster.shared, "rev-parse", left[0]).strip()
    for name in (late, other):
        git(run.cluster.shared, "update-ref", name, commit)

    run.cluster.session(run.project).clean_up(["other"])
    assert sorted(run.cluster.refs()) == sorted((late, other))
    run.cluster.session(run.project).clean_up()
    assert run.cluster.refs() == [other]
