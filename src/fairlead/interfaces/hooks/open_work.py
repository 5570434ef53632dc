"""What a Plan Phase still has to do: unmet exit criteria, and after approval open modules.

Reads the two files of the Plan Phase and the evidence recorded for them; runs no program and
writes nothing. A file that cannot be read holds no new session: the fault is reported instead.
"""

import binascii

from fairlead.core.errors import FairleadError, Located
from fairlead.planphase.criteria import approval_of, content_hash, evaluate, shell_quoted
from fairlead.planphase.documents import read_exec, read_plan
from fairlead.planphase.facts import facts_of, state_folder_of
from fairlead.planphase.model import BLOCKED, HUMAN
from fairlead.planphase.paths import EXEC_FILE, PLAN_FILE
from fairlead.planphase.stop_rule import MET, NO_WORK, OPEN, UNREADABLE, WAITING
from fairlead.store import layout
from fairlead.store.confined import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.planphase.model import ExecModule

# Commands that only a person may run. An agent has to stop in order to ask for one.
_REOPEN = "fairlead planning reset --reopen --confirm"
_FOR_A_PERSON = ("fairlead planning approve", "fairlead planning confirm", _REOPEN)


class OpenWork:
    """What is left to do, and which kind of work the stop rule should see."""

    __slots__ = ("fault", "kind", "left", "owner", "plan", "released", "state", "what")

    def __init__(self, kind: str = NO_WORK) -> None:
        self.kind = kind
        self.what = "plan"  # or "exec": which of the two files is open
        self.plan = ""  # plan id
        self.owner = ""  # the session named in the plan file
        self.released = False
        self.left: list[tuple[str, str]] = []  # open item, command
        self.state = ""  # fingerprint of the files: a change means progress
        self.fault = ""

    def broken(self, plan: str) -> "OpenWork":
        """The work of a session that a plan held while it could be read."""
        work = OpenWork(OPEN)
        work.plan, work.fault = plan, self.fault
        work.left = [(self.fault, "take back the edit, or fix that line")]
        work.state = UNREADABLE  # another broken edit is no progress
        return work


def open_work_in(folder: str, environment: "Mapping[str, str]") -> OpenWork:
    """Read the plan and its modules in a folder."""
    work = OpenWork()
    try:
        with Root(folder) as root:
            plan = root.read(PLAN_FILE, layout.DOCUMENT_LIMIT)
            modules = root.read(EXEC_FILE, layout.DOCUMENT_LIMIT)
        if plan is None and modules is None:
            return work
        work.kind = MET
        if plan is not None:
            with Located(PLAN_FILE):
                _read_plan_file(work, folder, plan.decode(), environment)
        if work.kind == MET and modules is not None:
            with Located(EXEC_FILE):
                _read_exec_file(work, modules.decode())
        checksum = binascii.crc32((plan or b"") + b"\0" + (modules or b""))
        work.state = f"{checksum:08x}{work.state}"
    except (OSError, ValueError, FairleadError) as error:
        work.kind = UNREADABLE
        work.fault = f"the plan in {folder} cannot be read: {error}"
    return work


def _read_plan_file(
    work: OpenWork, folder: str, text: str, environment: "Mapping[str, str]"
) -> None:
    plan = read_plan(text)
    work.plan, work.owner = plan.plan_id, plan.owner
    facts = facts_of(folder, plan, state_folder_of(environment))
    if plan.released:
        work.released = content_hash(plan, facts.requirements) in facts.released
    # The file's own flags are not asked: only a recorded approval of this content counts.
    approval = approval_of(plan, facts)
    if approval.is_met:
        return
    unmet = [result for result in evaluate(plan, facts) if not result.is_met]
    if not unmet and (plan.is_approved or not plan.criteria):
        unmet = [approval]
    work.left = [
        (f"{result.criterion.text}: {result.evidence}", result.command) for result in unmet
    ]
    if work.left:
        is_waiting = all(command.startswith(_FOR_A_PERSON) for _, command in work.left)
        work.kind = WAITING if is_waiting else OPEN
    requirements = (facts.requirements or "").encode("utf-8", "replace")
    work.state = f"{binascii.crc32(requirements):08x}{len(work.left)}"


def _read_exec_file(work: OpenWork, text: str) -> None:
    # Count the modules themselves: the counts recorded in the file can be wrong.
    record = read_exec(text)
    work.what = "exec"
    work.plan = work.plan or record.plan_id
    is_waiting = True
    for module in record.open_modules:
        work.left.append((f"module {module.id}: {module.status}", _next_command(module)))
        is_waiting &= module.status == BLOCKED or record.kind_of(module.agent) == HUMAN
    if work.left:
        work.kind = WAITING if is_waiting else OPEN


def _next_command(module: "ExecModule") -> str:
    name = shell_quoted(module.id)
    if module.status == BLOCKED:
        return f"fairlead exec modify {name} --status in_progress"
    return f"fairlead exec complete {name}"
