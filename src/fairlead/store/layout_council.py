"""Names of the files of a council job, below the folder of the job.

Raw memory is a file an answer: `raw/r0` holds the plans of the seats, `raw/r1` and later their
ballots, `raw/synthesis` what the master plan was made from. A second answer to the same call has
a number of its own, so that nothing that was said is ever written over.
"""

from fairlead.store import layout

RECORD = layout.JOB_RECORD
EVENTS = layout.EVENTS
BRIEF = "brief.md"
MASTER_PLAN = "master_plan.md"
RULINGS = "rulings.json"
WISH = "wish.json"  # what a person wants of a job that somebody else carries on
PM, RAW = "pm", "raw"
PASSES = ("refined", "audit", "research", "verify")
SYNTHESIS = f"{RAW}/synthesis"
STOPPED = f"{RAW}/stopped"  # what calls took that a person stopped: nobody goes by what they said
EXEC = "exec"
STARTING = "council"  # a lock of the project: one start at a time looks for an unfinished job


def pm_key(name: str, cycle: int) -> str:
    """A pass of the PM; later cycles have their number."""
    return f"{PM}/{name}" if cycle == 1 else f"{PM}/{name}.{cycle}"


def seat_key(round_: int, seat: str, attempt: int = 1) -> str:
    """What a seat said in a round; round 0 is planning."""
    return _numbered(f"{RAW}/r{round_}/{seat}", attempt)


def synthesis_key(version: int, attempt: int = 1) -> str:
    """What a version of the master plan was made from."""
    return _numbered(f"{SYNTHESIS}/v{version}", attempt)


def stopped_key(key: str, nonce: str) -> str:
    """What a call took that was stopped; it may be stopped again, and asked again."""
    return f"{STOPPED}/{who_of(key)}.{stage_of(key)}.{nonce}"


def is_stopped(key: str) -> bool:
    """Whether a call was stopped before there was an answer."""
    return key.startswith(f"{STOPPED}/")


def plan_version(version: int) -> str:
    """A version of the master plan, kept for good."""
    return f"master_plan.v{version}.md"


def stage_of(key: str) -> str:
    """The stage that a call belongs to: pm, planning, synthesis or review."""
    if is_stopped(key):
        return key.split(".")[1]
    if key.startswith(f"{PM}/"):
        return "pm"
    if key.startswith(f"{SYNTHESIS}/"):
        return "synthesis"
    return "planning" if key.startswith(f"{RAW}/r0/") else "review"


def number_of(key: str) -> int:
    """The version of a synthesis or the round of a ballot; of the PM's passes there is none."""
    folder, _, name = key.rpartition("/")
    told = name.partition(".")[0] if folder == SYNTHESIS else folder.rpartition("/")[2]
    return int(told[1:]) if told[1:].isdecimal() else 0


def who_of(key: str) -> str:
    """Who a call was put to: the pm, the synthesiser, or a seat."""
    stage = stage_of(key)
    if stage == "pm":
        return "pm"
    return "synthesiser" if stage == "synthesis" else key.rpartition("/")[2].partition(".")[0]


def run_lock(job: str) -> str:
    """The lock that the one runner of a job holds."""
    return f"{layout.RUN_LOCK}-{job}"


def _numbered(key: str, attempt: int) -> str:
    return key if attempt == 1 else f"{key}.{attempt}"
