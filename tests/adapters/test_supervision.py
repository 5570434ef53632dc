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

from fairlead.adapters import keeper, registry, supervision
from fairlead.adapters.agent import CliAgent, recalled
from fairlead.errors import NestedRun, NotPrivate
from fairlead.model.agent_events import EndKind, Usage
from fairlead.model.agent_streams import Stream
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
        ("kill_the_keeper", {}, EndKind.KILLED),
        ("die_by_signal", {}, EndKind.KILLED),
        ("bad_json", {}, EndKind.INVALID_OUTPUT),
        ("bit_by_bit", {}, EndKind.OK),
    ],
)
def test_a_misbehaving_agent_ends_as_it_should_and_leaves_nobody(way, limits, kind, tmp_path):
    call = called(hostile(way), an_order(tmp_path), **limits)

    assert (call.ending.kind, call.left) == (kind, [])


def test_who_ignores_the_end_and_runs_away_is_ended_within_seven_seconds(tmp_path):
    start = time.monotonic()

    call = called(hostile("run_away"), an_order(tmp_path), first_event=0.5, idle=0.5)

    assert (call.ending.kind, call.left) == (EndKind.IDLE, [])
    assert time.monotonic() - start < 0.5 + 7 + 1.5  # the limit, the end, a busy machine


def test_the_error_names_the_limit_that_fired(tmp_path):
    call = called(hostile("hang"), an_order(tmp_path), first_event=0.3)

    assert call.ending.error == "no sign of life for 0:00:00.300000"


def test_a_prompt_of_a_megabyte_comes_by_standard_input_to_its_end(tmp_path):
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


def test_raw_output_is_private_and_byte_for_byte(tmp_path):
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


def test_a_program_that_cannot_be_started_is_an_ending_and_not_a_crash(tmp_path):
    agent = CliAgent(hostile("hang").row, str(tmp_path / "gone"))

    call = called(agent, an_order(tmp_path))

    assert (call.ending.kind, call.ending.error) == (EndKind.SPAWN, "No such file or directory")


def test_a_folder_that_has_gone_is_an_ending_and_not_a_crash(tmp_path):
    order = an_order(tmp_path)
    Path(order.folder).rmdir()

    assert called(hostile("hang"), order).ending.kind is EndKind.SPAWN


def test_a_call_that_is_no_longer_wanted_is_stopped(tmp_path):
    order = an_order(tmp_path)

    ending = hostile("hang_with_daemons").start(order, lambda _: None, lambda: False)

    assert (ending.kind, list(keeper.carrying(keeper.JOB, order.job))) == (EndKind.KILLED, [])


def test_who_watches_may_fall_over_and_nobody_is_left(tmp_path):
    order = an_order(tmp_path)

    with pytest.raises(ZeroDivisionError):
        hostile("hang_after_a_word").start(order, lambda _: 1 / 0)  # type: ignore[arg-type]

    assert list(keeper.carrying(keeper.JOB, order.job)) == []


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

    told = json.loads(called(hostile("tell_surroundings"), order).ending.text)

    seen = {
        name for name in told["environment"] if not name.startswith(("XDG_", "SSL_", "NODE_EXTRA"))
    }
    assert {name for name in seen if not name.upper().endswith("_PROXY")} <= passed | ours
    assert told["environment"]["ALLOWED_KEY"] == "[ALLOWED_KEY]"  # it said the value, we do not
    assert (told["core"], told["umask"], told["files"]) == ("0", "0o77", ["0", "1", "2"])
    assert (told["folder"], told["session"]) == (order.folder, True)


@pytest.mark.parametrize(("language", "letters"), [("", "C.UTF-8"), ("C.UTF-8", None)])
def test_where_nobody_said_which_letters_there_are_an_agent_knows_all(
    language, letters, tmp_path, monkeypatch
):
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    if language:
        monkeypatch.setenv("LANG", language)

    told = hostile("tell_word_and_variable", "x", "LC_CTYPE")
    said = called(told, an_order(tmp_path)).ending.text

    assert said == repr(("x", letters))


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
    assert soon(lambda: len(list(keeper.carrying(keeper.JOB, job))) >= 7)  # keeper, agent, daemons
    return run, job


def test_when_we_are_killed_our_agents_end_too(tmp_path):
    run, job = an_orchestrator(tmp_path)

    run.kill()
    run.communicate()

    assert soon(lambda: not list(keeper.carrying(keeper.JOB, job)))


def test_what_a_killed_run_and_a_killed_keeper_left_is_found_by_the_next_run(tmp_path):
    run, job = an_orchestrator(tmp_path)
    os.kill(run.pid, signal.SIGSTOP)
    watched = min(list(keeper.carrying(keeper.JOB, job)), key=lambda mark: mark[1])
    keeper.signal_mark(watched, signal.SIGKILL)
    run.kill()
    run.communicate()

    assert supervision.reap(keeper.JOB, job) >= 5
    assert list(keeper.carrying(keeper.JOB, job)) == []


def test_a_process_is_told_apart_from_the_next_one_with_its_number():
    name = supervision.identity(os.getpid())
    boot, number, start = name.split(":")

    assert supervision.is_alive(name)
    assert not supervision.is_alive(f"{boot}:{number}:{int(start) + 1}")
    assert not supervision.is_alive(f"another-boot:{number}:{start}")


@pytest.mark.long
def test_time_in_which_we_were_held_counts_for_no_limit(tmp_path):
    told = tmp_path / "told"
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
    with told.open("w") as file:
        run = subprocess.Popen(words, env=environment, stdout=file)
        assert soon(lambda: "test-" in told.read_text() and len(list(keeper.below(run.pid))) >= 2)
        held_at = time.monotonic()
        run.send_signal(signal.SIGSTOP)
        time.sleep(12)  # longer than both limits
        run.send_signal(signal.SIGCONT)
        run.wait(30)

    assert "idle [Paused(seconds=" in told.read_text()
    assert time.monotonic() - held_at > 12 + 3  # silence was measured anew


@pytest.mark.parametrize("stream", [Stream.CLAUDE, Stream.TEXT])
def test_what_a_call_took_is_told_again_from_what_is_kept_of_it(stream, tmp_path):
    agent = hostile("bit_by_bit")
    agent = CliAgent(replace(agent.row, stream=stream), agent.program)
    call = called(agent, an_order(tmp_path))
    told = recalled(stream, "executor", str(call.raw))

    assert told is not None
    assert (told.usage, told.is_estimated) == (call.ending.usage, stream is Stream.TEXT)
    assert told.usage != Usage()


def test_a_call_that_would_have_told_its_tokens_at_its_end_is_estimated_without_it(tmp_path):
    written(tmp_path / supervision.PROMPT, "x" * 40_000)
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": "y" * 9_000}}
    written(
        tmp_path / supervision.OUTPUT,
        json.dumps({"type": "thread.started", "thread_id": "t"}) + "\n",
    )
    told = recalled(Stream.CODEX, "executor", str(tmp_path))
    assert told is not None
    assert told.is_estimated
    assert told.usage.tokens_in > 10_000
    with (tmp_path / supervision.OUTPUT).open("a") as file:
        file.write(json.dumps(said) + "\n")
    more = recalled(Stream.CODEX, "executor", str(tmp_path))
    assert more is not None
    assert more.usage.tokens_out > told.usage.tokens_out


def test_a_call_of_which_nothing_is_kept_never_began(tmp_path):
    assert recalled(Stream.CLAUDE, "executor", str(tmp_path / "raw")) is None


def test_what_an_agent_took_that_is_gone_is_estimated(tmp_path):
    call = called(hostile("bit_by_bit"), an_order(tmp_path))
    told = [registry.recall((), each, "executor", str(call.raw)) for each in ("claude", "gone")]

    assert [each is not None and each.is_estimated for each in told] == [False, True]
