"""Supervision: whatever an agent does, the call ends as it should and no process is left."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.agents import registry, supervision, supervisor
from fairlead.agents.cli_agent import CliAgent, recalled
from fairlead.agents.drivers.driver import Driver
from fairlead.agents.errors import NestedRun, NotPrivate
from fairlead.agents.model import EndKind, Stream, TokenUsage
from tests.support.agents import an_order, called, hostile, soon
from tests.support.repositories import written

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("way", "limits", "kind"),
    [
        ("hang", {"first_event": 0.3}, EndKind.IDLE),
        ("hang_after_a_word", {"idle": 0.3}, EndKind.IDLE),
        ("chatter", {"first_event": 0.5}, EndKind.IDLE),
        ("work_on", {"wall": 0.6}, EndKind.TIMEOUT),
        ("linger", {}, EndKind.OK),
        ("leave_a_child", {}, EndKind.OK),
        ("leave_a_session", {}, EndKind.OK),
        ("leave_a_daemon", {}, EndKind.OK),
        ("leave_a_quiet_daemon", {}, EndKind.OK),
        ("kill_the_supervisor", {}, EndKind.KILLED),
        ("die_by_signal", {}, EndKind.KILLED),
        ("bad_json", {}, EndKind.INVALID_OUTPUT),
        ("bit_by_bit", {}, EndKind.OK),
    ],
)
def test_a_misbehaving_agent_is_ended_and_leaves_no_process(way, limits, kind, tmp_path):
    call = called(hostile(way), an_order(tmp_path), **limits)

    assert (call.ending.kind, call.left) == (kind, [])


def test_a_program_that_ignores_sigterm_and_escapes_is_ended(tmp_path):
    call = called(hostile("run_away"), an_order(tmp_path), first_event=0.5, idle=0.5)

    assert (call.ending.kind, call.left) == (EndKind.IDLE, [])


def test_the_error_names_the_exceeded_limit(tmp_path):
    call = called(hostile("hang"), an_order(tmp_path), first_event=0.3)

    assert call.ending.error == "no sign of life for 0:00:00.300000"


def test_a_program_that_prints_only_at_its_end_may_be_silent_until_the_wall_limit(tmp_path):
    silent = Driver(
        "text", (), Stream.TEXT, lambda _: ("-c", "import time; time.sleep(0.4); print(1)")
    )
    call = called(CliAgent(silent, sys.executable), an_order(tmp_path), first_event=0.1, idle=0.1)

    assert (call.ending.kind, call.ending.text) == (EndKind.OK, "1\n")


def test_a_prompt_of_a_megabyte_arrives_complete(tmp_path):
    call = called(hostile("read_all"), an_order(tmp_path, prompt="é" * 500_000))

    assert call.ending.text == "1000000"


@pytest.mark.parametrize("way", ["flood", "one_line", "flood_errors"])
def test_a_flood_is_counted_and_its_log_is_capped(way, tmp_path):
    order = an_order(tmp_path)
    order = replace(order, limits=replace(order.limits, output_bytes=100_000))

    call = called(hostile(way, "50"), order)

    sizes = {name: (call.raw / name).stat().st_size for name in ("stdout.log", "stderr.log")}
    assert call.ending.kind is EndKind.OK
    assert call.ending.dropped_bytes > 49 << 20
    assert max(sizes.values()) < 100_100


def test_a_flood_does_not_grow_our_memory(tmp_path):
    program = (
        "from pathlib import Path\n"
        "from tests.support.agents import an_order, called, hostile\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "for way in ('flood', 'one_line'): called(hostile(way, '50'), an_order(folder))\n"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)

    assert int(run.stdout) < 64 << 10, run.stderr


def test_raw_output_is_private_and_exact(tmp_path):
    call = called(hostile("bad_json"), an_order(tmp_path))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in call.raw.iterdir()}

    assert modes == {"prompt.txt": 0o600, "stdout.log": 0o600, "stderr.log": 0o600}
    assert (
        (call.raw / "stdout.log").read_bytes().endswith(b'{"type": "result", "subtype": "success"')
    )


def test_a_folder_that_others_can_open_is_refused(tmp_path):
    order = an_order(tmp_path)
    Path(order.raw).mkdir(mode=0o755)

    with pytest.raises(NotPrivate):
        called(hostile("bad_json"), order)


def test_a_program_that_cannot_be_started_is_a_result_and_no_crash(tmp_path):
    agent = CliAgent(hostile("hang").driver, str(tmp_path / "gone"))

    call = called(agent, an_order(tmp_path))

    assert (call.ending.kind, call.ending.error) == (EndKind.SPAWN, "No such file or directory")


def test_a_missing_folder_is_a_result_and_no_crash(tmp_path):
    order = an_order(tmp_path)
    Path(order.folder).rmdir()

    assert called(hostile("hang"), order).ending.kind is EndKind.SPAWN


def test_a_call_that_is_no_longer_wanted_is_stopped(tmp_path):
    order = an_order(tmp_path)

    ending = hostile("hang_with_daemons").start(order, lambda _: None, lambda: False)

    assert (ending.kind, list(supervisor.carrying(supervisor.JOB, order.job))) == (
        EndKind.KILLED,
        [],
    )


def test_an_exception_in_the_watcher_leaves_no_process(tmp_path):
    order = an_order(tmp_path)

    with pytest.raises(ZeroDivisionError):
        hostile("hang_after_a_word").start(order, lambda _: 1 / 0)  # type: ignore[arg-type]

    assert list(supervisor.carrying(supervisor.JOB, order.job)) == []


def test_an_agent_sees_only_what_it_needs(tmp_path, monkeypatch):
    for name in (
        "CLAUDECODE",
        "LD_PRELOAD_X",
        "NODE_OPTIONS",
        "GIT_DIR",
        "OPENAI_API_KEY",
        "BASH_ENV",
    ):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("ALLOWED_KEY", "a-long-secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    order = an_order(tmp_path, environment=("ALLOWED_KEY",))
    passed = {
        "HOME",
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "SHELL",
    }
    ours = {"ALLOWED_KEY", "FAIRLEAD_CALL", "FAIRLEAD_DEPTH", "FAIRLEAD_JOB", "NO_COLOR", "TERM"}

    surroundings = json.loads(called(hostile("tell_surroundings"), order).ending.text)

    seen = {
        name
        for name in surroundings["environment"]
        if not name.startswith(("XDG_", "SSL_", "NODE_EXTRA"))
    }
    assert {name for name in seen if not name.upper().endswith("_PROXY")} <= passed | ours
    assert (
        surroundings["environment"]["ALLOWED_KEY"] == "[ALLOWED_KEY]"
    )  # it said the value, we do not
    assert (surroundings["core"], surroundings["umask"], surroundings["files"]) == (
        "0",
        "0o77",
        ["0", "1", "2"],
    )
    assert (surroundings["folder"], surroundings["session"]) == (order.folder, True)


@pytest.mark.parametrize(("language", "letters"), [("", "C.UTF-8"), ("C.UTF-8", None)])
def test_without_a_locale_an_agent_gets_utf8(language, letters, tmp_path, monkeypatch):
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    if language:
        monkeypatch.setenv("LANG", language)

    program = hostile("tell_word_and_variable", "x", "LC_CTYPE")
    text = called(program, an_order(tmp_path)).ending.text

    assert text == repr(("x", letters))


def test_an_agent_may_not_start_agents(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLEAD_DEPTH", "1")

    with pytest.raises(NestedRun):
        called(hostile("hang"), an_order(tmp_path))


ORCHESTRATOR = """
import sys; from pathlib import Path
from tests.support.agents import an_order, hostile
order = an_order(Path(sys.argv[1]))
print(order.job, flush=True)
hostile("hang_with_daemons").start(order, lambda _: print("alive", flush=True))
"""


def an_orchestrator(folder: Path) -> tuple[subprocess.Popen, str]:
    """A run of its own with an agent and five daemons; its job."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    words = [sys.executable, "-c", ORCHESTRATOR, str(folder)]
    run = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    assert run.stdout
    job = run.stdout.readline().strip()
    assert run.stdout.readline() == "alive\n"
    seen: list[set[supervisor.ProcessMark]] = [set()]

    def are_complete() -> bool:
        """Whether supervisor, agent and daemons run; a parent of a daemon is gone at the next look."""
        seen.append({*supervisor.carrying(supervisor.JOB, job)})
        return len(seen[-1]) >= 7 and seen[-1] == seen[-2]

    assert soon(are_complete)
    return run, job


def test_when_we_are_killed_our_agents_end_too(tmp_path):
    run, job = an_orchestrator(tmp_path)

    run.kill()
    run.communicate()

    assert soon(lambda: not list(supervisor.carrying(supervisor.JOB, job)))


def test_processes_of_a_killed_run_and_supervisor_are_found_by_the_next_run(tmp_path):
    run, job = an_orchestrator(tmp_path)
    os.kill(run.pid, signal.SIGSTOP)
    watched = min(list(supervisor.carrying(supervisor.JOB, job)), key=lambda mark: mark[1])
    supervisor.signal_mark(watched, signal.SIGKILL)
    run.kill()
    run.communicate()

    assert supervision.reap(supervisor.JOB, job) >= 5
    assert list(supervisor.carrying(supervisor.JOB, job)) == []


@pytest.mark.long
def test_suspended_time_counts_for_no_limit(tmp_path):
    output = tmp_path / "output"
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.support.agents import an_order, called, hostile\n"
        "order = an_order(Path(sys.argv[1]))\n"
        "print(order.job, flush=True)\n"
        "call = called(hostile('hang_after_a_word'), order, idle=4, wall=9)\n"
        "print(call.ending.kind, [e for e in call.events if 'Paused' in repr(e)])\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    words = [sys.executable, "-c", program, str(tmp_path)]
    with output.open("w") as file:
        run = subprocess.Popen(words, env=environment, stdout=file)
        assert soon(
            lambda: "test-" in output.read_text() and len(list(supervisor.below(run.pid))) >= 2
        )
        paused_at = time.monotonic()
        run.send_signal(signal.SIGSTOP)
        time.sleep(12)  # longer than both limits
        run.send_signal(signal.SIGCONT)
        run.wait(900)

    assert "idle [Paused(seconds=" in output.read_text()
    assert time.monotonic() - paused_at > 12 + 3  # silence was measured anew


@pytest.mark.parametrize("stream", [Stream.CLAUDE, Stream.TEXT])
def test_a_call_is_recalled_from_its_files(stream, tmp_path):
    agent = hostile("bit_by_bit")
    agent = CliAgent(replace(agent.driver, stream=stream), agent.program)
    call = called(agent, an_order(tmp_path))
    record = recalled(stream, "executor", str(call.raw))

    assert record is not None
    assert (record.usage, record.is_estimated) == (call.ending.usage, stream is Stream.TEXT)
    assert record.usage != TokenUsage()


def test_a_call_cut_off_before_its_usage_is_estimated(tmp_path):
    written(tmp_path / supervision.PROMPT, "x" * 40_000)
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": "y" * 9_000}}
    written(
        tmp_path / supervision.OUTPUT,
        json.dumps({"type": "thread.started", "thread_id": "t"}) + "\n",
    )
    record = recalled(Stream.CODEX, "executor", str(tmp_path))
    assert record is not None
    assert record.is_estimated
    assert record.usage.tokens_in > 10_000
    with (tmp_path / supervision.OUTPUT).open("a") as file:
        file.write(json.dumps(said) + "\n")
    more = recalled(Stream.CODEX, "executor", str(tmp_path))
    assert more is not None
    assert more.usage.tokens_out > record.usage.tokens_out


def test_a_call_without_files_never_began(tmp_path):
    assert recalled(Stream.CLAUDE, "executor", str(tmp_path / "raw")) is None


def test_the_call_of_an_unknown_agent_is_estimated(tmp_path):
    call = called(hostile("bit_by_bit"), an_order(tmp_path))
    records = [
        registry.recall((), record, "executor", str(call.raw)) for record in ("claude", "gone")
    ]

    assert [record is not None and record.is_estimated for record in records] == [False, True]
