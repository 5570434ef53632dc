"""The reference tool as one process that answers for one folder after another."""

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class Unavailable(Exception):
    """The reference tool is not available on this machine."""


class Reference:
    """A running driver with the tool's modules loaded."""

    def __init__(self, home: Path) -> None:
        located = subprocess.run(
            [str(ROOT / "tools" / "reference-tool")], capture_output=True, text=True, check=False
        )
        if located.returncode != 0:
            raise Unavailable(located.stderr.strip())
        node, tool = located.stdout.split()
        home.mkdir(parents=True, exist_ok=True)
        # An empty home and no variables of a host session: both change the answers.
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
        self._process = subprocess.Popen(
            [node, str(Path(__file__).with_name("driver.cjs")), str(Path(tool).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=home,
        )

    def __enter__(self) -> "Reference":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def ask(self, folder: Path, milestone: str = "") -> dict[str, Any]:
        """The answers of its commands about a project; the milestone comes from STATE.md."""
        return self._asked({"folder": str(folder), "milestone": milestone})

    def line(self, folder: Path, state: str | None) -> str:
        """Its status line for another STATE.md in the same project; None: without one."""
        path = folder / ".planning" / "STATE.md"
        aside = path.rename(path.with_name("STATE.aside"))
        try:
            if state is not None:
                path.write_bytes(state.encode("utf-8", "surrogateescape"))
            return str(self._asked({"folder": str(folder), "only": "line"})["line"])
        finally:
            aside.replace(path)

    def _asked(self, question: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable("it ended without an answer")
        answer: dict[str, Any] = json.loads(line)
        return answer
