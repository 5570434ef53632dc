"""File names of a council job, and the keys of its answers.

Every answer is one file. Its key is the path without suffix: `pm/audit`, `raw/r0/builder` (a plan),
`raw/r1/builder` (a ballot of round 1), `raw/synthesis/v1`. A second answer to the same call gets a
number (`raw/r1/builder.2`), so that no answer is ever overwritten.
"""

BRIEF = "brief.md"
MASTER_PLAN = "master_plan.md"
RULINGS = "rulings.json"
STOP_REQUEST = "wish.json"  # a veto or a cancel, for the process that runs the job
PM, RAW = "pm", "raw"
PASSES = ("refined", "audit", "research", "verify")
SYNTHESIS = f"{RAW}/synthesis"
STOPPED = f"{RAW}/stopped"  # cost of calls that a person stopped; their text is never used
STARTING = "council"  # project lock: only one start at a time looks for an unfinished job


def pm_key(name: str, cycle: int) -> str:
    """Return the key of a pass of the PM."""
    return _numbered(f"{PM}/{name}", cycle)


def seat_key(round_: int, seat: str, attempt: int = 1) -> str:
    """Return the key of a seat's answer in a round; round 0 is planning."""
    return _numbered(f"{RAW}/r{round_}/{seat}", attempt)


def synthesis_key(version: int, attempt: int = 1) -> str:
    """Return the key of the answer that became a version of the master plan."""
    return _numbered(f"{SYNTHESIS}/v{version}", attempt)


def stopped_key(key: str, nonce: str) -> str:
    """Return the key for the cost of a stopped call, which may be made and stopped again."""
    return f"{STOPPED}/{role_of(key)}.{stage_of(key)}.{nonce}"


def is_stopped(key: str) -> bool:
    """Whether the key belongs to a call that was stopped before there was an answer."""
    return key.startswith(f"{STOPPED}/")


def stage_of(key: str) -> str:
    """Return the stage of a call: pm, planning, synthesis or review."""
    if is_stopped(key):
        return key.split(".")[1]
    if key.startswith(f"{PM}/"):
        return "pm"
    if key.startswith(f"{SYNTHESIS}/"):
        return "synthesis"
    return "planning" if key.startswith(f"{RAW}/r0/") else "review"


def number_of(key: str) -> int:
    """Return the version of a synthesis or the round of a seat's answer; 0 for the PM."""
    folder, _, name = key.rpartition("/")
    part = name.partition(".")[0] if folder == SYNTHESIS else folder.rpartition("/")[2]
    return int(part[1:]) if part[1:].isdecimal() else 0


def role_of(key: str) -> str:
    """Return the role that was asked: pm, synthesiser or a seat."""
    stage = stage_of(key)
    if stage == "pm":
        return "pm"
    return "synthesiser" if stage == "synthesis" else key.rpartition("/")[2].partition(".")[0]


def plan_version(version: int) -> str:
    """Return the file name of a version of the master plan; versions are never deleted."""
    return f"master_plan.v{version}.md"


def _numbered(key: str, number: int) -> str:
    return key if number == 1 else f"{key}.{number}"
