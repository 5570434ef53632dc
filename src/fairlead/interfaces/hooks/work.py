"""The work that is open in a folder: of a plan its unmet criteria, after approval its modules.

Read from the two files of the Plan Phase and from the evidence that is recorded for them. No
program is run and nothing is written. A file that cannot be read holds nobody; it is said.
"""

import binascii

from fairlead.faults import FairleadError
from fairlead.model.criteria import content_hash, evaluate, quoted
from fairlead.model.execution import BLOCKED, HUMAN
from fairlead.model.stopping import MET, NO_WORK, OPEN, UNREADABLE, WAITING
from fairlead.records.exec_read import read_exec
from fairlead.records.plan_read import read_plan
from fairlead.store import layout
from fairlead.store.confine import Root
from fairlead.store.facts import facts_of, state_folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.model.execution import ExecModule
    from fairlead.model.planning import Plan

# What only a person may do. An agent can ask for it, and for that it has to stop.
_REOPEN = "fairlead planning reset --reopen --confirm"
_FOR_A_PERSON = ("fairlead planning approve", "fairlead planning confirm", _REOPEN)
_VOID = ("the plan was changed after its approval", _REOPEN)


class Work:
    """What is left to do, as one of the kinds of the stop table, and each thing with its command."""

    __slots__ = ("fault", "kind", "left", "owner", "plan", "released", "state", "what")

    def __init__(self, kind: str = NO_WORK) -> None:
        self.kind = kind
        self.what = "plan"  # or "exec": which of the two files is open
        self.plan = ""  # its id
        self.owner = ""  # the session that began it, where the file says so
        self.released = False
        self.left: list[tuple[str, str]] = []  # what is missing, and the command for it
        self.state = ""  # a fingerprint: when it changes, somebody has worked
        self.fault = ""


def work_in(folder: str, environment: "Mapping[str, str]") -> Work:
    """Look at the plan and at what was made of it."""
    work = Work()
    try:
        with Root(folder) as root:
            plan = root.read(layout.PLAN_FILE, layout.DOCUMENT_LIMIT)
            modules = root.read(layout.EXEC_FILE, layout.DOCUMENT_LIMIT)
        if plan is None and modules is None:
            return work
        work.kind = MET
        if plan is not None:
            _look_at_plan(work, folder, plan.decode(), environment)
        if work.kind == MET and modules is not None:
            _look_at_modules(work, modules.decode())
        marks = binascii.crc32((plan or b"") + b"\0" + (modules or b""))
        work.state = f"{marks:08x}{work.state}"
    except (OSError, ValueError, FairleadError) as error:
        work.kind = UNREADABLE
        work.fault = f"the plan in {folder} cannot be read, so it holds nobody: {error}"
    return work


def _look_at_plan(work: Work, folder: str, text: str, environment: "Mapping[str, str]") -> None:
    plan = read_plan(text)
    work.plan, work.owner, work.released = plan.plan_id, plan.owner, bool(plan.released)
    facts = facts_of(folder, plan, state_folder_of(environment))
    is_void = plan.is_approved and _is_void(plan, facts.requirements)
    if plan.is_approved and not is_void:
        return
    unmet = [each for each in evaluate(plan, facts) if not each.is_met]
    work.left = [(f"{each.criterion.text}: {each.evidence}", each.command) for each in unmet]
    if is_void and not unmet:
        work.left = [_VOID]
    if work.left:
        waits = all(command.startswith(_FOR_A_PERSON) for _, command in work.left)
        work.kind = WAITING if waits else OPEN
    written = (facts.requirements or "").encode("utf-8", "replace")
    work.state = f"{binascii.crc32(written):08x}{len(work.left)}"


def _is_void(plan: "Plan", requirements: "str | None") -> bool:
    """Whether the plan was changed after its approval."""
    return bool(plan.approved_hash) and plan.approved_hash != content_hash(plan, requirements)


def _look_at_modules(work: Work, text: str) -> None:
    """Count the modules themselves: recorded counts have said done when they were not."""
    held = read_exec(text)
    work.what = "exec"
    work.plan = work.plan or held.plan_id
    waits = True
    for module in held.open_modules:
        work.left.append((f"module {module.id}: {module.status}", _way(module)))
        waits &= module.status == BLOCKED or held.kind_of(module.agent) == HUMAN
    if work.left:
        work.kind = WAITING if waits else OPEN


def _way(module: "ExecModule") -> str:
    name = quoted(module.id)
    if module.status == BLOCKED:
        return f"fairlead exec modify {name} --status in_progress"
    return f"fairlead exec complete {name}"
