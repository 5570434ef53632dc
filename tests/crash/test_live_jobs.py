"""A run as a real process, looked at from outside while it lives and after it was killed."""

import json
import signal
from pathlib import Path

from fairlead.app import App
from fairlead.interfaces.cli.job_page import job_page
from tests.support.execution import a_plan
from tests.support.killing import a_world, result_of, started, steps_of

ONE = (a_plan("01-02", "a.txt"),)


def test_a_killed_process_leaves_an_interrupted_job_that_its_command_continues(
    tmp_path: Path,
) -> None:
    world = a_world(tmp_path / "w", ONE)
    look = App(str(world / "project"))
    with started(world) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if json.loads(line)["kind"] == "call":
                break
        [job] = look.jobs.open_jobs()
        assert (job.status, job.state) == ("EXECUTING", "running")
        assert look.overview.status().next.command == f"fairlead job watch {job.id}"
        run.send_signal(signal.SIGKILL)
        run.wait()
    status = look.overview.status()
    [left] = status.jobs
    assert (left.id, left.status, left.state) == (job.id, "INTERRUPTED", "interrupted")
    assert status.next.command == left.command == "fairlead phase execute 01"
    page = job_page(look.jobs.report(job.id), left)
    assert not any("EXECUTING" in str(part) for line in page for part in line)
    assert [*look.jobs.follow(job.id)]
    steps_of(world, words=(*left.command.split()[1:], "--approve"))
    assert result_of(world).status == "DONE"
    assert look.jobs.open_jobs() == ()
