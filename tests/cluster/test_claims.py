"""A worker that lies is refused, and the refusal says why."""

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.agents.model import CallLimits, CallResult, CallSource, EndKind
from fairlead.cluster.claims import MOST_FILES, claim_fault, size_fault, weight_fault
from fairlead.cluster.model import (
    LONGEST_PAYLOAD,
    LONGEST_REASON,
    CallAddress,
    CallEnd,
    CallKind,
    CallOrder,
    CallReport,
    SentLimits,
    WorkerIdentity,
    encoded,
    order_of,
    report_of,
)
from fairlead.core.errors import AgentError, DocumentError
from fairlead.core.values import replace
from fairlead.plans.model import CommandResult
from tests.cluster.test_engine import ClusterTrial, a_trial
from tests.execution import test_subfolders
from tests.support.cluster import ledger_entries
from tests.support.execution import FakeAgent, a_plan
from tests.support.fake_cluster import FakeCluster

Lie = Callable[[ClusterTrial, CallOrder, CallReport], CallReport | str]


def another_call(_: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    return replace(report, call=f"{order.address.project}/{order.address.job}/another")


def another_input(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, digest="0" * 64)


def another_attempt(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, attempt=7)


def another_tree(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, tree="1" * 40)


def another_commit(_: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    return replace(report, commit=order.source.commit)


def shared_git(trial: ClusterTrial, *words: str, stdin: bytes = b"") -> str:
    shared = ["git", "-C", str(trial.cluster.shared), "-c", "user.name=x", "-c", "user.email=x"]
    done = subprocess.run([*shared, *words], check=True, capture_output=True, input=stdin)
    return done.stdout.decode().strip()


def pushed(trial: ClusterTrial, report: CallReport, tree: str, *parents: str) -> CallReport:
    """The report of a worker that pushed a commit of its own making, and says so."""
    after = [word for parent in parents for word in ("-p", parent)]
    commit = shared_git(trial, "commit-tree", tree, *after, "-m", "made by hand")
    shared_git(trial, "update-ref", report.ref, commit)
    return replace(report, commit=commit, tree=tree)


def unrelated_commit(trial: ClusterTrial, _: CallOrder, report: CallReport) -> CallReport:
    return pushed(trial, report, report.tree)


def huge_tree(trial: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    """A small push that would fill the disk: one file of zeros under many names."""
    blob = shared_git(trial, "hash-object", "-w", "--stdin", stdin=bytes(64 << 20))
    listed = "".join(f"100644 blob {blob}\tzeros-{at}\n" for at in range(20))
    tree = shared_git(trial, "mktree", stdin=listed.encode())
    return pushed(trial, report, tree, order.source.commit)


def tree_in_git(trial: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    """Files that would land in the folder of git itself."""
    hook = shared_git(trial, "hash-object", "-w", "--stdin", stdin=b"#!/bin/sh\n")
    inner = shared_git(trial, "mktree", stdin=f"100755 blob {hook}\tpost-checkout\n".encode())
    hooks = shared_git(trial, "mktree", stdin=f"040000 tree {inner}\thooks\n".encode())
    tree = shared_git(trial, "mktree", stdin=f"040000 tree {hooks}\t.git\n".encode())
    return pushed(trial, report, tree, order.source.commit)


def tree_of_trees(trial: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    """A few small objects with ten billion files: each folder holds the next one ten times."""
    blob = shared_git(trial, "hash-object", "-w", "--stdin", stdin=b"x")
    entry = f"100644 blob {blob}"
    for _ in range(10):
        listed = "".join(f"{entry}\t{at}\n" for at in range(10))
        entry = f"040000 tree {shared_git(trial, 'mktree', stdin=listed.encode())}"
    return pushed(trial, report, entry.split()[-1], order.source.commit)


def malformed_commit(trial: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    text = f"tree {report.tree}\nparent {order.source.commit}\n\nby nobody\n"
    words = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    commit = shared_git(trial, *words, stdin=text.encode())
    shared_git(trial, "update-ref", report.ref, commit)
    return replace(report, commit=commit)


def long_name(trial: ClusterTrial, order: CallOrder, report: CallReport) -> CallReport:
    """A tree that git can only write in part."""
    blob = shared_git(trial, "hash-object", "-w", "--stdin", stdin=b"x")
    listed = f"100644 blob {blob}\ta.txt\n100644 blob {blob}\t{'n' * 300}\n"
    tree = shared_git(trial, "mktree", stdin=listed.encode())
    return pushed(trial, report, tree, order.source.commit)


def foreign_ref(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, ref="refs/heads/main")


def missing_ref(trial: ClusterTrial, _: CallOrder, report: CallReport) -> CallReport:
    shared_git(trial, "update-ref", "-d", report.ref)
    return report


def false_exit_code(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    assert report.result
    return replace(report, result=replace(report.result, exit_code=1))


def own_accounting(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    assert report.result
    return replace(report, result=replace(report.result, lost=3))


def negative_cost(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    assert report.result
    return replace(report, result=replace(report.result, cost_usd=-5.0))


def other_kind(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, result=None, command=CommandResult(0, 1.0, "", ""))


def old_version(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, version="0.0.1")


def huge_payload(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, worker="w" * LONGEST_PAYLOAD)


def infinite_cost(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    assert report.result
    return replace(report, result=replace(report.result, cost_usd=float("inf")))


def codes_in_a_name(_: ClusterTrial, __: CallOrder, report: CallReport) -> CallReport:
    return replace(report, worker="\ud800\x1b[2J")


def malformed(_: ClusterTrial, __: CallOrder, ___: CallReport) -> str:
    return '{"call": 7}'


LIES: dict[Lie, str] = {
    another_call: "the result of another call",
    another_input: "the result of another call",
    another_attempt: "of attempt 7, and the server reports attempt 1",
    another_tree: "it claims another tree",
    another_commit: "its ref holds",
    unrelated_commit: "does not follow",
    huge_tree: "its tree adds or changes 1,342,",
    tree_in_git: "hasDotgit",
    tree_of_trees: "its tree cannot be read: git diff-tree",
    malformed_commit: "missingAuthor",
    long_name: "is refused: git read-tree",
    foreign_ref: "a ref outside its own: refs/heads/main",
    missing_ref: "its ref cannot be fetched",
    false_exit_code: "success with exit code 1",
    own_accounting: "values that only the coordinator sets",
    negative_cost: "its cost is -5.0",
    infinite_cost: "its cost is inf",
    codes_in_a_name: r"it is of no worker: '?\x1b[2J'",
    other_kind: "no result of this kind",
    old_version: "the worker has version 0.0.1",
    huge_payload: "its payload has",
    malformed: "it is malformed",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_lie_about_a_call_is_refused_by_name(lie: Lie, tmp_path: Path) -> None:
    trial, server = a_trial(tmp_path)
    lies = [True]

    def forge(order: CallOrder, text: str) -> str:
        if order.role != "executor" or not lies:
            return text
        lies.clear()
        claimed = lie(trial, order, report_of(text))
        return claimed if isinstance(claimed, str) else encoded(claimed)

    server.forge = forge

    assert trial.run().job.status == "DONE"  # the second attempt is honest

    first, *_ = [entry for entry in ledger_entries(trial.project) if entry.kind == "execute"]
    assert first.verdict == "executor-failure"
    assert "is refused" in first.tail
    assert LIES[lie] in first.tail
    assert (first.tokens_in, first.cost_usd, first.note) == (0, None, "")


def test_a_small_report_is_read() -> None:
    assert size_fault("x" * LONGEST_PAYLOAD) == ""
    assert size_fault("x" * (LONGEST_PAYLOAD + 1))
    assert weight_fault(MOST_FILES, 1) == ""
    assert weight_fault(MOST_FILES + 1, 1)


_LIMITS = SentLimits.of(CallLimits())
_ORDER = CallOrder(
    CallAddress("p", "j", "c"), CallKind.AGENT, "fake", "x", CallSource("0" * 40), _LIMITS
)
_RESULT = CallResult(EndKind.OK, exit_code=0)
_REPORT = CallReport("p/j/c", "digest", 1, "here:1", result=_RESULT)
_COMMAND = replace(_REPORT, result=None, command=CommandResult(1, 1.0, "", ""))
_NAN, _HUGE = float("nan"), int("9" * 4000)


IMPOSSIBLE: list[tuple[CallReport, str, object, str]] = [
    (_REPORT, "result.cost_usd", _NAN, "its cost is nan"),
    (_REPORT, "result.seconds", _NAN, "its duration is nan"),
    (_REPORT, "result.seconds", 1e300, "its duration is 1e+300"),
    (_REPORT, "result.retry_after", _NAN, "its time to wait is nan"),
    (_REPORT, "result.exit_code", _HUGE, "its exit code is 999"),
    (_REPORT, "result.dropped_bytes", -1, "its number of dropped bytes is -1"),
    (_REPORT, "result.usage.tokens_out", _HUGE, "its number of tokens is 999"),
    (_REPORT, "result.usage.tokens_cached", 10**30, "its number of tokens is 1000"),
    (_REPORT, "result.session", "s" * 2000, "its session has 2,000 characters"),
    (_REPORT, "result.model", "m" * 2000, "its model has 2,000 characters"),
    (_REPORT, "result.denied", ["t" * 2000], "its name of a tool has 2,000 characters"),
    (_REPORT, "text", {"text": "a", "object": "b"}, "it has two answers"),
    (_REPORT, "worker", "", "it is of no worker: ''"),
    (_COMMAND, "command.seconds", float("inf"), "its duration is inf"),
    (_COMMAND, "command.exit_code", _HUGE, "its exit code is 999"),
    (_COMMAND, "command.sha256", "\x1b[2J", "its sha256 is '\\x1b[2J'"),
    (_COMMAND, "command.is_stopped", True, "it claims that the command was stopped"),
    (_COMMAND, "text", {"text": "a"}, "a command has neither"),
]


@pytest.mark.parametrize(("report", "part", "value", "fault"), IMPOSSIBLE, ids=itertools.count())
def test_an_impossible_value_is_refused_by_name(
    report: CallReport, part: str, value: object, fault: str
) -> None:
    document = json.loads(encoded(report))
    *above, name = part.split(".")
    inside = document
    for each in above:
        inside = inside[each]
    inside[name] = value
    order = replace(_ORDER, kind=CallKind.AGENT if report.result else CallKind.COMMAND)
    assert claim_fault(order, "digest", 1, report) == ""

    assert fault in claim_fault(order, "digest", 1, report_of(json.dumps(document)))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "null", '"'], ids=len
)
def test_a_malformed_text_is_an_error_that_callers_handle(text: str) -> None:
    for read in (order_of, report_of):
        with pytest.raises((DocumentError, ValueError)):
            read(text)


def test_no_file_has_to_hold_half_a_character(tmp_path: Path) -> None:
    trial, server = a_trial(tmp_path)

    def forge(order: CallOrder, text: str) -> str:
        report = report_of(text)
        if order.role != "executor" or not report.result:
            return text
        error = "\udc00\x1b[2J\n" + "long " * 10_000
        result = replace(report.result, kind=EndKind.FAILED, error=error, session="\ud800")
        return encoded(replace(report, result=result))

    server.forge = forge

    assert trial.run().job.status == "BLOCKED"

    first, *_ = [entry for entry in ledger_entries(trial.project) if entry.kind == "execute"]
    assert (first.session, len(first.tail)) == ("?", LONGEST_REASON)


def test_a_reason_is_one_visible_line_of_limited_length(tmp_path: Path) -> None:
    trial, server = a_trial(tmp_path)

    failure = "lost\n\x07\ud800 password=hunter2hunter2 " + "x" * 100_000
    server.forge = lambda _order, _report: CallEnd(1, failure=failure)

    assert trial.run().job.status == "BLOCKED"

    first, *_ = [entry for entry in ledger_entries(trial.project) if entry.kind == "execute"]
    assert first.tail.startswith(r"no worker finished it: lost \x07\ud800 password=[")
    assert len(first.tail) == LONGEST_REASON


@pytest.mark.parametrize("mode", ["100644", "120000"])
def test_a_tree_without_the_folder_of_the_project_is_refused(tmp_path: Path, mode: str) -> None:
    local = test_subfolders.a_trial(tmp_path, a_plan("01-01", "a.txt"))
    trial = ClusterTrial(local.project, FakeAgent())
    trial.cluster = FakeCluster(tmp_path, trial.agent)
    lies = [True]

    def forge(order: CallOrder, text: str) -> str:
        if order.role != "executor" or not lies:
            return text
        lies.clear()
        blob = shared_git(trial, "hash-object", "-w", "--stdin", stdin=b"nowhere")
        tree = shared_git(trial, "mktree", stdin=f"{mode} blob {blob}\tapps\n".encode())
        return encoded(pushed(trial, report_of(text), tree, order.source.commit))

    trial.cluster.server.forge = forge

    assert trial.run().job.status == "DONE"

    first, *_ = [entry for entry in ledger_entries(trial.project) if entry.kind == "execute"]
    assert "apps/one/ is no folder in this commit" in first.tail


def test_a_command_that_nobody_stopped_is_not_repeated_for_ever(tmp_path: Path) -> None:
    trial, server = a_trial(tmp_path)

    def forge(order: CallOrder, text: str) -> str:
        report = report_of(text)
        if report.command is None:
            return text
        return encoded(replace(report, command=replace(report.command, is_stopped=True)))

    server.forge = forge

    assert trial.run().job.status == "BLOCKED"

    verify = [each for each in ledger_entries(trial.project) if each.kind == "verify"]
    assert {each.verdict for each in verify} == {"verify-failed"}
    assert all("is refused: it claims that the command was stopped" in each.tail for each in verify)


def test_an_order_whose_names_lead_out_of_their_folder_is_refused(tmp_path: Path) -> None:
    trial, server = a_trial(tmp_path)
    orders = []

    def seen(order: CallOrder, report: str) -> str:
        orders.append(order)
        return report

    server.forge = seen
    trial.run()
    order = orders[0]
    for bad in (
        replace(order, address=replace(order.address, call="../../x")),
        replace(order, source=replace(order.source, subfolder="../..")),
        replace(order, source=replace(order.source, left_out=("/etc",))),
        replace(order, version="0.0.1"),
        replace(order, agent="claude"),
        replace(order, agent="claude", queue="claude"),
        replace(order, kind=CallKind.COMMAND),
        replace(order, source=replace(order.source, commit="--index-output=x")),
        replace(order, limits=replace(order.limits, wall=float("nan"))),
        replace(order, limits=replace(order.limits, idle=1e300)),
    ):
        with pytest.raises(AgentError, match=r"lead out|has version|the queue|no commit|malformed"):
            server.perform(encoded(bad), 1, lambda: True)


def test_the_identity_of_a_worker_survives_the_server() -> None:
    identity = WorkerIdentity("host.example", 42, 3)

    assert WorkerIdentity.parse(str(identity)) == identity


@pytest.mark.parametrize(
    "text",
    [
        "12345@host",
        "fairlead/1.0//host/5",  # no slots
        "fairlead/1.0/\u0663/host/5",  # a digit of another script
        "fairlead/1.0/1000000000/host/5",
        "fairlead/1.0/0/host/5",
        "fairlead/1.0/1/\x1b[2J/5",
        "fairlead/1.0/1/host/" + "9" * 50,
    ],
    ids=ascii,
)
def test_an_identity_that_no_worker_has_is_not_counted(text: str) -> None:
    assert WorkerIdentity.parse(text) is None
