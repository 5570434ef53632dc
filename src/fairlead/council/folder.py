"""Job ids of the council, and what people leave in a job's folder: requests to stop, and rulings.

One process holds the job's lock and writes the record. Other processes stop it with a request. Both
requests and rulings count as the user's private state has them, so that no agent can add or delete
one in the job's folder.
"""

from __future__ import annotations

from fairlead.core.serialization import plain, several
from fairlead.council import paths as names
from fairlead.council.model import Ruling
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.paths import JOBS, job_path
from fairlead.store.reader import Reader

_PREFIX = "j_"


def council_ids(reader: Reader) -> tuple[str, ...]:
    """List the council jobs, the oldest first."""
    return tuple(job for job in job_ids(reader) if job.startswith(_PREFIX))


def new_job_id(reader: Reader, day: str) -> str:
    """Return the next free id of a day, such as j_20260412_0007."""
    prefix = f"{_PREFIX}{day}_"
    suffixes = [name.removeprefix(prefix) for name in reader.names(JOBS) if name.startswith(prefix)]
    numbers = [int(suffix) for suffix in suffixes if suffix.isdecimal()]
    return f"{prefix}{max(numbers, default=0) + 1:04d}"


def stop_request(folder: JobFolder) -> tuple[str, str]:
    """Return the request to stop a job (`veto` or `cancel`) and its reason; empty: none."""
    content = folder.decision(names.STOP_REQUEST)
    return str(content.get("wish", "")), str(content.get("why", ""))


def leave_stop_request(folder: JobFolder, request: str, why: str) -> None:
    """Save a request to stop for the process that runs the job."""
    folder.save_decision(names.STOP_REQUEST, {"wish": request, "why": why})


def rulings_of(folder: JobFolder) -> tuple[Ruling, ...]:
    """Return a person's decisions about open items."""
    content = folder.decision(names.RULINGS).get("rulings", [])
    return several(Ruling, content, job_path(folder.job, names.RULINGS))


def save_ruling(folder: JobFolder, ruling: Ruling) -> None:
    """Save a decision about one item; a later one replaces it."""
    others = [other for other in rulings_of(folder) if other.id != ruling.id]
    folder.save_decision(names.RULINGS, {"rulings": plain((*others, ruling))})
