"""Generated STATE.md files as people and tools write them, within three constraints.

The frontmatter starts at the first character and has no comments, and every value that the status
line shows is on one line, except a list of phases.
"""

from random import Random

STATUSES = (
    "discussing", "planning", "executing", "verifying", "completed", "paused", "unknown", "null", "",
    "Ready to plan", "In progress", "Executing Phase 5", "Complete ✓", "Phase 3 complete", "ready_to_plan",
    "v2.0 milestone complete", "Waiting on Bob, then we see", "[status]",
    "Phase complete — ready for verification",
)  # fmt: skip
NAMES = (
    "milestone", "Code Quality", "— Hardening", "Café 東京 🚀", "it's done", 'The "Big" One', "v1.5 Closeout",
    "Ports: and lines", "{name}", "[Name]", "null", "", "a\\b", "C# and F", "50% & more", "@home", "`code`",
)  # fmt: skip
PHASES = ("4.5", "4", "12A", "4.10", "07", "null", "", "2-3", "Phase 4")
COUNTS = ("0", "1", "5", "5", "10", "17", "99", "100", "120", "07", "59.9", '"50"', "null", "-1")
POSITIONS = (
    "1 of 5", "1 of 5 (Setup)", "3 of 10 (A (nested) b)", "12 of 12 (학습)", "4 (UI) — EXECUTING",
    "2 — COMPLETE", "[X] of [Y] ([Phase name])", "none", "007 of 9 ()", "3 of 9th (x)", "\t2  of\t3   (y)",
)  # fmt: skip
ACTIVITIES = (
    "Ready to plan", "Executing Phase 3", "Complete ✓", "In progress", "Planning", "archived",
    "COMPLETE", "Blocked",
)  # fmt: skip


def a_state(random: Random) -> str:
    """One document."""
    lines = [*_front(random), *_body(random)]
    ending = random.choice(("\n", "\n", "\n", "\r\n"))
    text = "\n".join(lines).replace("\n", ending)
    return text + (ending if random.random() < 0.9 else "")


def _front(random: Random) -> list[str]:
    if random.random() < 0.1:
        return []
    fields = [
        _field(random, "gsd_state_version", ("1.0",)),
        _field(random, "milestone", ("v1.0", "v2.0", "v0.0.41", "1.0", "null", "[version]")),
        _field(random, "milestone_name", NAMES),
        _field(random, "status", STATUSES),
        _field(random, "active_phase", (*PHASES, "null", "null", "")),
        _field(random, "next_action", ("execute-phase", "plan-phase", "null", "")),
        _next_phases(random),
        _progress(random),
        _field(random, "stopped_at", ("Phase 4: done, mostly", "x")),
        _field(random, "status", STATUSES) if random.random() < 0.05 else "",
    ]
    kept = [field for field in fields if field and random.random() < 0.75]
    if random.random() < 0.3:
        random.shuffle(kept)
    # An empty block ends at the next line of dashes.
    return ["---", *(kept or ["x: y"]), "---"]


def _field(random: Random, name: str, values: tuple[str, ...]) -> str:
    value = random.choice(values)
    form = random.random()
    if form < 0.15:
        value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    elif form < 0.3:
        value = "'" + value.replace("'", "''") + "'"
    return f"{name}:{random.choice((' ', ' ', '  '))}{value}"


def _next_phases(random: Random) -> str:
    phases = [random.choice(('"4.5"', "'4.6'", "7", "4.10")) for _ in range(random.randint(0, 3))]
    if not phases or random.random() < 0.7:
        return f"next_phases: [{', '.join(phases)}]"
    indent = random.choice(("", "  "))
    return "\n".join(["next_phases:", *(f"{indent}- {phase}" for phase in phases)])


def _progress(random: Random) -> str:
    names = ("total_phases", "completed_phases", "total_plans", "completed_plans", "percent")
    kept = [name for name in names if random.random() < 0.85] or ["percent"]
    indent = random.choice(("  ", "  ", "    "))
    return "\n".join(["progress:", *(f"{indent}{name}: {random.choice(COUNTS)}" for name in kept)])


def _body(random: Random) -> list[str]:
    lines = ["", "# Project State", "", "## Current Position", ""]
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        lines.append(f"{random.choice(('', '', '- ', '**'))}Phase: {random.choice(POSITIONS)}")
    for _ in range(random.choice((0, 1, 1, 2))):
        lines.append(f"Status: {random.choice(ACTIVITIES)}")
    if random.random() < 0.2:
        lines += ["", "---", "", "status: not this one", "Phase: 9 of 9 (Archive)"]
    return lines
