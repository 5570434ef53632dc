"""The paths of jobs: folders and file names of a job, ledgers, locks and approvals."""

from fairlead.store.layout import JOURNAL_SUFFIX, PLANNING, RUNS, project_key

LEDGER = f"{PLANNING}/ledger"  # evidence: one file per plan
LEDGER_SUFFIX = JOURNAL_SUFFIX
JOBS = f"{PLANNING}/jobs"
JOB_RECORD = "job.json"
GATES = "gates"
QUESTIONS = "questions"
EVENTS = "events.jsonl"
OUTPUT_LOG = "output.log"  # what a job that runs in the background prints
APPROVED = "approved"  # plans whose commands the user approved, in the user's state folder
RUN_LOCK = "run"  # the lock of the one run that executes plans in this project

REPLACED = "replaced"  # in a job's folder: previous versions of documents it replaced
ANSWER_FOLDERS, ANSWER_ROUNDS = ("pm",), "raw"  # raw answers; `raw` has a folder per round
CALLS = "calls"  # in a job's folder: one file per call of a role
SEEN = "seen"  # in the private folder of a job: the baselines of the tamper check
PROOFS = "proofs"  # in the private folder of a job: what its processes wrote and received
OUTPUT = "fairlead-output"  # where a role writes its documents, in its scratch folder
RESEARCH_FOLDER = f"{PLANNING}/research"
DIMENSIONS = ("STACK", "FEATURES", "ARCHITECTURE", "PITFALLS")


def research_path(dimension: str) -> str:
    """A research document of the project: one of DIMENSIONS, or `SUMMARY`."""
    return f"{RESEARCH_FOLDER}/{dimension}.md"


def artefact_path(folder: str, phase: str, kind: str) -> str:
    """An artefact of a phase: CONTEXT, RESEARCH, PATTERNS, DISCUSSION-LOG."""
    return f"{folder}/{phase}-{kind}.md"


def plan_path(folder: str, phase: str, number: int) -> str:
    """A plan of a phase."""
    return f"{folder}/{phase}-{number:02d}-PLAN.md"


def answers_path(folder: str) -> str:
    """The record of the answers that people gave, below the user's state folder."""
    return f"{APPROVED}/{project_key(folder)}.answers"


def lock_of(kind: str, phase: str, workstream: str = "") -> str:
    """The lock of a run: executions share one per project, workflows have one per purpose."""
    if kind == "execute":
        return RUN_LOCK
    words = (kind, phase) if phase else (kind,)
    return "-".join((RUN_LOCK, *words)) + (f"@{workstream}" if workstream else "")


def run_lock(job: str) -> str:
    """The lock of the process that runs one job."""
    return f"{RUN_LOCK}-{job}"


def approvals_path(folder: str) -> str:
    """The plans of a project whose commands the user approved, below the user's state folder."""
    return f"{APPROVED}/{project_key(folder)}.txt"


def runs_path(folder: str, job: str) -> str:
    """The private folder of a job, below the user's state folder; it identifies its processes."""
    return f"{RUNS}/{project_key(folder)}/{job}"


def private_folder(state: str, folder: str, job: str) -> str:
    """The full path of a job's private folder."""
    return f"{state}/{runs_path(folder, job)}"


def ledger_path(plan: str, workstream: str = "") -> str:
    """The ledger of a plan. Two workstreams may use the same plan number."""
    start = f"{workstream}@" if workstream else ""
    return f"{LEDGER}/{start}{plan.lower()}{LEDGER_SUFFIX}"


def job_path(job: str, name: str = "") -> str:
    """The folder of a job, or a file in it."""
    return f"{JOBS}/{job}/{name}" if name else f"{JOBS}/{job}"
