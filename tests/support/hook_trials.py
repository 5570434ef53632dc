"""Damaged plan files and hook messages: the stop hook must end well on any input.

A trial is made from a seed and a number. It starts the stop hook as hosts do, in a new project, and
checks the result: exit code 0, at most one JSON object with known keys, no traceback, and no
changed document.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from fairlead.interfaces.hooks.start import start_command
from tests.support.documents import mutated
from tests.support.plan_files import EXEC, MODULE, PLAN, exec_text, message, plan_text, put

KEYS = ({"decision", "reason"}, {"systemMessage"})
MORE = (
    "",
    'fairlead:\n  session: "s1"\n',
    'fairlead:\n  released: "2026-01-09"\n',
    'fairlead:\n  approved_hash: "sha256:00"\n',
    '  - text: "It runs"\n    check: {command: ["true"]}\n',
    '  - text: "It is there"\n    check: {file: ../../etc/passwd}\n',
)


def try_hook(seed: int, number: int) -> str:
    """Run one trial; return what is wrong, or an empty string."""
    random = Random(f"{seed}/{number}")
    with tempfile.TemporaryDirectory(prefix="hook-") as scratch:
        folder = Path(scratch)
        files = _files(folder, random)
        stdin = _message(folder, random)
        done = subprocess.run(
            start_command(sys.executable),
            input=stdin,
            capture_output=True,
            env={"HOME": scratch, "PATH": "/usr/bin:/bin"},
            timeout=900,
        )
        faults = faults_of(done.returncode, done.stdout, done.stderr)
        changed = [
            path for path, content in files.items() if (folder / path).read_bytes() != content
        ]
    return "; ".join([*faults, *(f"{path} was changed" for path in changed)])


def faults_of(code: int, output: bytes, errors: bytes) -> list[str]:
    """The faults of an answer."""
    faults = [f"exit {code}"] if code else []
    if b"Traceback" in errors or errors.count(b"\n") > 1:
        faults.append(f"stderr: {errors[-200:]!r}")
    if not output:
        return faults
    try:
        answer = json.loads(output)
    except ValueError:
        return [*faults, f"no JSON: {output[:80]!r}"]
    if not isinstance(answer, dict) or set(answer) not in KEYS or not all(answer.values()):
        return [*faults, f"an answer that no host takes: {output[:80]!r}"]
    return faults


def _files(folder: Path, random: Random) -> dict[str, bytes]:
    texts = {
        PLAN: plan_text(
            status=random.choice(("drafting", "reviewing", "approved")),
            complete=random.random() < 0.3,
            section=random.choice(("pending", "complete")),
            modules=MODULE * random.randint(0, 2),
            more=random.choice(MORE),
        ),
        EXEC: exec_text(
            *random.choices(("complete", "pending", "blocked"), k=random.randint(0, 3))
        ),
        "USER_REQUIREMENTS.md": "# R\n\n## Functional Requirements\n\ntext\n",
        ".claude/.fairlead/hold.json": '{"plan": "x", "owner": "s1", "blocks": 2}',
    }
    written = {}
    for path, text in texts.items():
        if random.random() < 0.25:
            continue
        damaged = mutated(text, random) if random.random() < 0.7 else text
        content = damaged.encode("utf-8", "surrogatepass")
        if random.random() < 0.1:
            content = content[: random.randrange(len(content) + 1)] + bytes([random.randrange(256)])
        put(folder, path, content)
        if not path.endswith("hold.json"):
            written[path] = content
    return written


def _message(folder: Path, random: Random) -> bytes:
    more: dict[str, Any] = {"stop_hook_active": random.choice((True, False, None, "x", 1))}
    if random.random() < 0.3:
        more["last_assistant_message"] = mutated("API Error: 500", random)
    content = message(folder, **more)
    if random.random() < 0.4:
        content = mutated(content.decode(), random).encode("utf-8", "surrogatepass")
    return content
