"""Names of what roles and their workflows keep: artefacts, calls, scratch output, locks.

Apart from `layout` only because that page is full; whoever needs a name asks one of the two.
"""

from fairlead.store import layout

REPLACED = "replaced"  # in a job's folder: documents that a workflow put others in place of
CALLS = "calls"  # in a job's folder: one file a call of a role
SEEN = "seen"  # in the private folder of a job: what was there before a call
OUTPUT = "fairlead-output"  # where a role writes its documents, in its scratch folder
RESEARCH_FOLDER = f"{layout.PLANNING}/research"
DIMENSIONS = ("STACK", "FEATURES", "ARCHITECTURE", "PITFALLS")


def research_path(dimension: str) -> str:
    """The project's research in one direction; `SUMMARY` puts the four together."""
    return f"{RESEARCH_FOLDER}/{dimension}.md"


def artefact_path(folder: str, phase: str, kind: str) -> str:
    """An artefact of a phase: CONTEXT, RESEARCH, PATTERNS, DISCUSSION-LOG."""
    return f"{folder}/{phase}-{kind}.md"


def plan_path(folder: str, phase: str, number: int) -> str:
    """A plan of a phase."""
    return f"{folder}/{phase}-{number:02d}-PLAN.md"


def answers_path(folder: str) -> str:
    """What people answered to the jobs of a project, beside the plans that they approved."""
    return f"{layout.APPROVED}/{layout.project_key(folder)}.answers"


def lock_of(kind: str, phase: str, workstream: str = "") -> str:
    """The lock that a run of a workflow holds; carrying out plans has the project's own."""
    if kind == "execute":
        return layout.RUN_LOCK
    words = (kind, phase) if phase else (kind,)
    return "-".join((layout.RUN_LOCK, *words)) + (f"@{workstream}" if workstream else "")
