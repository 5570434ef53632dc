"""Attacks by the text of a plan: commands, ids, counts and YAML."""

from __future__ import annotations

import json
import os

from tests.attacks.arena import OTHER_SUMMARY, PLAN, Arena
from tests.attacks.catalog import Attacker, Defence, Expected, attack
from tests.support.repositories import git, written

_PLAN = Attacker.PLAN


def _commit(arena: Arena) -> None:
    git(arena.main, "add", "--all", "--force")
    git(arena.main, "commit", "-qm", "a plan")
    arena.base = git(arena.main, "rev-parse", "main")


def _edit(arena: Arena, old: str, new: str) -> None:
    path = arena.main / PLAN
    text = path.read_text()
    assert old in text
    written(path, text.replace(old, new))
    _commit(arena)


@attack(
    "hidden-tail",
    _PLAN,
    "hides the tail of a verify command behind thousands of blanks",
    Expected.VISIBLE,
    Defence.VISIBLE_TEXT,
)
def hidden_tail(arena: Arena) -> None:
    arena.project()
    _edit(arena, "sh check.sh", f"sh check.sh{' ' * 4000}; {arena.canary}")
    shown = arena.command("phase", "execute", "1", "--dry-run")
    assert str(arena.canary) in shown.stdout, shown
    assert " " * 200 not in shown.stdout
    arena.expect_unharmed()


@attack(
    "control-in-command",
    _PLAN,
    "overwrites the shown verify command with escape sequences",
    Expected.VISIBLE,
    Defence.VISIBLE_TEXT,
)
def control_in_command(arena: Arena) -> None:
    arena.project()
    _edit(arena, "sh check.sh", f"{arena.canary} #\x1b[2K\rsh check.sh")
    for words in (("phase", "execute", "1", "--dry-run"), ("check",), ("next",)):
        arena.expect_visible(*words)
    arena.expect_unharmed()


@attack(
    "unapproved-command",
    _PLAN,
    "brings a verify command that nobody approved",
    Expected.REFUSED,
    Defence.APPROVAL,
)
def unapproved_command(arena: Arena) -> None:
    arena.project(verify=str(arena.canary))
    arena.scripted_agent()
    ended = arena.command("phase", "execute", "1", "--json")
    assert ended.exit_code == 6, ended
    arena.expect_nothing_landed()


@attack(
    "command-after-approval",
    _PLAN,
    "changes its verify command after a person approved it",
    Expected.REFUSED,
    Defence.APPROVAL,
)
def command_after_approval(arena: Arena) -> None:
    arena.project()
    execution = arena.trial.execution
    execution.approve(execution.preview("1"))
    _edit(arena, "sh check.sh", str(arena.canary))
    arena.scripted_agent()
    ended = arena.command("phase", "execute", "1", "--json")
    assert ended.exit_code == 6, ended
    arena.expect_nothing_landed()


def _refused(id_: str, what: str, old: str, new: str) -> None:
    """Add an attack with a plan that must not run."""

    def carry_out(arena: Arena) -> None:
        arena.project()
        _edit(arena, old, new)
        arena.scripted_agent()
        ended = arena.command("phase", "execute", "1", "--approve", "--json")
        assert ended.exit_code in (3, 6), ended
        document = json.loads(ended.stdout or ended.stderr)
        assert document.get("error", document), ended
        arena.expect_nothing_landed()

    attack(id_, _PLAN, what, Expected.REFUSED, Defence.READING)(carry_out)


_MUST_HAVES = "must_haves:\n  truths: []\n"
_refused(
    "alias-bomb",
    "expands to billions of values with YAML aliases",
    _MUST_HAVES,
    'a: &a ["x","x","x","x","x","x","x","x","x"]\n'
    + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ),
)
_refused(
    "deep-yaml",
    "nests its frontmatter a hundred thousand levels deep",
    _MUST_HAVES,
    f"x: {'[' * 100_000}\n",
)
_refused("dependency-cycle", "depends on itself", "depends_on: []", 'depends_on: ["01-01"]')
_refused(
    "outside-file",
    "declares a file outside the project",
    "<files>answer.txt</files>",
    "<files>../../outside/file</files>",
)
_refused(
    "empty-verify",
    "has an empty verify command",
    "<verify>sh check.sh</verify>",
    "<verify>  </verify>",
)


@attack(
    "plan-id-as-path",
    _PLAN,
    "calls itself ../../../outside/x in its frontmatter",
    Expected.NO_EFFECT,
    Defence.READING,
)
def plan_id_as_path(arena: Arena) -> None:
    arena.project()
    _edit(arena, "plan: 01\n", 'plan: "../../../../outside/x"\n')
    arena.run(lambda _: None)
    arena.expect_unharmed()


@attack(
    "plan-as-pipe",
    _PLAN,
    "is a pipe, so that reading it would wait for ever",
    Expected.REFUSED,
    Defence.READING,
)
def plan_as_pipe(arena: Arena) -> None:
    arena.project()
    (arena.main / PLAN).unlink()
    os.mkfifo(arena.main / PLAN)
    for words in (("status",), ("check",), ("next",)):
        arena.expect_visible(*words)
    arena.scripted_agent()
    assert arena.command("phase", "execute", "1", "--approve").exit_code in (3, 4, 6)
    arena.expect_unharmed()


@attack(
    "plan-as-link",
    _PLAN,
    "is a link to a file outside the project, whose text would reach a model",
    Expected.REFUSED,
    Defence.LINKS,
)
def plan_as_link(arena: Arena) -> None:
    arena.project()
    text = (arena.main / PLAN).read_text().replace("Write answer.txt.", "TOP SECRET")
    written(arena.folder / "private.md", text)
    (arena.main / PLAN).unlink()
    (arena.main / PLAN).symlink_to(arena.folder / "private.md")
    arena.scripted_agent()
    ended = arena.command("phase", "execute", "1", "--approve", "--json")
    assert ended.exit_code in (3, 6), ended
    assert "TOP SECRET" not in ended.stdout + ended.stderr + arena.records
    arena.expect_unharmed()


@attack(
    "control-in-plan",
    _PLAN,
    "puts escape sequences into objective, names and files",
    Expected.VISIBLE,
    Defence.VISIBLE_TEXT,
)
def control_in_plan(arena: Arena) -> None:
    arena.project()
    evil = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
    path = arena.main / PLAN
    text = path.read_text().replace("Make answer", f"{evil}Make answer")
    written(path, text.replace("Task 1: make", f"Task 1: {evil}make"))
    _commit(arena)
    for words in (("status",), ("next",), ("check",), ("phase", "execute", "1", "--dry-run")):
        arena.expect_visible(*words)
    arena.run(lambda _: None)
    arena.expect_landed("answer.txt")


@attack(
    "huge-counts",
    _PLAN,
    "names a wave and dependencies with hundreds of digits",
    Expected.REFUSED,
    Defence.READING,
)
def huge_counts(arena: Arena) -> None:
    arena.project()
    _edit(arena, "depends_on: []", f'depends_on: ["01-{"9" * 5000}"]')
    arena.scripted_agent()
    ended = arena.command("phase", "execute", "1", "--approve", "--json")
    assert ended.exit_code in (3, 6), ended
    assert len(ended.stdout + ended.stderr) < 20_000
    arena.expect_nothing_landed()


@attack(
    "endless-command",
    _PLAN,
    "has a verify command that is longer than the system can start",
    Expected.REFUSED,
    Defence.READING,
)
def endless_command(arena: Arena) -> None:
    arena.project()
    _edit(arena, "sh check.sh", f"sh check.sh # {'x' * 300_000}")
    arena.scripted_agent()
    shown = arena.command("phase", "execute", "1", "--approve")
    assert shown.exit_code != 0, shown
    assert "Traceback" not in shown.stderr, shown
    arena.expect_nothing_landed()


@attack(
    "declares-everything",
    _PLAN,
    "declares every file by a pattern, so that files for CI and agents would land unseen",
    Expected.ASKED_ABOUT_FILES,
    Defence.UNDECLARED,
)
def declares_everything(arena: Arena) -> None:
    def harm(arena: Arena) -> None:
        written(arena.place / ".github/workflows/x.yml", "on: push\n")
        written(arena.place / ".claude/settings.json", "{}\n")

    arena.project(declared=('"*"', '"./"', '"**/*"', '".g*"'))
    arena.run(harm)
    assert ".github/workflows/x.yml" in arena.question, arena.question
    assert ".claude/settings.json" in arena.question, arena.question
    arena.expect_nothing_landed()


@attack(
    "declares-git-files",
    _PLAN,
    "declares a git hook and a summary of another phase as its files",
    Expected.REFUSED,
    Defence.UNDECLARED,
)
def declares_git_files(arena: Arena) -> None:
    arena.project()
    arena.scripted_agent()
    for declared in (OTHER_SUMMARY, ".git/hooks/post-commit", "sub/.git/config"):
        _edit(arena, "files_modified: [", f"files_modified: [{declared}, ")
        shown = arena.command("phase", "execute", "1", "--approve")
        assert shown.exit_code != 0, (declared, shown)
        assert "could not land" in shown.stderr, (declared, shown)
        _edit(arena, f"{declared}, ", "")
    arena.expect_nothing_landed()
