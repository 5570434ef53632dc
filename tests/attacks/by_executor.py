"""Attacks by the executor: forged verify results, forged proofs, and other people's git."""

from __future__ import annotations

import hashlib
import json
import os
import py_compile
import subprocess
import sys
from pathlib import Path

from fairlead.jobs.context import RunOptions
from tests.attacks.arena import (
    CHECK,
    FORGED_SUMMARY,
    OTHER_PLAN,
    OTHER_SUMMARY,
    PHASE,
    PLAN,
    SUMMARY,
    WRONG,
    Arena,
    Harm,
    Offer,
)
from tests.attacks.catalog import Attacker, Defence, Expected, attack
from tests.support.execution import a_plan
from tests.support.repositories import git, written

_EXECUTOR = Attacker.EXECUTOR


# -- what the verify command sees ----------------------------------------------------------


def _forging(
    id_: str,
    what: str,
    *,
    defence: Defence = Defence.CLEAN_TREE,
    expected: Expected = Expected.VERIFY_FAILS,
    **project: object,
) -> Offer:
    """Add an attack in which wrong work is to pass the verify command."""

    def add(harm: Harm) -> Harm:
        def carry_out(arena: Arena) -> None:
            arena.project(**project)  # type: ignore[arg-type]
            arena.run(harm, content=WRONG)
            if expected is Expected.VERIFY_FAILS:
                arena.expect_verify_failure()
            arena.expect_nothing_landed()

        attack(id_, _EXECUTOR, what, expected, defence)(carry_out)
        return harm

    return add


@_forging("skip-worktree", "replaces the verify script and marks it skip-worktree in its index")
def skip_worktree(arena: Arena) -> None:
    written(arena.place / "check.sh", "exit 0\n")
    git(arena.place, "update-index", "--skip-worktree", "check.sh")


@_forging("assume-unchanged", "replaces the verify script and marks it assume-unchanged")
def assume_unchanged(arena: Arena) -> None:
    written(arena.place / "check.sh", "exit 0\n")
    git(arena.place, "update-index", "--assume-unchanged", "check.sh")


@_forging(
    "forged-stat-data", "puts the new script's size and times beside the old blob in its index"
)
def forged_stat_data(arena: Arena) -> None:
    place = arena.place
    old = git(place, "rev-parse", "HEAD:check.sh")
    written(place / "check.sh", "exit 0 " + "#" * (len(CHECK) - 8) + "\n")
    os.utime(place / "check.sh", (1_000_000_000, 1_000_000_000))
    git(place, "add", "check.sh")
    own = Path((place / ".git").read_text().removeprefix("gitdir: ").strip())
    new = git(place, "rev-parse", ":check.sh")
    index = (own / "index").read_bytes()
    forged = index[:-20].replace(bytes.fromhex(new), bytes.fromhex(old))
    (own / "index").write_bytes(forged + hashlib.sha1(forged, usedforsecurity=False).digest())


@_forging("same-size-and-time", "replaces the script by one of the same size with the same times")
def same_size_and_time(arena: Arena) -> None:
    path = arena.place / "check.sh"
    times = path.stat()
    written(path, "true " + "#" * (times.st_size - 6) + "\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@_forging("linked-script", "replaces the verify script by a link to a script outside the project")
def linked_script(arena: Arena) -> None:
    written(arena.folder / "ok.sh", "exit 0\n")
    (arena.place / "check.sh").unlink()
    (arena.place / "check.sh").symlink_to(arena.folder / "ok.sh")


@_forging(
    "hard-linked-script", "replaces the verify script by a hard link to one that always passes"
)
def hard_linked_script(arena: Arena) -> None:
    written(arena.folder / "ok.sh", "exit 0\n")
    (arena.place / "check.sh").unlink()
    os.link(arena.folder / "ok.sh", arena.place / "check.sh")


_TEST = (
    "import unittest\n\n\nclass It(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertIn('42', open('answer.txt').read())\n"
)
_IGNORES = "__pycache__/\nnode_modules/\nbuild/\n.venv/\n*.egg-info\n"
_UNITTEST = f"{sys.executable} -m unittest test_it"


@_forging(
    "planted-bytecode",
    "plants an unchecked .pyc of the test module in an ignored __pycache__",
    verify=_UNITTEST,
    files={"test_it.py": _TEST, ".gitignore": _IGNORES},
)
def planted_bytecode(arena: Arena) -> None:
    written(arena.place / "forged.py", _TEST.replace("'42'", "'41'"))
    target = arena.place / f"__pycache__/test_it.{sys.implementation.cache_tag}.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(arena.place / "forged.py"), str(target), invalidation_mode=mode)
    (arena.place / "forged.py").unlink()


@_forging(
    "planted-conftest",
    "plants an undeclared load_tests module that skips every failing test",
    verify=_UNITTEST,
    files={"test_it.py": _TEST, ".gitignore": _IGNORES},
    defence=Defence.UNDECLARED,
)
def planted_conftest(arena: Arena) -> None:
    written(arena.place / "unittest.py", "import sys\nsys.exit(0)\n")
    written(arena.place / "unittest/__main__.py", "import sys\nsys.exit(0)\n")
    written(arena.place / "unittest/__init__.py", "")


@_forging(
    "ignored-build",
    "leaves the result that the verify command looks for in an ignored folder",
    verify="test -f build/ok",
    files={".gitignore": _IGNORES},
)
def ignored_build(arena: Arena) -> None:
    written(arena.place / "build/ok", "")


@_forging(
    "own-ignore-file",
    "uses an ignore file of its own to hide a file that verify looks for",
    verify="test -f lib/ok",
)
def own_ignore_file(arena: Arena) -> None:
    written(arena.place / "lib/.gitignore", "*\n")
    written(arena.place / "lib/ok", "x")


@_forging(
    "nested-repository",
    "hides a file that verify looks for in a nested git repository",
    verify="test -f lib/ok",
    expected=Expected.ATTEMPT_FAILS,
)
def nested_repository(arena: Arena) -> None:
    written(arena.place / "lib/ok", "x")
    git(arena.place / "lib", "init", "-q")


@_forging(
    "changed-dependency",
    "changes a file in the dependency folder that the setup command made",
    verify="grep -q honest node_modules/ok && sh check.sh",
    files={".gitignore": _IGNORES},
    options=RunOptions(
        kept=("node_modules",), setup="mkdir -p node_modules && echo honest > node_modules/ok"
    ),
)
def changed_dependency(arena: Arena) -> None:
    written(arena.place / "node_modules/ok", "honest\n")
    written(arena.place / "node_modules/.bin/sh", "#!/bin/sh\nexit 0\n")
    (arena.place / "node_modules/.bin/sh").chmod(0o755)


@_forging(
    "pipe-for-git-file",
    "replaces the .git file of its worktree by a pipe that would block",
    expected=Expected.ATTEMPT_FAILS,
)
def pipe_for_git_file(arena: Arena) -> None:
    (arena.place / ".git").unlink()
    os.mkfifo(arena.place / ".git")


@_forging(
    "pipe-in-worktree-folder",
    "puts pipes where git keeps the files of its worktree",
    expected=Expected.ATTEMPT_FAILS,
)
def pipe_in_worktree_folder(arena: Arena) -> None:
    own = Path((arena.place / ".git").read_text().removeprefix("gitdir: ").strip())
    for name in ("gitdir", "HEAD", "commondir", "index"):
        (own / name).unlink(missing_ok=True)
        os.mkfifo(own / name)


@_forging(
    "foreign-worktree",
    "points its worktree at another repository in which verify passes",
    expected=Expected.ATTEMPT_FAILS,
)
def foreign_worktree(arena: Arena) -> None:
    other = arena.folder / "other"
    other.mkdir(exist_ok=True)
    git(other, "init", "-q", "-b", "main")
    written(other / "check.sh", "exit 0\n")
    git(other, "add", "--all")
    git(other, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-mx")
    (arena.place / ".git").unlink()
    written(arena.place / ".git", f"gitdir: {other}/.git\n")


@_forging("read-only-folders", "makes folders read-only so that its worktree cannot be cleaned")
def read_only_folders(arena: Arena) -> None:
    written(arena.place / "d/x", "x")
    (arena.place / "d").chmod(0o500)
    written(arena.place / "check.sh", "exit 0\n")


@_forging("script-as-folder", "replaces the verify script by a folder with a script in it")
def script_as_folder(arena: Arena) -> None:
    (arena.place / "check.sh").unlink()
    written(arena.place / "check.sh/run", "exit 0\n")


@_forging(
    "replaced-answer-file",
    "makes the declared file a pipe, so that reading it would block",
    defence=Defence.READING,
)
def replaced_answer_file(arena: Arena) -> None:
    (arena.place / "answer.txt").unlink()
    os.mkfifo(arena.place / "answer.txt")


@_forging("committed-on-its-branch", "commits a passing script on its own branch, then goes back")
def committed_on_its_branch(arena: Arena) -> None:
    written(arena.place / "check.sh", "exit 0\n")
    git(arena.place, "commit", "-q", "-a", "-m", "sneaky")


# -- what only the run may change ----------------------------------------------------------


def _touching(
    id_: str,
    what: str,
    *named: str,
    gone: tuple[str, ...] = (),
    defence: Defence = Defence.TAMPER_CHECK,
    moves: bool = False,
) -> Offer:
    """Add an attack that changes something the run has to ask about, and can restore."""

    def add(harm: Harm) -> Harm:
        def carry_out(arena: Arena) -> None:
            arena.project()
            arena.run(harm)
            arena.expect_asked(*named, restored=gone, moves=moves)

        attack(id_, _EXECUTOR, what, Expected.ASKED, defence)(carry_out)
        return harm

    return add


@_touching("own-summary", "writes the summary of its own plan", SUMMARY, gone=(SUMMARY,))
def own_summary(arena: Arena) -> None:
    written(arena.main / SUMMARY, FORGED_SUMMARY)


@_touching(
    "other-summary", "writes the summary of another phase", OTHER_SUMMARY, gone=(OTHER_SUMMARY,)
)
def other_summary(arena: Arena) -> None:
    written(arena.main / OTHER_SUMMARY, FORGED_SUMMARY)


_SIDE = ".planning/workstreams/side/phases/03-x/03-01-SUMMARY.md"


@_touching("workstream-summary", "writes a summary into a workstream", _SIDE, gone=(_SIDE,))
def workstream_summary(arena: Arena) -> None:
    written(arena.main / _SIDE, FORGED_SUMMARY)


_ARCHIVED = ".planning/milestones/v1.0-phases/01-work/01-01-SUMMARY.md"


@_touching(
    "archived-summary", "writes a summary into an archived milestone", _ARCHIVED, gone=(_ARCHIVED,)
)
def archived_summary(arena: Arena) -> None:
    written(arena.main / _ARCHIVED, FORGED_SUMMARY)


_VERIFICATION = ".planning/phases/02-more/02-VERIFICATION.md"


@_touching(
    "verification", "writes the verification of a phase", _VERIFICATION, gone=(_VERIFICATION,)
)
def verification(arena: Arena) -> None:
    written(arena.main / _VERIFICATION, "---\nstatus: passed\n---\n")


@_touching(
    "summary-as-folder",
    "makes a folder with the name of a summary",
    OTHER_SUMMARY,
    gone=(OTHER_SUMMARY,),
)
def summary_as_folder(arena: Arena) -> None:
    written(arena.main / OTHER_SUMMARY / "file", FORGED_SUMMARY)


@_touching(
    "summary-as-link",
    "makes a link to a forged summary outside the project",
    OTHER_SUMMARY,
    gone=(OTHER_SUMMARY,),
)
def summary_as_link(arena: Arena) -> None:
    written(arena.folder / "forged.md", FORGED_SUMMARY)
    (arena.main / OTHER_SUMMARY).symlink_to(arena.folder / "forged.md")


@_touching(
    "summary-as-pipe",
    "makes a pipe with the name of a summary",
    OTHER_SUMMARY,
    gone=(OTHER_SUMMARY,),
)
def summary_as_pipe(arena: Arena) -> None:
    os.mkfifo(arena.main / OTHER_SUMMARY)


@_touching("own-plan", "rewrites the verify command of its own plan", PLAN)
def own_plan(arena: Arena) -> None:
    path = arena.main / PLAN
    written(path, path.read_text().replace("sh check.sh", "true"))


@_touching("other-plan", "deletes the plan of another phase", OTHER_PLAN)
def other_plan(arena: Arena) -> None:
    (arena.main / OTHER_PLAN).unlink()


@_touching("new-plan", "adds a plan to its own phase", "01-07-PLAN.md")
def new_plan(arena: Arena) -> None:
    text = (arena.main / PLAN).read_text().replace("plan: 01", "plan: 07")
    written(arena.main / ".planning/phases/01-work/01-07-PLAN.md", text)


@_touching("project-settings", "loosens the settings of the project", ".planning/config.json")
def project_settings(arena: Arena) -> None:
    text = '{"fairlead": {"execution": {"undeclared": "review", "permissions": "all"}}}'
    written(arena.main / ".planning/config.json", text)


@_touching("approval", "adds an approval to the person's own record", "approved/")
def approval_record(arena: Arena) -> None:
    [approvals] = (arena.home / ".state/fairlead/approved").glob("*.txt")
    with approvals.open("a") as file:
        file.write("0" * 64 + "\n")


@_touching("forged-gate", "marks the gate of its task as approved", "gates/01-01-01.json")
def forged_gate(arena: Arena) -> None:
    [gate] = arena.main.glob(".planning/jobs/*/gates/01-01-01.json")
    written(gate, gate.read_text().replace("EXECUTING", "APPROVED"))


@_touching("planted-gate", "adds an approved gate for a task of another plan", "01-02-01.json")
def planted_gate(arena: Arena) -> None:
    [gate] = arena.main.glob(".planning/jobs/*/gates/01-01-01.json")
    text = gate.read_text().replace("01-01", "01-02").replace("EXECUTING", "APPROVED")
    written(gate.parent / "01-02-01.json", text)


@attack(
    "ledger-of-another",
    _EXECUTOR,
    "removes the last entries from the ledger of a plan that has landed",
    Expected.ASKED,
    Defence.TAMPER_CHECK,
)
def ledger_of_another(arena: Arena) -> None:
    ledger = arena.main / ".planning/ledger/01-00.jsonl"

    def harm(arena: Arena) -> None:
        written(ledger, "".join(ledger.read_text().splitlines(keepends=True)[:1]))

    arena.project(
        files={
            f"{PHASE}/01-00-PLAN.md": a_plan("01-00", "a.txt").text,
            f"{PHASE}/01-00-SUMMARY.md": FORGED_SUMMARY,  # of a person, from before the run
            ".planning/ledger/01-00.jsonl": "{}\n{}\n",
        }
    )
    arena.run(harm)
    assert "ledger/01-00.jsonl" in arena.question, arena.question
    assert ledger.read_text() == "{}\n{}\n"
    assert arena.landed == []


_OTHER_GATE = ".planning/jobs/execute-02-20260101-000000/gates/02-01-01.json"


@_touching(
    "gate-of-another-job",
    "approves a task of another job, which a person will continue later",
    _OTHER_GATE,
    gone=(_OTHER_GATE,),
)
def gate_of_another_job(arena: Arena) -> None:
    [gate] = arena.main.glob(".planning/jobs/*/gates/01-01-01.json")
    text = gate.read_text().replace("01-01", "02-01").replace("EXECUTING", "APPROVED")
    written(arena.main / _OTHER_GATE, text)


@_touching("job-record", "ends its job as DONE in job.json", "job.json")
def job_record(arena: Arena) -> None:
    [path] = arena.main.glob(".planning/jobs/*/job.json")
    written(path, path.read_text().replace('"EXECUTING"', '"DONE"'))


@_touching(
    "planted-question", "plants a question with its answer", "questions/touched-01-01-01.json"
)
def planted_question(arena: Arena) -> None:
    [job] = arena.main.glob(".planning/jobs/*")
    text = (
        '{"version": 1, "id": "touched-01-01-01", "kind": "touched", "subject": "01-01-01", '
        '"text": "x", "options": ["accept"], "answer": "accept", "answered_at": "2026"}'
    )
    written(job / "questions/touched-01-01-01.json", text)


@_touching(
    "hook", "installs a git hook", ".git/hooks/post-checkout", gone=(".git/hooks/post-checkout",)
)
def hook(arena: Arena) -> None:
    for name in ("post-checkout", "pre-commit", "post-merge", "reference-transaction"):
        (arena.main / ".git/hooks").mkdir(exist_ok=True)
        (arena.main / ".git/hooks" / name).symlink_to(arena.canary)


@_touching("hooks-path", "points core.hooksPath at a folder of its own", ".git/config")
def hooks_path(arena: Arena) -> None:
    for name in ("post-checkout", "pre-commit", "post-merge"):
        (arena.folder / "hooks").mkdir(exist_ok=True)
        (arena.folder / "hooks" / name).symlink_to(arena.canary)
    git(arena.main, "config", "core.hooksPath", str(arena.folder / "hooks"))


def _everything_in(arena: Arena, name: str = "e") -> str:
    """Settings in which git starts the canary on every occasion."""
    program = arena.canary
    return (
        f'[filter "{name}"]\n\tclean = {program}\n\tsmudge = {program}\n'
        f'[diff "{name}"]\n\ttextconv = {program}\n\tcommand = {program}\n'
        f'[merge "{name}"]\n\tdriver = {program}\n'
        f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}\n"
        f"\tsshCommand = {program}\n\talternateRefsCommand = {program}\n"
        f"[diff]\n\texternal = {program}\n[alias]\n\tstatus = !{program}\n"
        f"[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {program}\n"
    )


def _attributes(arena: Arena) -> None:
    written(arena.main / ".git/info/attributes", "* filter=e diff=e merge=e\n")


@_touching(
    "git-settings",
    "sets filters, drivers, fsmonitor and signing programs in .git/config",
    ".git/config",
    defence=Defence.PRIVATE_GIT,
)
def git_settings(arena: Arena) -> None:
    with (arena.main / ".git/config").open("a") as file:
        file.write(_everything_in(arena))
    _attributes(arena)


@_touching(
    "included-settings",
    "includes a settings file of its own in .git/config",
    ".git/config",
    defence=Defence.PRIVATE_GIT,
)
def included_settings(arena: Arena) -> None:
    written(arena.folder / "more", _everything_in(arena))
    git(arena.main, "config", "include.path", str(arena.folder / "more"))
    _attributes(arena)


@_touching(
    "worktree-settings",
    "switches on extensions.worktreeConfig and sets programs there",
    ".git/config",
    defence=Defence.PRIVATE_GIT,
)
def worktree_settings(arena: Arena) -> None:
    git(arena.main, "config", "core.repositoryFormatVersion", "1")
    git(arena.main, "config", "extensions.worktreeConfig", "true")
    written(arena.main / ".git/config.worktree", _everything_in(arena))
    own = Path((arena.place / ".git").read_text().removeprefix("gitdir: ").strip())
    written(own / "config.worktree", _everything_in(arena))
    _attributes(arena)


@_touching(
    "personal-git-settings",
    "sets filters and programs in the person's ~/.gitconfig",
    ".gitconfig",
    defence=Defence.PRIVATE_GIT,
)
def personal_git_settings(arena: Arena) -> None:
    written(arena.home / ".gitconfig", _everything_in(arena))
    written(arena.home / ".config/git/attributes", "* filter=e diff=e merge=e\n")


@_touching("exclude-file", "hides a file with the repository's exclude file", ".git/info/exclude")
def exclude_file(arena: Arena) -> None:
    written(arena.main / ".git/info/exclude", "helper\n")
    written(arena.place / "helper", "x")


@_touching(
    "replace-ref", "replaces the blob of the verify script with git replace", "refs/replace/"
)
def replace_ref(arena: Arena) -> None:
    words = ["git", "hash-object", "-w", "--stdin"]
    made = subprocess.run(words, cwd=arena.main, input=b"exit 0\n", capture_output=True, check=True)
    old = git(arena.main, "rev-parse", "HEAD:check.sh")
    git(arena.main, "replace", old, made.stdout.decode().strip())


@_touching(
    "alternates", "adds objects from a folder of its own through git alternates", "alternates"
)
def alternates(arena: Arena) -> None:
    git(arena.folder, "init", "-q", "--bare", "lender")
    written(arena.main / ".git/objects/info/alternates", f"{arena.folder}/lender/objects\n")


@_touching("grafts", "rewrites history with a grafts file", ".git/info/grafts")
def grafts(arena: Arena) -> None:
    written(arena.main / ".git/info/grafts", f"{arena.base}\n")


@_touching("shallow", "cuts history off with a shallow file", ".git/shallow")
def shallow(arena: Arena) -> None:
    written(arena.main / ".git/shallow", f"{arena.base}\n")


@_touching(
    "commit-on-main",
    "commits to the person's branch in the main tree, with an old date",
    "refs/heads/main",
    gone=("evil.txt",),
    moves=True,
)
def commit_on_main(arena: Arena) -> None:
    written(arena.main / "evil.txt", "x\n")
    git(arena.main, "add", "evil.txt")
    old = {"GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z"}
    words = ["git", "commit", "-q", "-m", "a forged old commit"]
    subprocess.run(words, cwd=arena.main, env={**os.environ, **old}, check=True)


@_touching(
    "moved-branch",
    "moves the person's branch to its own commit",
    "refs/heads/main",
    moves=True,
)
def moved_branch(arena: Arena) -> None:
    made = git(arena.place, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mine")
    git(arena.main, "update-ref", "refs/heads/main", made)


@_touching("moved-head", "checks out another branch in the main tree", "HEAD", moves=True)
def moved_head(arena: Arena) -> None:
    git(arena.main, "checkout", "-q", "-b", "elsewhere")


@_touching("tag", "makes a tag", "refs/tags/v9")
def tag(arena: Arena) -> None:
    git(arena.main, "tag", "v9")


@_touching("packed-ref", "adds a branch to the packed refs", "refs/heads/planted")
def packed_ref(arena: Arena) -> None:
    with (arena.main / ".git/packed-refs").open("a") as file:
        file.write(f"{arena.base} refs/heads/planted\n")


@_touching("pipe-as-ref", "puts a pipe where git keeps branches", "refs/heads/pipe")
def pipe_as_ref(arena: Arena) -> None:
    os.mkfifo(arena.main / ".git/refs/heads/pipe")


@_touching(
    "pointer-branch",
    "makes the branch of its attempt a pointer to the person's branch, so that our writes lead there",
    "refs/heads/fairlead/",
)
def pointer_branch(arena: Arena) -> None:
    own = git(arena.place, "symbolic-ref", "HEAD")
    written(arena.main / ".git" / own, "ref: refs/heads/main\n")


@_touching("pointer-main", "makes the person's branch a pointer to its own", "refs/heads/main")
def pointer_main(arena: Arena) -> None:
    written(arena.main / ".git/refs/heads/main", f"ref: {git(arena.place, 'symbolic-ref', 'HEAD')}")


# -- steps that the next writer completes --------------------------------------------------


def plant_step(arena: Arena, path: str, text: str, staging: str = ".planning/.fairlead") -> None:
    """Leave the record of an interrupted command, which the next writer would complete."""
    folder, name = arena.main / staging, f"x-{'0' * 16}.a.b.{Path(path).name}"
    old, new = arena.main / path, text.encode()
    written(folder / name, text)
    entry = {
        "path": path,
        "old_sha256": hashlib.sha256(old.read_bytes()).hexdigest() if old.exists() else None,
        "new_sha256": hashlib.sha256(new).hexdigest(),
        "stage": name,
    }
    step = {"version": 1, "command": "state sync", "entries": [entry]}
    written(folder / "intent.json", json.dumps(step))


@_touching(
    "planted-step",
    "leaves an unfinished step, with which the next writer would forge a summary",
    OTHER_SUMMARY,
    gone=(OTHER_SUMMARY,),
)
def planted_step(arena: Arena) -> None:
    plant_step(arena, OTHER_SUMMARY, FORGED_SUMMARY)


@_touching(
    "planted-step-for-settings",
    "leaves an unfinished step that would loosen the settings of the project",
    ".planning/config.json",
)
def planted_step_for_settings(arena: Arena) -> None:
    plant_step(arena, ".planning/config.json", '{"fairlead": {"execution": {"attempts": 9}}}\n')


@_touching(
    "planted-step-for-gate",
    "leaves an unfinished step in the folder of its job that would approve a task of another plan",
    "01-02-01.json",
)
def planted_step_for_gate(arena: Arena) -> None:
    [gate] = arena.main.glob(".planning/jobs/*/gates/01-01-01.json")
    text = gate.read_text().replace("01-01", "01-02").replace("EXECUTING", "APPROVED")
    job = gate.parent.parent.relative_to(arena.main)
    plant_step(arena, f"{job}/gates/01-02-01.json", text, f"{job}/.fairlead")
