"""A worker that lies is refused, and the refusal says why."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.cluster.claims import size_fault
from fairlead.cluster.model import (
    LONGEST_PAYLOAD,
    CallOrder,
    CallReport,
    WorkerIdentity,
    encoded,
    report_of,
)
from fairlead.core.values import replace
from fairlead.plans.model import CommandResult
from tests.cluster.test_engine import ClusterTrial, a_trial
from tests.support.cluster import ledger_entries

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
    tree_in_git: "invalid path '.git/hooks/post-checkout'",
    foreign_ref: "a ref outside its own: refs/heads/main",
    missing_ref: "its ref cannot be fetched",
    false_exit_code: "success with exit code 1",
    own_accounting: "values that only the coordinator sets",
    negative_cost: "values that only the coordinator sets",
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
    assert (first.tokens_in, first.cost_usd) == (0, None)


def test_a_small_report_is_read() -> None:
    assert size_fault("x" * LONGEST_PAYLOAD) == ""
    assert size_fault("x" * (LONGEST_PAYLOAD + 1))


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
    ):
        with pytest.raises(Exception, match=r"lead out|has version"):
            server.perform(encoded(bad), 1, lambda: True)


def test_the_identity_of_a_worker_survives_the_server() -> None:
    identity = WorkerIdentity("host.example", 42, 3)

    assert WorkerIdentity.parse(str(identity)) == identity
    assert WorkerIdentity.parse("12345@host") is None
