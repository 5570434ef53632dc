"""`fairlead cluster` and `--cluster`, as far as they need no server."""

import json
import os
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.cluster.dev_server import reserve
from fairlead.cluster.errors import DevServerRuns
from fairlead.cluster.model import WorkerIdentity
from fairlead.cluster.service import CallStatus, ClusterStatus, QueueReport
from fairlead.cluster.worker import WorkerEvent
from fairlead.core.values import replace
from fairlead.interfaces.cli.cluster import event_text, status_lines
from fairlead.interfaces.cli.output import Styled
from tests.conftest import Fairlead, Outcome
from tests.support.cluster import free_ports, why_no_server
from tests.support.execution import a_plan, a_project

needs_program = pytest.mark.skipif(bool(why := why_no_server()), reason=why)


def error_of(done: Outcome) -> tuple[int, str]:
    return done.exit_code, json.loads(done.stdout)["error"]["code"]


def status_text(*calls: CallStatus, queues: tuple[QueueReport, ...] = ()) -> str:
    status = ClusterStatus("crane:7233", "default", queues, calls)
    return "\n".join(
        "".join(part.text if isinstance(part, Styled) else part for part in line)
        for line in status_lines(status)
    )


@needs_program
def test_a_dry_run_of_the_development_server_says_that_nothing_runs(fairlead: Fairlead) -> None:
    done = fairlead("cluster", "dev", "--dry-run")

    assert done.stdout.startswith("✓ would start Temporal on 127.0.0.1:7233")
    assert "cluster.ui" not in done.stdout


@needs_program
def test_the_commands_after_the_server_work_in_any_folder_and_home(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    home = {"XDG_STATE_HOME": str(tmp_path / "my state")}
    done = fairlead("cluster", "dev", "--dry-run", "--ui-port", "8444", env=home)

    lines = done.stdout.splitlines()
    shared = f"'{tmp_path}/my state/fairlead/cluster/shared.git'"
    remote = f"fairlead config set --user fairlead.cluster.remote {shared}"
    assert lines[2] == f"  git init --quiet --bare {shared} && {remote}"
    ui = "http://127.0.0.1:8444"
    assert lines[3] == f"  fairlead config set --user fairlead.cluster.ui {ui}"


@needs_program
@pytest.mark.parametrize("option", ["--port", "--ui-port"])
def test_a_port_in_use_is_named_before_the_server_starts(fairlead: Fairlead, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        other = "--ui-port" if option == "--port" else "--port"
        words = (option, str(port), other, str(free_ports(1)[0]))
        done = fairlead("cluster", "dev", *words, "--json")

    assert error_of(done) == (4, "dev-port-busy")
    assert str(port) in done.stderr


def test_a_second_server_with_the_same_database_is_refused(tmp_path: Path) -> None:
    lock = reserve(str(tmp_path), *free_ports(2))
    try:
        with pytest.raises(DevServerRuns, match=str(tmp_path)):
            reserve(str(tmp_path), *free_ports(2))
    finally:
        os.close(lock)


def test_an_address_without_a_port_is_refused(fairlead: Fairlead) -> None:
    for words in (("cluster", "status"), ("worker", "--queue", "verify")):
        assert error_of(fairlead(*words, "--address", "crane", "--json")) == (2, "cluster-settings")


def test_the_status_names_the_worker_of_a_call_in_80_columns() -> None:
    job = "0123456789abcdef/execute-01-20261119-033050/01-02-01-r1-architect-6c5d48c0"
    age = timedelta(seconds=4)
    running = CallStatus(job, "claude", age, "http://ui", 2, "crane:17")
    text = status_text(running)

    assert "    claude, on crane:17, attempt 2, 4 s old" in text
    assert max(map(len, text.splitlines())) <= 80
    waiting = status_text(CallStatus(job, "claude", age, "http://ui", 1))
    assert "    claude, waits for a worker, 4 s old" in waiting
    assert "waits for its coordinator" in status_text(CallStatus(job, "claude", age, "http://ui"))


def test_the_status_names_the_command_for_queues_without_a_worker() -> None:
    served = QueueReport("verify", 0, (WorkerIdentity("crane", 17, 2),))
    text = status_text(queues=(QueueReport("claude", 3, ()), served))

    assert "claude" in text
    assert "start a worker: fairlead worker --queue claude" in text.splitlines()


def test_a_worker_prints_one_line_for_the_begin_and_the_end_of_a_call() -> None:
    call = WorkerEvent("began", "0123456789abcdef/execute-01/01-02-01-r1-executor-6c5d48c0", 2)
    name = "execute-01/01-02-01-r1-executor-6c5d48c0"
    lost = replace(call, name="failed", seconds=0.44, fault="the worker was stopped")

    assert event_text(call, ()) == f"began {name}, attempt 2"
    assert event_text(replace(lost, name="finished"), ()) == f"finished {name} after 0.4 s"
    assert event_text(lost, ()) == f"did not finish {name} after 0.4 s: the worker was stopped"


@pytest.mark.parametrize("words", [("phase", "execute", "1"), ("run", "goal")])
def test_a_dry_run_with_cluster_needs_what_the_run_needs(
    fairlead: Fairlead, tmp_path: Path, words: tuple[str, ...]
) -> None:
    project = a_project(tmp_path / "project", a_plan("01-01", "a.txt"))
    done = fairlead(*words, "--rehearse", "--cluster", "--dry-run", "--json", cwd=project)

    assert error_of(done) == (2, "cluster-no-remote")
