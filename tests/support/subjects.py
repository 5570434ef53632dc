"""The commands that the sweeps test: one row per command.

A subject says how to prepare its folders, which command to run, which command comes next, and how a
person would edit its main file in the meantime.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairlead.planphase.criteria import command_hash
from tests.support.approvals import EXEC, exec_text
from tests.support.programs import ROOT, Command, Program, fairlead, interpreter, run

PROJECT = "project"
STATE = ".planning/STATE.md"
CONFIG = ".planning/config.json"
PLAN = ".claude/orchestrator-plan-phase.local.md"
BEGIN = ("planning", "start", "Goal")
DECISION = ("state", "add-decision", "--phase", "1", "--summary")
READER = ("status", "--json")
PHASE = ".planning/phases/01-foundation"
# Phase 1 has a plan; then it is complete, and a todo waits for it.
PLANNED = {f"{PHASE}/01-01-PLAN.md": "plan\n"}
FINISHED = PLANNED | {
    f"{PHASE}/01-01-SUMMARY.md": "done\n",
    ".planning/todos/pending/a.md": "---\nresolves_phase: 1\n---\nx\n",
}
# The same with a policy that counts only verified phases: without the settings the count is wrong.
STRICT = FINISHED | {CONFIG: '{"fairlead": {"completion": "verified"}}\n'}
# A phase whose only plan promised a file, which exists.
VERIFIABLE = FINISHED | {
    f"{PHASE}/01-01-PLAN.md": "---\nphase: 01-foundation\nplan: 01\nfiles_modified: [guide.md]\n"
    'must_haves:\n  truths: ["There is a guide"]\n  artifacts:\n    - path: guide.md\n---\n',
    "guide.md": "# Guide\n\nTake the left road.\n",
}
# STATE.md says that the plan is complete, but no summary proves it.
CLAIMED = PLANNED | {
    STATE: "---\nstatus: executing\nprogress:\n  total_plans: 1\n  completed_plans: 1\n---\n\n"
    "# Project State\n\n## Current Position\n\nPhase: 1 of 1 (Foundation)\nPlan: 1 of 1\n"
}
# The user has a hook and a status line of their own.
HOOKED = {
    ".claude/settings.local.json": '{\n  "statusLine": {"type": "command", "command": "mine"},\n'
    '  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}\n}\n'
}
FOREIGN_LINE = b"a line by somebody else\n"


@dataclass(frozen=True, slots=True)
class Editing:
    """The file that a person may edit while the command runs, and the edit."""

    path: str
    edit: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Subject:
    """A state-changing command with its own project folder and home folder."""

    name: str
    program: Program
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None]
    follow_up: tuple[str, ...]
    reader: tuple[str, ...]
    follow_up_codes: frozenset[int] = frozenset({0})
    reader_codes: frozenset[int] = frozenset({0})
    editing: Editing | None = None
    # What a person states is recorded first, in their own folder. Only another statement finds what
    # a fault left there, so it comes before the follow-up.
    statements: tuple[tuple[str, ...], ...] = ()

    def command(self, world: Path) -> Command:
        """The command under test, in the given world."""
        return self.program.command(world / PROJECT, *self.arguments)

    def next_command(self, world: Path) -> Command:
        """The state-changing command that follows a fault."""
        return self.program.command(world / PROJECT, *self.follow_up)

    def read_command(self, world: Path) -> Command:
        """A command that only reads."""
        return self.program.command(world / PROJECT, *self.reader)


def append_a_line(text: bytes) -> bytes:
    """A manual edit of a Markdown file."""
    return text + FOREIGN_LINE


def add_a_setting(text: bytes) -> bytes:
    """A manual edit of a JSON file: one more key, right after the opening brace."""
    head, brace, tail = text.partition(b"{")
    return head + brace + b'\n  "somebody": "else",' + tail


EDITS_STATE = Editing(STATE, append_a_line)


def product_subjects() -> dict[str, Subject]:
    """Every state-changing command of the product."""
    decision = (*DECISION, "ours")
    edits_settings = Editing(CONFIG, add_a_setting)
    setting = ("config", "set", "mode", "yolo")
    their_own = ("config", "set", "--user")
    gate = ("state", "gate", "start", "--task", "Task 1", "--phase", "1", "--plan", "01-01")
    blocker = ("state", "add-blocker", "--text", "a wall")
    metric = ("state", "record-metric", "--phase", "1", "--plan", "1", "--duration", "12m")
    claims = ("doctor", "--fix", "--claims")
    evolution = ("state", "add-roadmap-evolution", "--note", "later")
    install = ("install", "claude", "--scope", "local", "--yes")
    uninstall = ("uninstall", "claude", "--scope", "local", "--yes")
    edits_host_settings = Editing(".claude/settings.local.json", add_a_setting)
    rows = (
        _in_a_project("add-decision", decision),
        _in_a_project("config-set", setting, editing=edits_settings),
        _in_a_project(
            "config-set-user",
            (*their_own, "mode", "yolo"),
            follow_up=(*their_own, "fairlead.color", "never"),
        ),
        _in_a_project(
            "config-unset", ("config", "unset", "mode"), [setting], editing=edits_settings
        ),
        _in_an_empty_folder("init", ("init", "Sample", "--yes")),
        _in_an_empty_folder("init-ultraplan", ("init", "S", "--yes", "--dialect", "ultraplan")),
        _in_a_project("add-blocker", blocker),
        _in_a_project("resolve-blocker", ("state", "resolve-blocker", "--text", "wall"), [blocker]),
        _in_a_project("add-roadmap-evolution", evolution),
        _in_a_project("state-set", ("state", "set", "Status", "Testing")),
        _in_a_project("sync", ("state", "sync"), files=STRICT),
        _in_a_project(
            "prune", ("state", "prune", "--lines", "9", "--keep", "0"), [decision, blocker]
        ),
        _in_a_project("planned-phase", ("state", "planned-phase", "--phase", "1"), files=PLANNED),
        _in_a_project("begin-phase", ("state", "begin-phase", "--phase", "1"), files=PLANNED),
        _in_a_project("advance-plan", ("state", "advance-plan"), files=FINISHED),
        _in_a_project(
            "complete-phase", ("state", "complete-phase", "--phase", "1"), files=FINISHED
        ),
        _in_a_project("record-metric", metric, files=FINISHED),
        _in_a_project("task-result", ("state", "task-result", "success", "--task", "Task 1")),
        _in_a_project("gate-start", gate, files=PLANNED),
        _in_a_project("gate-step", ("state", "gate", "executor-success"), [gate], files=PLANNED),
        _in_a_project("record-session", ("state", "record-session", "--stopped-at", "here")),
        _in_a_project("pause", ("state", "pause", "--at", "noon")),
        _in_a_project("resume", ("state", "resume"), [("state", "pause", "--at", "noon")]),
        _in_a_project("resume-gate", ("state", "resume"), [gate], files=PLANNED),
        _in_a_project("resume-fresh", ("state", "resume", "--fresh"), [gate], files=PLANNED),
        _in_a_project("wait", ("state", "wait", "--question", "Which?", "--option", "A")),
        _in_a_project("phase-add", ("phase", "add", "Second")),
        _in_a_project("phase-insert", ("phase", "insert", "1", "Fix")),
        _in_a_project("phase-remove", ("phase", "remove", "2"), [("phase", "add", "Second")]),
        _in_a_project("phase-complete", ("phase", "complete", "1"), files=FINISHED),
        _in_a_project("phase-verify", ("phase", "verify", "1"), files=VERIFIABLE),
        _in_a_project("roadmap-progress", ("roadmap", "update-progress"), files=FINISHED),
        _in_a_project("milestone-complete", ("milestone", "complete", "v1.0"), files=FINISHED),
        _in_a_project(
            "milestone-new",
            ("milestone", "new", "v1.1", "Search"),
            [("milestone", "complete", "v1.0", "--force", "--reason", "enough")],
        ),
        _in_a_project("capture", ("capture", "A login page")),
        _in_a_project(
            "capture-done", ("capture", "--done", "login"), [("capture", "A login page")]
        ),
        _in_a_project("capture-backlog", ("capture", "--backlog", "Dark mode")),
        _in_a_project("put-down", ("pause", "noon"), files=PLANNED),
        _in_a_project("take-up", ("resume",), [("pause", "noon")], files=PLANNED),
        _in_a_project("doctor-fix", ("doctor", "--fix"), files=FINISHED),
        _in_a_project("doctor-correct", (*claims, "correct"), files=CLAIMED),
        _in_a_project("doctor-reconstruct", (*claims, "reconstruct"), files=CLAIMED),
        _in_a_project("undo", ("undo",), [decision]),
        _in_a_project("undo-moves", ("undo",), [("phase", "insert", "1", "Fix")]),
        _in_a_project("merge-driver", ("merge-driver", "--register")),
        *_of_planning(),
        _in_a_project(
            "install", install, files=HOOKED, follow_up=install, editing=edits_host_settings
        ),
        _in_a_project("uninstall", uninstall, [install], follow_up=uninstall),
        *_of_execution(),
    )
    return {row.name: row for row in rows}


def _of_planning() -> tuple[Subject, ...]:
    """The commands of the Plan Phase: in a folder of their own, one of them in a project."""
    add = ("planning", "add")
    module = (*add, "module", "Core", "--criteria", "It holds")
    text = (*add, "criterion", "Ana agrees")
    check = (*add, "criterion", "It runs", "--command", "true")
    confirm, release = ("planning", "confirm", "5", "--yes"), ("planning", "release")
    allowed = ("planning", "confirm", "5", "--allow", command_hash(("true",)))
    sections = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")
    approve = ("planning", "approve", "--skip-issues")
    done = [
        ("planning", "modify", "requirement", name, "--status", "complete") for name in sections
    ]
    ready = [module, *done]
    written = {"USER_REQUIREMENTS.md": "".join(f"## {name}\n\ntext\n" for name in sections)}
    return (
        _in_an_empty_folder("planning-start", BEGIN),
        _with_a_plan("planning-add", module),
        _with_a_plan("planning-add-in-project", module, [("init", "Sample", "--yes")]),
        _with_a_plan("planning-modify", ("planning", "modify", "goal", "G", "--unlock")),
        _with_a_plan("planning-remove", ("planning", "remove", "module", "core"), [module]),
        _with_a_plan("planning-review", ("planning", "review"), ready, files=written),
        replace(_with_a_plan("planning-confirm", confirm, [text]), statements=(confirm,)),
        # Its record belongs to the user, so only another confirmation finds the remains.
        replace(_with_a_plan("planning-confirm-command", allowed, [check]), follow_up=allowed),
        replace(_with_a_plan("planning-release", release), statements=(release,)),
        _with_a_plan("planning-reset", ("planning", "reset", "--confirm")),
        replace(
            _with_a_plan(
                "planning-approve", approve, [*ready, ("planning", "review")], files=written
            ),
            follow_up=("exec", "register", "human", "next"),
            statements=(approve, release),
        ),
    )


def _of_execution() -> tuple[Subject, ...]:
    """The commands of the Orchestration Phase; `planning approve` with issues has its own sweep."""
    register = ("exec", "register", "human")
    people: list[tuple[str, ...]] = [(*register, "ada"), (*register, "bob")]
    assign = ("exec", "assign", "auth-core", "ada")
    again = ("exec", "reassign", "auth-core", "--to", "bob", "--reason", "ill")
    rows: tuple[tuple[str, tuple[str, ...], list[tuple[str, ...]]], ...] = (
        ("exec-register", (*register, "ada"), []),
        ("exec-assign", assign, people),
        ("exec-reassign", again, [*people, assign]),
        ("exec-modify", ("exec", "modify", "auth-core", "--priority", "low"), []),
        ("exec-complete", ("exec", "complete", "auth-core"), [*people, assign]),
    )
    return tuple(
        replace(
            _in_a_project(name, arguments, before, given={EXEC: exec_text()}, first=()),
            editing=Editing(EXEC, append_a_line),
            follow_up=(*register, "next"),
            reader=("exec", "status", "--json"),
        )
        for name, arguments, before in rows
    )


def _with_a_plan(
    name: str,
    arguments: tuple[str, ...],
    before: Sequence[tuple[str, ...]] = (),
    *,
    files: Mapping[str, str] | None = None,
) -> Subject:
    """A command of the Plan Phase with its files; after a reset there is no plan to read."""
    gone = frozenset({0, 2})
    return replace(
        _in_a_project(name, arguments, (BEGIN, *before), given=files, first=()),
        editing=Editing(PLAN, append_a_line),
        follow_up=("planning", "add", "module", "Next"),
        reader=("planning", "status", "--json"),
        follow_up_codes=gone,
        reader_codes=gone,
    )


def _in_a_project(
    name: str,
    arguments: tuple[str, ...],
    before: Sequence[tuple[str, ...]] = (),
    *,
    files: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    follow_up: tuple[str, ...] = (*DECISION, "next"),
    editing: Editing = EDITS_STATE,
    first: tuple[tuple[str, ...], ...] = (("init", "Sample", "--yes"),),
) -> Subject:
    program = fairlead()

    def prepare(world: Path) -> None:
        _make_folders(world)
        _put(world, given or {})
        for words in (*first, *before):
            done = run(program.command(world / PROJECT, *words))
            assert done.code == 0, done.describe()
        _put(world, files or {})

    return Subject(
        name, program, (*arguments, "--json"), prepare, follow_up, READER, editing=editing
    )


def _in_an_empty_folder(name: str, arguments: tuple[str, ...]) -> Subject:
    """A command that creates a project; a second run finds the project or completes it."""
    return Subject(
        name,
        fairlead(),
        (*arguments, "--json"),
        _make_folders,
        arguments,
        READER,
        follow_up_codes=frozenset({0, 4}),
        reader_codes=frozenset({0, 2}),
    )


def _put(world: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = world / PROJECT / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def _make_folders(world: Path) -> None:
    (world / "home").mkdir(parents=True)
    (world / PROJECT).mkdir()


def planted_subject(fault: str) -> Subject:
    """A writer with a planted fault, tested by the same sweeps."""
    script = ROOT / "tests" / "support" / "planted_writer.py"
    program = Program((interpreter(), "-I", "-S", str(script), fault))

    def prepare(world: Path) -> None:
        _make_folders(world)
        service = world / PROJECT / ".planning" / ".fairlead"
        service.mkdir(parents=True)
        (service / "lock").touch()
        state = world / PROJECT / STATE
        state.write_bytes(b"# State\n\n## Decisions\n- first\n\n## Notes\n" + b"note\n" * 1000)

    return Subject(
        f"planted-{fault}",
        program,
        ("add", "ours"),
        prepare,
        ("add", "next"),
        ("show",),
        editing=EDITS_STATE,
    )
