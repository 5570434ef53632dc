"""What is run for each command: representative invocations, by the name of a sample project.

A leaf command also gets three invocations by rule: an unknown option, its first case in a folder
without a project, and its first case where STATE.md cannot be read.
"""

import shlex
from dataclasses import dataclass

from tests.golden.kinds import KINDS

HOOK = '{"session_id": "s1", "cwd": "<project>", "source": "startup", "hook_event_name": "x"}'
LINE = '{"session_id": "s1", "cwd": "<project>", "model": {"display_name": "M"}, "workspace": {}}'
BAD_OPTION = "--no-such-option"


@dataclass(frozen=True, slots=True)
class Case:
    """One invocation."""

    sample: str
    words: tuple[str, ...]  # after the name of the command
    stdin: str = ""
    is_slow: bool = False  # agents run; only `tools/golden.py` and the long tests run it
    is_derived: bool = False  # by rule

    def argv(self, command: str) -> list[str]:
        """The whole command line."""
        return [*command.split(), *self.words]

    def name(self, command: str) -> str:
        """How the golden file calls it."""
        return f"{self.sample}: {shlex.join(self.argv(command))}"


TABLE: dict[str, tuple[str, ...]] = {
    "rehearsal discard": ("project:", "project: --dry-run"),
    "rehearsal show": ("project:",),
    "capture": (
        "project: 'The lamp flickers' --area ui",
        "project: --list",
        "project: --done nothing-like-it",
        "project: 'Dim the lamps' --dry-run",
        "project:",
    ),
    "check": ("project:", "project: --all", "project: --ledger", "project: --ws nowhere", "goal:"),
    "completion": ("project: bash", "project: zsh", "project: fish", "project: tcsh", "project:"),
    "config get": ("project: fairlead.slots", "project: fairlead.no_such"),
    "config list": ("project:",),
    "config set": (
        "project: fairlead.slots 4",
        "project: fairlead.slots 4 --user",
        "project: fairlead.slots 400",
        "project: fairlead.slots many --dry-run",
        "project: fairlead.no_such 1",
        "project: fairlead.agents.x.argv a",
        "project: mode yolo2",
        "project: fairlead.council.seats.skeptic nosuch",
    ),
    "config unset": (
        "project: fairlead.slots",
        "project: mode --dry-run",
        "project: fairlead.no_such",
        "project: fairlead.slots --user",
    ),
    "debug": ("agent: 'It fails' --dry-run", "project: resume nothing", "project:"),
    "demo": ("empty: extra",),
    "doctor hosts": ("project:", "installed:"),
    "doctor": (
        "project:",
        "project: --dry-run",
        "project: --fix --yes",
        "project: --claims wrong",
        "goal:",
    ),
    "doctor agents": ("agent:", "project:", "project: --ask"),
    "exec assign": ("assigned: lamp-switch bot", "approved: tide-reader nobody", "goal: a b"),
    "exec complete": ("assigned: tide-reader", "assigned: lamp-switch", "assigned: nothing"),
    "exec modify": ("assigned: tide-reader --priority low", "assigned: nothing --priority low"),
    "exec reassign": (
        "assigned: tide-reader --to bot --reason away",
        "assigned: tide-reader --to bot",
    ),
    "exec register": ("approved: human ada", "approved: robot ada", "assigned: human ada"),
    "exec status": ("assigned:", "approved:", "project:"),
    "explain": (
        "project: progress",
        "project: status",
        "project: phase 2",
        "project: plan 02-02",
        "project: phase 9",
        "project: phase",
        "project: nothing",
    ),
    "help": ("project: phase show", "project: status", "project: phase shwo", "project: status x"),
    "hook": (
        f"project: session-start < {HOOK}",
        f"goal: stop < {HOOK}",
        f"project: pre-compact < {HOOK}",
        f"project: session-end < {HOOK}",
        "project: stop < not json",
        "project: nothing < {}",
        "project: stop --print-command",
        "project: session-start --print-command",
    ),
    "init": (
        "empty: Harbour --yes",
        "empty: Harbour --yes --dialect ultraplan --phase Core --core-value Light --merge-driver",
        "empty: Harbour --dry-run",
        "empty: Harbour",
        "project: Harbour --yes",
        "empty: Harbour --yes --dialect other",
    ),
    "install": (
        "project: claude --yes",
        "project: claude --dry-run",
        "project: codex --scope project --yes",
        "project: claude",
        "project: nothing",
        "installed: claude --yes",
    ),
    "job answer": (
        "asking: <job> continue",
        "job-phase-execute: <job> retry",
        "project: nothing retry",
    ),
    "job cancel": ("job-phase-execute: <job>", "job-phase-plan: <job>", "project: nothing"),
    "job list": ("asking:", "job-phase-execute:", "job-council:", "job-quick:", "project:"),
    "job retry": (
        "vetoed: <job>",
        "job-phase-execute: <job>",
        "job-council: <job>",
        "project: nothing",
    ),
    "job rule": ("job-council: <job> security-1 'Mask it'", "job-phase-execute: <job> a b"),
    "job show": (
        "asking:",
        "vetoed:",
        "job-phase-execute: <job>",
        "job-council: <job>",
        "job-council: <job> --diff",
        "job-quick:",
        "job-phase-plan: <job>",
        "project: nothing",
        "project:",
    ),
    "mcp": ("project: --list", "project: --allow-write", "project: --http --port 70000"),
    "notify status": ("project:",),
    "notify test": ("project:", "project: --dry-run"),
    "job veto": ("job-council: <job> --why no", "job-phase-execute: <job> --why no"),
    "job watch": ("vetoed: <job>", "project: nothing", "project:"),
    "merge-driver": (
        "project: --register",
        "project: --register --dry-run",
        "project: a b",
        "project: .planning/STATE.md .planning/STATE.md .planning/STATE.md .planning/STATE.md",
        "project:",
    ),
    "milestone complete": (
        "project: v1.0 --force --reason enough",
        "project: v1.0",
        "project: v9.0",
    ),
    "milestone list": ("project:", "closed:"),
    "milestone new": (
        "closed: v2.0 Search",
        "project: v2.0 Search",
        "project: v2.0 Search --dry-run",
        "project: v2.0",
    ),
    "new": ("empty: 'A log' --dry-run", "project: 'A log' --dry-run", "empty:"),
    "next": ("project:", "paused:", "project: --ws nowhere"),
    "pause": ("project: 'The reader works'", "project: --dry-run", "paused: again"),
    "phase add": ("project: Search --goal Find", "project: Search --dry-run", "project:"),
    "phase complete": ("project: 1", "project: 2", "project: 9", "project: x/y"),
    "phase discuss": (
        "agent: 3 --dry-run",
        "discussed: 3 --dry-run",
        "project: 9 --dry-run",
        "project: 3",
    ),
    "phase execute": (
        "project: 2 --dry-run",
        "project: 2 --agent nobody",
        "project: 2 --rehearse --here",
        "project: 2",
        "project: 1",
        "project: 3",
        "project: 9",
        "project: 2 --slots 0",
        "project: x/y",
    ),
    "phase insert": ("project: 1 Hotfix", "project: 1 Hotfix --dry-run", "project: 9 Hotfix"),
    "phase list": ("project:", "project: --archived"),
    "phase plan": ("project: 3 --dry-run", "project: 2 --dry-run", "project: 9", "project: 3"),
    "phase plans": ("project: 2", "project: 3", "project: 9"),
    "phase remove": (
        "project: 3",
        "project: 2",
        "project: 2 --force --dry-run",
        "project: 1 --force --renumber",
        "project: 9",
    ),
    "phase show": ("project: 2", "project: 9"),
    "phase verify": (
        "project: 1 --dry-run",
        "project: 1 --no-commands",
        "project: 9",
        "project: 1 --minutes 0",
    ),
    "planning add": (
        "goal: module 'Tide writer' -c Writes -p high",
        "goal: requirement 'Legal Requirements'",
        "goal: criterion 'A file is there' --file README.md",
        "goal: module 'Tide reader'",
        "goal: nothing x",
        "approved: module 'Tide writer'",
        "project: module x",
    ),
    "planning approve": (
        "ready: --skip-issues",
        "ready: --skip-issues --to-roadmap",
        "ready: --skip-issues --dry-run",
        "ready:",
        "goal: --skip-issues",
        "approved: --skip-issues",
        "project:",
    ),
    "planning confirm": ("goal: 5 --yes", "goal: 9 --yes", "goal: 5", "goal: 1 --yes"),
    "planning export": ("goal:", "goal: --format json", "goal: --format wrong", "project:"),
    "planning modify": (
        "goal: module tide-reader --priority low --name 'Tide table'",
        "goal: module nothing --priority low",
        "goal: module tide-reader",
        "approved: module tide-reader --priority low",
        "approved: module tide-reader --priority low --unlock",
    ),
    "planning release": ("goal:", "project:"),
    "planning remove": (
        "goal: module tide-reader",
        "goal: module nothing",
        "approved: module tide-reader",
    ),
    "planning reset": (
        "goal: --confirm",
        "goal: --confirm --dry-run",
        "goal:",
        "approved: --confirm --reopen",
    ),
    "planning review": ("ready:", "goal:", "project:"),
    "planning start": (
        "project: 'Lamps follow the tide' --session s1",
        "project: Lamps --dry-run",
        "goal: Lamps",
        "empty: Lamps",
        "project:",
    ),
    "planning status": ("goal:", "goal: -v", "approved:", "project:"),
    "quick": (
        "project: 'Add a note' --dry-run",
        "project: resume nothing",
        "project: 'Add a note'",
        "project:",
    ),
    "resume": ("paused:", "paused: --dry-run", "project:"),
    "roadmap analyze": ("project:",),
    "roadmap phase": ("project: 2", "project: 9"),
    "graph": (
        "project: --format mermaid",
        "project: --phase 1 --format dot",
        "project: --phase 99",
        "project: --output roadmap.svg",
    ),
    "board": ("project:", "project: --ws nothing"),
    "cluster dev": ("project: --port 0",),
    "cluster status": ("project: --address",),  # a real address would be waited for
    "worker": ("project:", "project: --queue claude --slots 0"),
    "serve": ("project: --port 70000", "project: nothing-here --no-open"),
    "report": ("project: --phase 1 --format md", "project:", "project: --phase 1 --job x"),
    "roadmap show": ("project:",),
    "roadmap update-progress": ("project: 2", "project:", "project: 9", "project: --dry-run"),
    "run": ("agent: Lamps --dry-run", "project: --job nothing", "project: Lamps", "project:"),
    "state add-blocker": ("project: --text 'No sandbox'", "project: --text x --phase 9"),
    "state add-decision": (
        "project: --phase 2 --summary UTC --rationale Tables",
        "project: --phase 2",
    ),
    "state add-roadmap-evolution": ("project: --note Hotfix --phase 2 --action edited",),
    "state advance-plan": ("project:", "project: --phase 1 --plan 1", "project: --phase 9"),
    "state begin-phase": (
        "project: --phase 2",
        "project: --phase 9",
        "project: --phase 2 --step wrong",
    ),
    "state complete-phase": ("project: --phase 1", "project: --phase 2"),
    "state gate": (
        "project: start --task 'Task 1: make users.txt' --phase 2 --plan 2",
        "project: nothing --task x",
        "project: start",
    ),
    "state get": ("project:", "project: progress.percent", "project: Status", "project: nothing"),
    "state pause": ("project: --at 'Before the migration'",),
    "state planned-phase": ("project: --phase 2", "project: --phase 3", "project: --phase 9"),
    "state prune": ("project:", "project: --lines 20 --keep 1 --dry-run", "project: --lines -1"),
    "state record-metric": (
        "project: --phase 2 --plan 1 --duration 12m --tasks 4 --files 2",
        "project: --phase 2 --plan 1 --duration soon",
    ),
    "state record-session": ("project: --stopped-at 'Plan 2'", "project: --session s1"),
    "state resolve-blocker": ("project: --text sandbox", "project: --text nothing"),
    "state resume": ("project: --show", "paused:", "paused: --fresh", "project:"),
    "state set": (
        "project: Status Waiting",
        "project: nothing x",
        "project: Status Waiting --dry-run",
    ),
    "state sync": ("project:", "project: --dry-run"),
    "state task-result": (
        "project: success --task 'Task 1' --phase 2 --plan 2",
        "project: failure --task 'Task 1' --reason 'tests fail'",
        "project: wrong --task x",
    ),
    "state wait": (
        "project: --question 'Which database?' --option A --option B",
        "project: --clear",
        "project:",
    ),
    "status": (
        "project:",
        "closed:",
        "asking:",
        "project: --all",
        "goal:",
        "paused:",
        "job-council:",
        "project: --ws nowhere",
    ),
    "statusline": (
        f"project: < {LINE}",
        "project: < not json",
        "project: --print-command",
        "project: --before",
    ),
    "undo": (
        "changed:",
        "changed: --dry-run",
        "project:",
        "changed: --list",
        "changed: 9",
        "project: --list",
        "project: --plan 01-01",
        "changed: 1 --phase 1",
    ),
    "uninstall": (
        "installed: claude --yes",
        "installed: claude --dry-run",
        "project: claude --yes",
    ),
    "version": ("project:",),
}
REHEARSED: dict[str, tuple[str, ...]] = {
    "debug": ("project: 'It fails' --rehearse --approve --auto",),
    "phase discuss": ("project: 3 --rehearse --auto",),
    "phase verify": ("project: 1 --rehearse --approve",),
}
RESUMED = {"phase execute": "phase-execute", "quick": "quick", "run": "council"} | {
    "phase plan": "phase-plan",
    "new": "new",
}


def resuming(kind: str) -> tuple[str, ...]:
    """The command that resumes the job of a stored world."""
    argv = KINDS[kind].argv
    return ("quick", "resume", "<quick>", *argv[2:]) if kind == "quick" else argv


def cases_of(command: str, *, is_group: bool = False) -> list[Case]:
    """All invocations of a command, in a stable order."""
    given = [_case(text) for text in TABLE.get(command, ())]
    if command in RESUMED:
        kind = RESUMED[command]
        words = resuming(kind)[len(command.split()) :]
        given.append(Case(f"job-{kind}", words, is_slow=True))
    given += [_case(text, is_slow=True) for text in REHEARSED.get(command, ())]
    derived = [Case("empty", (BAD_OPTION,), is_derived=True)]
    if is_group and not TABLE.get(command):
        derived.append(Case("empty", (), is_derived=True))
        derived.append(Case("empty", ("no-such-command",), is_derived=True))
    elif given:
        first = given[0]
        for sample in ("empty", "broken"):
            if first.sample != sample:
                derived.append(Case(sample, first.words, first.stdin, is_derived=True))
    return given + derived


def _case(text: str, *, is_slow: bool = False) -> Case:
    sample, _, rest = text.partition(":")
    words, _, stdin = rest.partition(" < ")
    return Case(sample, tuple(shlex.split(words)), stdin, is_slow)
