"""The real host agents, started in a scratch home against a scripted model on loopback.

`tools/agent-programs` fetches them if CI is set or on request; without them the tests are skipped
and counted. The environment is built here with a dummy key, so nothing of the user's is read.
"""

import json
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyte
import pytest

from tests.support.model_server import DUMMY_KEY, ModelServer
from tests.support.programs import ROOT, scratch_environment

PATIENCE_SECONDS = 180.0  # a run takes two seconds, but shared machines stall


@cache
def _programs(*words: str) -> tuple[Mapping[str, str], str]:
    """The path of each agent program; or why there are none."""
    done = subprocess.run([*words], capture_output=True, text=True)
    if done.returncode:
        return {}, done.stderr.strip()
    pairs = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: program for name, _, program in pairs}, ""


def agent_program(name: str) -> str:
    """The program of a host agent; skips the test if it is not available."""
    tier = ("--long",) if name in ("gemini", "opencode") else ()
    programs, why = _programs(str(ROOT / "tools" / "agent-programs"), *tier)
    if name not in programs:
        pytest.skip(why or f"{name} is not installed")
    return programs[name]


@dataclass(frozen=True, slots=True)
class Agent:
    """A host agent with its own home, working in a folder."""

    folder: Path
    home: Path
    server: ModelServer

    @property
    def environment(self) -> dict[str, str]:
        """The complete environment of every agent."""
        scratch = scratch_environment(self.home.parent)
        del scratch["FAIRLEAD_NOW"]
        return scratch | {
            "HOME": str(self.home),
            "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{scratch['PATH']}",
            "NO_COLOR": "1",
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_AUTOUPDATER": "1",
            "CODEX_HOME": str(self.home / "codex"),
            "MOCK_KEY": DUMMY_KEY,
        }

    def claude(self, prompt: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Claude Code in print mode; edits are accepted."""
        return self._run(
            agent_program("claude"), "-p", prompt, "--output-format", "json",
            "--permission-mode", "acceptEdits", "--model", "claude-sonnet-4-5", *options,
        )  # fmt: skip

    def codex(self, prompt: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Codex in exec mode; hooks run without review."""
        (self.home / "codex").mkdir(exist_ok=True)
        provider = (
            f'model_providers.mock={{name="mock",base_url="{self.server.url}/v1",wire_api="responses",'
            'env_key="MOCK_KEY",request_max_retries=0,stream_max_retries=0}'
        )
        return self._run(
            agent_program("codex"), "exec", "-c", "analytics.enabled=false",
            "--disable", "plugins", "--disable", "apps", "--json", "--skip-git-repo-check",
            "--dangerously-bypass-hook-trust", "-c", "sandbox_mode=danger-full-access",
            "-c", "model_provider=mock", "-c", provider, "-m", "mock-model", *options, prompt,
        )  # fmt: skip

    def claude_on_a_terminal(self, *, until: str) -> str:
        """Claude Code in interactive mode: the screen as soon as it shows a text."""
        config = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
            "projects": {str(self.folder): {"hasTrustDialogAccepted": True}},
        }
        place = self.home / "claude" / ".claude.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(config), "utf-8")
        return seen_on_a_terminal(
            (agent_program("claude"), "--model", "claude-sonnet-4-5"),
            self.folder,
            self.environment | {"TERM": "xterm-256color"},
            until=until,
        )

    def fairlead(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Our own command, with the same home."""
        return self._run(str(ROOT / ".venv" / "bin" / "fairlead"), *arguments)

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )


def seen_on_a_terminal(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str], *, until: str
) -> str:
    """Start a program on a terminal and end it when its screen shows a text."""
    screen = pyte.Screen(140, 40)
    stream = pyte.ByteStream(screen)
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 140))
    child = subprocess.Popen(
        words, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        while until not in "\n".join(screen.display) and time.monotonic() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                stream.feed(os.read(master, 65536))
    except OSError:
        pass  # it has ended
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        os.close(master)
    return "\n".join(line.rstrip() for line in screen.display)


def agent_in(tmp_path: Path, server: ModelServer) -> Agent:
    """An agent with an empty home and an empty folder to work in."""
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Agent(folder, home, server)
