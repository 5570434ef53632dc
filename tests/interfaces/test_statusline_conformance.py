"""Our status line beside the reference hook's: the same bytes for the same input and a fresh home.

Within the three constraints of the format the whole line is the same. Where it is meant to be
another, a case of `tests/corpus/statusline.md` says so.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fairlead.interfaces.statusline.line import line_of
from fairlead.text.errors import JsonSyntax
from tests.support.corpus import corpus_projects
from tests.support.headlines import a_state
from tests.support.hook import Hook, environment_at, hook_line, require_hook
from tests.support.line_cases import Case, cases

# Skips the module once instead of once per case.
require_hook()


def our_line(message: str, cwd: Path, environment: dict[str, str]) -> str:
    try:
        return line_of(message, str(cwd), environment)
    except (JsonSyntax, ValueError):
        return ""  # like the entry point


def line_about(message: dict[str, Any], environment: dict[str, str]) -> str:
    return line_of(json.dumps(message), "/", environment)


def about(folder: Path, **more: Any) -> dict[str, Any]:
    workspace = {"current_dir": str(folder)}
    return {"model": {"display_name": "Opus"}, "workspace": workspace, **more}


# --- real projects ---------------------------------------------------------------------


def test_real_projects_show_what_the_hook_shows(tmp_path: Path):
    environment = environment_at(tmp_path / "home")
    differing = []
    with Hook(environment) as hook:
        for project in corpus_projects():
            streams = sorted((project / ".planning").glob("workstreams/*"))
            for folder in (project, project / ".planning", *streams):
                expected, actual = hook.line(about(folder)), line_about(about(folder), environment)
                if expected != actual:
                    differing.append((folder.name, expected, actual))

    assert differing == []


# --- documented cases -----------------------------------------------------------------


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.line}: {case.title}")
def test_a_case_is_the_same_in_the_hook_unless_it_says_otherwise(case: Case, tmp_path: Path):
    project = case.build(tmp_path)
    environment = environment_at(tmp_path / "home")

    expected = hook_line(case.message(project), cwd=project, environment=environment)
    actual = our_line(case.message(project), project, environment)

    assert (expected != actual) == case.differs, (expected, actual)


# --- generated projects ----------------------------------------------------------------


def compare(folder: Path, seeds: range) -> list[tuple[int, str, str]]:
    """The seeds of generated projects with different lines, and both lines."""
    environment = environment_at(folder / "home")
    project = folder / "work"
    planning = project / ".planning"
    planning.mkdir(parents=True)
    differing = []
    with Hook(environment) as hook:
        for seed in seeds:
            random = Random(seed)
            below = "/".join(["deep"] * random.choice((0, 0, 1, 8, 9, 10)))
            (project / below).mkdir(parents=True, exist_ok=True)
            (planning / "STATE.md").write_bytes(a_state(random).encode())
            (planning / "config.json").write_text(json.dumps(a_config(random)), "utf-8")
            message = about(project / below)
            expected, actual = hook.line(message), line_about(message, environment)
            if expected != actual:
                differing.append((seed, expected, actual))
    return differing


def a_config(random: Random) -> dict[str, object]:
    settings = {
        "state_format": random.choice(("full", "full", "compact", "other")),
        "context_position": random.choice(("front", "end", None)),
    }
    nested = random.random() < 0.5
    return (
        {"statusline": settings} if nested else {f"statusline.{k}": v for k, v in settings.items()}
    )


def test_a_hundred_generated_projects_show_the_same_line(tmp_path: Path):
    assert compare(tmp_path, range(100)) == []


@pytest.mark.long
def test_two_thousand_generated_projects_show_the_same_line(tmp_path: Path):
    assert compare(tmp_path, range(1_000, 3_000)) == []


# --- other parts of the line -------------------------------------------------------


class World:
    """A project and a home for both programs."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "work"
        self.home = folder / "home"
        self.environment = environment_at(self.home)
        self.message = about(self.project, session_id="s1")
        self.write(".planning/STATE.md", "---\nmilestone: v2.0\nstatus: executing\n---\n")

    def write(self, name: str, content: object) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def set(self, **settings: object) -> None:
        self.write(".planning/config.json", {"statusline": settings})

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
        words = ["git", "-C", str(self.project), *identity, *arguments]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def with_a_todo(world: World) -> None:
    todos = world.home / ".claude" / "todos"
    todos.mkdir(parents=True)
    for name, form, age in (("s1-agent-a", "Older", 9), ("s1-agent-b", "Splicing ropes", 5)):
        path = todos / f"{name}.json"
        path.write_text(json.dumps([{"status": "in_progress", "activeForm": form}]), "utf-8")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))


def with_a_finished_todo(world: World) -> None:
    todos = world.home / ".claude" / "todos"
    todos.mkdir(parents=True)
    (todos / "s1-agent-a.json").write_text('[{"status": "completed", "activeForm": "Done"}]')


def with_a_last_command(world: World) -> None:
    world.set(show_last_command=True)
    transcript = world.write("t.jsonl", "<command-name>/gsd-next</command-name> and more")
    world.message["transcript_path"] = str(transcript)


def with_a_long_transcript(world: World) -> None:
    world.set(show_last_command=True)
    text = "<command-name>/too-far-up</command-name>" + "x" * (256 * 1024)
    world.message["transcript_path"] = str(world.write("t.jsonl", text))


def with_tokens_in_front(world: World) -> None:
    world.set(show_context_tokens=True, context_position="front")
    usage = {"input_tokens": 123_456, "output_tokens": 1_000, "cache_read_input_tokens": 7}
    world.message["context_window"] = {"remaining_percentage": 41.3, "current_usage": usage}


def with_early_compaction(world: World) -> None:
    world.environment["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "120000 tokens"
    world.message["context_window"] = {"remaining_percentage": 71, "total_tokens": 200_000}


def with_a_repository(world: World) -> None:
    world.set(show_git=True)
    world.git("init", "-q", "-b", "main")
    for name in ("a", "b", "c"):
        world.write(name, name)
    world.git("add", "a", "b")
    world.write("a", "changed")


def with_a_branch_ahead(world: World) -> None:
    world.set(show_git=True)
    world.git("init", "-q", "-b", "main")
    world.git("add", ".")
    world.git("commit", "-q", "-m", "first")
    world.git("branch", "base")
    world.git("commit", "-q", "--allow-empty", "-m", "second")
    world.git("branch", "--set-upstream-to=base")


def with_an_old_state(world: World) -> None:
    world.set(show_state_freshness=True)
    world.git("init", "-q", "-b", "main")
    world.git("commit", "-q", "--allow-empty", "-m", "first")
    head = world.git("rev-parse", "--short", "HEAD")
    for at in range(21):
        world.git("commit", "-q", "--allow-empty", "-m", str(at))
    world.write(".planning/STATE.md", f"---\nstatus: executing\nstate_head: {head}\n---\n")


def with_workstreams(world: World) -> None:
    (world.project / ".planning" / "STATE.md").unlink()
    world.write(".planning/workstreams/alpha/STATE.md", "---\nstatus: planning\n---\n")


def with_an_active_workstream(world: World) -> None:
    with_workstreams(world)
    world.write(".planning/active-workstream", "alpha\n")


def with_a_workstream_of_the_environment(world: World) -> None:
    with_workstreams(world)
    world.environment["GSD_WORKSTREAM"] = "alpha"


def with_a_workstream_of_the_session(world: World) -> None:
    from fairlead.store.workstream import session_pointer_path

    with_workstreams(world)
    world.environment["CLAUDE_CODE_SESSION_ID"] = "a b/c"
    pointer = session_pointer_path(str(world.project), "claude-code-session-id-a_b_c")
    path = Path(world.environment["TMPDIR"]) / pointer
    path.parent.mkdir(parents=True)
    path.write_text("alpha\n", "utf-8")


def with_a_home_in_between(world: World) -> None:
    deep = world.project / "home" / "below"
    deep.mkdir(parents=True)
    world.environment["HOME"] = str(deep.parent)
    world.message["workspace"] = {"current_dir": str(deep)}


def with_a_slash_at_the_end(world: World) -> None:
    world.message["workspace"] = {"current_dir": f"{world.project}/"}


WORLDS = [world for name, world in list(globals().items()) if name.startswith("with_")]


@pytest.mark.parametrize("change", WORLDS, ids=lambda change: change.__name__)
def test_the_rest_of_the_line_is_the_same_too(change: Callable[[World], None], tmp_path: Path):
    world = World(tmp_path)
    change(world)
    message = json.dumps(world.message)

    expected = hook_line(message, cwd=world.project, environment=world.environment)

    assert our_line(message, world.project, world.environment) == expected
    assert expected
