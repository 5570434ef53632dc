"""Supervisors that are started ahead: used by the next call, and ended when no call is left."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.agents import supervision, supervisor
from fairlead.agents.cli_agent import CliAgent
from fairlead.agents.model import AgentCall, EndKind
from fairlead.agents.supervision import SupervisorPool
from fairlead.core import process
from tests.support.agents import an_order, called, hostile, soon
from tests.support.programs import ROOT


def agent_with(pool: SupervisorPool, *words: str) -> CliAgent:
    """The agent that misbehaves in one way, with pool that are started ahead."""
    agent = hostile(*words)
    return CliAgent(agent.driver, agent.program, supervisors=pool)


def one_job(folder: Path, job: str) -> AgentCall:
    return replace(an_order(folder), job=job)


def waiting(job: str) -> list[supervisor.ProcessMark]:
    return list(supervisor.carrying(supervisor.JOB, job))


def the_one_that_waits(job: str) -> supervisor.ProcessMark:
    """A program that was just started has no environment yet for who looks at once."""
    assert soon(lambda: len(waiting(job)) == 1)
    return waiting(job)[0]


def test_the_next_supervisor_is_started_ahead_and_used(tmp_path):
    pool = SupervisorPool()
    with pool.waiting("ahead"):
        first = the_one_that_waits("ahead")
        agent = agent_with(pool, "read_all")

        call = called(agent, one_job(tmp_path, "ahead"))

        assert call.ending.text == str(len("do it"))
        assert first not in waiting("ahead")  # it had its program, and went with it
        the_one_that_waits("ahead")
    assert waiting("ahead") == []


def test_outside_a_job_no_supervisor_waits(tmp_path):
    call = called(agent_with(SupervisorPool(), "read_all"), one_job(tmp_path, "alone"))

    assert (call.ending.kind, waiting("alone")) == (EndKind.OK, [])


def test_a_waiting_supervisor_that_was_killed_is_replaced(tmp_path):
    pool = SupervisorPool()
    with pool.waiting("killed"):
        agent = agent_with(pool, "read_all")
        supervisor.signal_mark(the_one_that_waits("killed"), signal.SIGKILL)
        assert soon(lambda: waiting("killed") == [])

        assert called(agent, one_job(tmp_path, "killed")).ending.kind is EndKind.OK


def test_a_waiting_supervisor_that_was_stopped_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_SEND_SECONDS", 0.2)
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.2)
    pool = SupervisorPool()
    with pool.waiting("stopped"):
        supervisor.signal_mark(the_one_that_waits("stopped"), signal.SIGSTOP)

        agent = agent_with(pool, "read_all", "x" * 100_000)  # more than a pipe holds
        call = called(agent, one_job(tmp_path, "stopped"), wall=0.5)

        assert call.ending.kind is EndKind.TIMEOUT
    assert soon(lambda: waiting("stopped") == [])


def test_a_call_continues_when_the_next_supervisor_cannot_start(tmp_path, monkeypatch):
    made: list[tuple[int, int]] = []

    def scarce() -> tuple[int, int]:
        if len(made) >= 2:  # of the next supervisor_'s four
            raise OSError(24, "Too many open files")
        made.append(pipe())
        return made[-1]

    pipe = os.pipe
    pool = SupervisorPool()
    with pool.waiting("scarce"):
        monkeypatch.setattr(os, "pipe", scarce)
        call = called(agent_with(pool, "read_all"), one_job(tmp_path, "scarce"))

    assert (call.ending.kind, waiting("scarce")) == (EndKind.OK, [])
    assert [each for each in sum(made, ()) if is_open(each)] == []


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def test_when_we_are_killed_waiting_supervisors_end_too(tmp_path):
    program = """if True:
        import sys; from pathlib import Path
        from tests.agents.test_supervisors import agent_with, one_job
        from tests.support.agents import called
        from fairlead.agents.supervision import SupervisorPool
        pool = SupervisorPool()
        with pool.waiting("orphan"):
            called(agent_with(pool, "read_all"), one_job(Path(sys.argv[1]), "orphan"))
            print("alive", flush=True)
            sys.stdin.read()
    """
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    run = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert run.stdout
    assert run.stdout.readline() == b"alive\n"
    the_one_that_waits("orphan")

    run.kill()
    run.communicate()

    assert soon(lambda: waiting("orphan") == [])


@pytest.mark.parametrize("word", ["a\0b", "a\ud800"])
def test_an_argument_with_a_nul_is_a_result(word, tmp_path):
    call = called(hostile("read_all", word), an_order(tmp_path))

    assert (call.ending.kind, call.left) == (EndKind.SPAWN, [])


def test_arguments_and_variables_arrive_unchanged(tmp_path, monkeypatch):
    odd = "a=b\nc\udcff \u2014"
    monkeypatch.setenv("SSL_CERT_FILE", odd)

    call = called(hostile("tell_word_and_variable", odd, "SSL_CERT_FILE"), an_order(tmp_path))

    assert call.ending.text == repr((odd, odd))
