"""An agent that misbehaves: python hostile.py WAY. Its output is Claude's stream format.

Each way is one fault that the supervision has to handle. It imports nothing that could fail in a
forked child.
"""

import json
import os
import signal
import sys
import time

USED = {"m": {"inputTokens": 5, "outputTokens": 2}}


def say(**event):
    os.write(1, json.dumps(event).encode() + b"\n")


def finish(text="done"):
    say(type="result", subtype="success", is_error=False, result=text, modelUsage=USED)


def wait():
    while True:
        time.sleep(60)


def hang():
    wait()


def hang_after_a_word():
    say(type="system", subtype="init", session_id="s", model="m")
    wait()


def chatter():
    while True:
        os.write(1, b"still warming up\n")
        time.sleep(0.02)


def work_on():
    while True:
        say(type="assistant", message={"content": [{"type": "text", "text": "more"}]})
        time.sleep(0.02)


def read_all():
    finish(str(len(sys.stdin.buffer.read())))


def tell_word_and_variable(word, name):
    finish(repr((word, os.environ.get(name))))


def ignore_the_end():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang_after_a_word()


def linger():
    finish()
    wait()


def leave(*, new_session=False, double=False, holds=True, ignores=False):
    """Leave a process running."""
    if os.fork() == 0:
        if new_session:
            os.setsid()
        if double and os.fork():
            os._exit(0)
        if ignores:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not holds:
            os.closerange(0, 3)
        wait()


def leave_a_child():
    leave()
    finish()


def leave_a_session():
    leave(new_session=True)
    finish()


def leave_a_daemon():
    leave(new_session=True, double=True, ignores=True)
    finish()


def leave_a_quiet_daemon():
    leave(new_session=True, double=True, holds=False, ignores=True)
    finish()


def hang_with_daemons():
    for _ in range(5):
        leave(new_session=True, double=True, ignores=True)
    ignore_the_end()


def run_away():
    """Start three chains of processes that replace themselves faster than they can be listed."""
    for _ in range(3):
        if os.fork():
            continue
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stop = time.monotonic() + 20
        while time.monotonic() < stop:
            if os.fork():
                os._exit(0)
            os.setsid()
            time.sleep(0.002)
        os._exit(0)
    ignore_the_end()


def kill_the_supervisor():
    leave(new_session=True, double=True, ignores=True)
    time.sleep(0.2)
    os.kill(os.getppid(), signal.SIGKILL)
    wait()


def die_by_signal():
    say(type="system", subtype="init", session_id="s", model="m")
    os.kill(os.getpid(), signal.SIGSEGV)


def flood(megabytes="50"):
    piece = (b"x" * 65535) + b"\n"
    for _ in range(int(megabytes) * 16):
        os.write(1, piece)
    finish()


def one_line(megabytes="50"):
    os.write(1, b'{"type": "')
    for _ in range(int(megabytes) * 16):
        os.write(1, b"x" * 65536)
    os.write(1, b'"}\n')
    finish()


def flood_errors(megabytes="20"):
    for _ in range(int(megabytes) * 16):
        os.write(2, b"\xff\x1b[2J" * 13107)
    finish()


def bad_json():
    os.write(1, b'I think {"type": "result", "subtype": "success", "is_error": false}\n')
    os.write(1, b'{"type": "result", "subtype": "success", "is_error": true, "is_error": false}\n')
    os.write(1, b'{"type": "result", "subtype": "success", "is_error": NaN}\n')
    os.write(1, b'{"type": "result", "subtype": "success"')


def bit_by_bit():
    line = json.dumps(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "é",
            "modelUsage": USED,
        },
        ensure_ascii=False,
    )
    for byte in line.encode():
        os.write(1, bytes([byte]))


def tell_surroundings():
    with open("/proc/self/limits") as file:
        limits = file.read()
    core = next(line for line in limits.splitlines() if line.startswith("Max core"))
    umask = os.umask(0)
    files = sorted(os.listdir("/proc/self/fd"))
    answer = {
        "environment": dict(os.environ),
        "words": sys.argv,
        "core": core.split()[4],
        "umask": oct(umask),
        "files": [
            name for name in files if int(name) < 100 and os.path.exists(f"/proc/self/fd/{name}")
        ],
        "folder": os.getcwd(),
        "session": os.getsid(0) == os.getpid(),
    }
    finish(json.dumps(answer))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
