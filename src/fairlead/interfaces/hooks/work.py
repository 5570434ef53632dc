"""The work that is open in a folder: of a plan its unmet criteria, after approval its modules.

Read from the two files of the Plan Phase and from the evidence that is recorded for them. No
program is run and nothing is written. A file that cannot be read holds nobody; it is said.
"""

import binascii

from fairlead.errors import FairleadError
from fairlead.model.criteria import content_hash, evaluate
from fairlead.model.planning import COMPLETE
from fairlead.model.stopping import MET, NO_WORK, OPEN, UNREADABLE, WAITING
from fairlead.records.plan_read import open_front, read_plan
from fairlead.store import layout
from fairlead.store.confine import Root
from fairlead.store.facts import facts_of, state_folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.model.planning import Plan

# What only a person may do. An agent can ask for it, and for that it has to stop.
_FOR_A_PERSON = ("fairlead planning approve", "fairlead planning confirm")
_BLOCKED = "blocked"


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
    if plan.is_approved and not _is_void(plan, facts.requirements):
        return
    unmet = [each for each in evaluate(plan, facts) if not each.is_met]
    work.left = [(f"{each.criterion.text}: {each.evidence}", each.command) for each in unmet]
    if unmet:
        waits = all(each.command.startswith(_FOR_A_PERSON) for each in unmet)
        work.kind = WAITING if waits else OPEN
    written = (facts.requirements or "").encode("utf-8", "replace")
    work.state = f"{binascii.crc32(written):08x}{len(unmet)}"


def _is_void(plan: "Plan", requirements: "str | None") -> bool:
    """Whether the plan was changed after its approval."""
    return bool(plan.approved_hash) and plan.approved_hash != content_hash(plan, requirements)


def _look_at_modules(work: Work, text: str) -> None:
    """Count the modules themselves: recorded counts have said done when they were not."""
    tree, reader = open_front(text)
    work.what = "exec"
    work.plan = work.plan or reader.optional(tree, ("plan_id",))
    modules = reader.items(tree, ("modules_status",), reader.mapping)
    statuses = []
    for at, module in enumerate(modules):
        status = reader.text(module, ("modules_status", at, "status"), "pending")
        if status != COMPLETE:
            name = reader.text(module, ("modules_status", at, "id"))
            statuses.append(status)
            work.left.append((f"module {name}: {status}", f"fairlead exec complete {name}"))
    if statuses:
        work.kind = WAITING if set(statuses) == {_BLOCKED} else OPEN
