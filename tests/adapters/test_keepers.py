"""Keepers that wait: started ahead, used by the next call, and gone when nothing is left to keep."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.adapters import keeper, process, supervision
from fairlead.adapters.agent import CliAgent
from fairlead.adapters.supervision import Keepers
from fairlead.model.agent_events import EndKind
from fairlead.model.agent_orders import Order
from tests.support.agents import an_order, called, hostile, soon
from tests.support.programs import ROOT


def kept_by(keepers: Keepers, *words: str) -> CliAgent:
    """The agent that misbehaves in one way, with keepers that are started ahead."""
    agent = hostile(*words)
    return CliAgent(agent.row, agent.program, keepers=keepers)


def one_job(folder: Path, job: str) -> Order:
    return replace(an_order(folder), job=job)


def waiting(job: str) -> list[keeper.Mark]:
    return list(keeper.carrying(keeper.JOB, job))


def the_one_that_waits(job: str) -> keeper.Mark:
    """A program that was just started has no environment yet for who looks at once."""
    assert soon(lambda: len(waiting(job)) == 1)
    return waiting(job)[0]


def test_while_one_works_the_next_is_started_and_it_is_the_one_that_is_used(tmp_path):
    keepers = Keepers()
    with keepers.waiting("ahead"):
        first = the_one_that_waits("ahead")
        agent = kept_by(keepers, "read_all")

        call = called(agent, one_job(tmp_path, "ahead"))

        assert call.ending.text == str(len("do it"))
        assert first not in waiting("ahead")  # it had its program, and went with it
        the_one_that_waits("ahead")
    assert waiting("ahead") == []


def test_outside_of_a_run_nobody_waits(tmp_path):
    call = called(kept_by(Keepers(), "read_all"), one_job(tmp_path, "alone"))

    assert (call.ending.kind, waiting("alone")) == (EndKind.OK, [])


def test_one_that_was_killed_while_it_waited_is_replaced(tmp_path):
    keepers = Keepers()
    with keepers.waiting("killed"):
        agent = kept_by(keepers, "read_all")
        keeper.signal_mark(the_one_that_waits("killed"), signal.SIGKILL)
        assert soon(lambda: waiting("killed") == [])

        assert called(agent, one_job(tmp_path, "killed")).ending.kind is EndKind.OK


def test_one_that_was_stopped_while_it_waited_is_given_up_within_the_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_ASK_SECONDS", 0.2)
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.2)
    keepers = Keepers()
    with keepers.waiting("stopped"):
        keeper.signal_mark(the_one_that_waits("stopped"), signal.SIGSTOP)

        agent = kept_by(keepers, "read_all", "x" * 100_000)  # more than a pipe holds
        call = called(agent, one_job(tmp_path, "stopped"), wall=0.5)

        assert call.ending.kind is EndKind.TIMEOUT
    assert soon(lambda: waiting("stopped") == [])


def test_a_call_goes_on_when_the_next_keeper_cannot_be_made(tmp_path, monkeypatch):
    made: list[tuple[int, int]] = []

    def scarce() -> tuple[int, int]:
        if len(made) >= 2:  # of the next keeper's four
            raise OSError(24, "Too many open files")
        made.append(pipe())
        return made[-1]

    pipe = os.pipe
    keepers = Keepers()
    with keepers.waiting("scarce"):
        monkeypatch.setattr(os, "pipe", scarce)
        call = called(kept_by(keepers, "read_all"), one_job(tmp_path, "scarce"))

    assert (call.ending.kind, waiting("scarce")) == (EndKind.OK, [])
    assert [each for each in sum(made, ()) if is_open(each)] == []


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def test_when_we_are_killed_who_waits_ends_too(tmp_path):
    program = """if True:
        import sys; from pathlib import Path
        from tests.adapters.test_keepers import kept_by, one_job
        from tests.support.agents import called
        from fairlead.adapters.supervision import Keepers
        keepers = Keepers()
        with keepers.waiting("orphan"):
            called(kept_by(keepers, "read_all"), one_job(Path(sys.argv[1]), "orphan"))
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
def test_a_word_that_no_system_can_take_is_an_ending(word, tmp_path):
    call = called(hostile("read_all", word), an_order(tmp_path))

    assert (call.ending.kind, call.left) == (EndKind.SPAWN, [])


def test_words_and_variables_come_as_they_are(tmp_path, monkeypatch):
    odd = "a=b\nc\udcff \u2014"
    monkeypatch.setenv("SSL_CERT_FILE", odd)

    call = called(hostile("tell_word_and_variable", odd, "SSL_CERT_FILE"), an_order(tmp_path))

    assert call.ending.text == repr((odd, odd))
