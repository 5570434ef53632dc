"""Small seeded projects with a STATE.md in which any line may be right or wrong.

They combine at random what the tests of `doctor` write by hand: any stage of any phase with any
status, position and lifecycle, in any form that STATE.md has had.
"""

from pathlib import Path
from random import Random

from tests.support.peculiar import put

_NAMES = ("Login", "Search", "Ship")
_STAGES = ("none", "empty", "discussed", "planned", "partial", "complete", "verified")
# Finished phases are more likely: there, two wrong lines can hide each other.
_LIKELY_STAGES = (*_STAGES, "complete", "complete")
_STATUS = ("planning", "executing", "verifying", "verifying", "verifying", "completed", "paused")
_WORDS = (
    "Ready to plan",
    "Ready to execute",
    "In progress",
    "Complete",
    "Planning",
    "Phase complete — ready for verification",
    "Executing Phase {phase}",
    "Planning Phase {phase}",
    "Verifying Phase {phase}",
    "Phase {phase} complete",
    "Waiting for Bob",
    "Milestone complete",
    "Shipped",
)
_PLACES = (
    "{phase} of {all} ({name})",
    "{phase} of 9 ({name})",
    "0{phase} ({name}) — EXECUTING",
    "0{phase} of 0{all} ({name})",
    "{phase} ({name}) — COMPLETE",
    "{phase} — {name} — VERIFIED",
    "{phase}/9 — {name}",
    "Not started",
    "All phases complete",
    "Milestone v1.0 complete",
    "Milestone closeout",
)
_PLANS = (
    "1 of 1 in current phase",
    "2 of 2",
    "1 of 2",
    "1 of 2 complete",
    "1 of 2 complete in current phase",
    "1/1 (wave 1) complete",
    "2/2",
    "02 (complete)",
    "Not started",
    "All plans complete",
    "—",
)
_BARS = ("[██████████] 100%", "[░░░░░░░░░░] 0%", "[#####.....] 50% (1/2 plans)")


def make_odd_state(folder: Path, seed: int) -> Path:
    """Write the project of this seed into a folder."""
    rng = Random(seed)
    names = _NAMES[: rng.choice((1, 1, 2, 2, 3))]
    files = {"ROADMAP.md": _roadmap(rng, names), "STATE.md": _state(rng, names)}
    is_archived = seed % 5 == 4
    home = "milestones/v1.0-phases" if is_archived else "phases"
    if is_archived:
        files["ROADMAP.md"] = files["ROADMAP.md"].replace(
            "🚧 v1.0 First", "✅ v1.0 First (Shipped)"
        )
    for number, name in enumerate(names, 1):
        files |= _phase(f"{home}/0{number}-{name.lower()}/0{number}", rng.choice(_LIKELY_STAGES))
    if rng.random() < 0.2:
        files["config.json"] = '{"fairlead": {"completion": "verified"}}\n'
    return put(folder, files)


def _roadmap(rng: Random, names: tuple[str, ...]) -> str:
    head = rng.choice(("# Roadmap\n\n", "# Roadmap\n\n## 🚧 v1.0 First\n\n"))
    return head + "".join(
        f"- [{rng.choice(' x')}] **Phase {number}: {name}** - what it is\n"
        for number, name in enumerate(names, 1)
    )


def _phase(stem: str, stage: str) -> dict[str, str]:
    at = _STAGES.index(stage)
    home = stem.rpartition("/")[0]
    files = {f"{home}/notes.md": "Nothing yet.\n"} if at >= 1 else {}
    if at >= 2:
        files[f"{stem}-CONTEXT.md"] = "# Context\n"
    for plan in ("01", "02") if at >= 3 else ():
        files[f"{stem}-{plan}-PLAN.md"] = "# Plan\n"
    for plan in ("01", "02")[: at - 3] if at >= 4 else ():
        files[f"{stem}-{plan}-SUMMARY.md"] = "# Summary\n\nDone.\n"
    if stage == "verified":
        files[f"{stem}-VERIFICATION.md"] = "---\nstatus: passed\n---\n"
    return files


def _state(rng: Random, names: tuple[str, ...]) -> str:
    def filled(form: str) -> str:
        at = rng.randrange(len(names) + (rng.random() < 0.1))
        name = names[at] if at < len(names) else "Gone"
        return form.format(phase=at + 1, all=len(names), name=name)

    def number() -> str:
        return rng.choice(("null", *(f'"{each + 1}"' for each in range(len(names)))))

    front = {
        "milestone": "v1.0",
        "status": rng.choice(_STATUS),
        "active_phase": rng.choice(("null", number(), number())),
        "next_action": rng.choice(("null", "execute-phase", "verify-phase")),
        "next_phases": rng.choice(("null", '["1"]')),
        "current_phase": number(),
        "current_plan": rng.choice(("null", "1", "2")),
        "paused_at": rng.choice(("null",) * 5 + ("lunch",)),
        "progress": f"\n  completed_phases: {rng.randint(0, 3)}\n  percent: "
        f"{rng.choice((0, 33, 50, 100))}",
    }
    body = {
        "**Current focus:**": filled("Phase {phase} — {name}"),
        "\n## Current Position\n\nPhase:": filled(rng.choice(_PLACES)),
        "Plan:": rng.choice(_PLANS),
        "Status:": filled(rng.choice(_WORDS)),
        "Progress:": rng.choice(_BARS),
    }
    front_lines = [f"{key}: {value}" for key, value in front.items() if rng.random() < 0.85]
    lines = [f"{key} {value}" for key, value in body.items() if rng.random() < 0.85]
    if any("## Current Position" in line for line in lines) and rng.random() < 0.15:
        lines.append(rng.choice(lines))
    block = "\n".join(["---", *front_lines, "---", "", ""]) if rng.random() < 0.9 else ""
    return block + "\n".join(["# State", "", *lines, ""])
