"""Errors of executing a phase."""

from __future__ import annotations

from fairlead.core.errors import BlockedError, ConflictError, StorageError, UsageError


class NothingToExecute(UsageError, code="nothing-to-execute"):
    """The phase has no plan that could be executed."""

    phase: object
    why: object
    message = "phase {phase}: {why}"
    hint = "see what comes next: fairlead next"


class HeadDetached(ConflictError, code="head-detached"):
    """HEAD is detached, so there is no branch on which finished work can land."""

    message = "HEAD is detached: there is no branch on which finished work can land"
    hint = "switch to a branch: git switch BRANCH"


class BranchGone(ConflictError, code="branch-gone"):
    """The branch on which a job lands its work was renamed or deleted."""

    branch: object
    job: object
    message = "branch {branch}, on which {job} lands its work, no longer exists"
    hint = "create it again: git branch {branch} COMMIT; or end the job: fairlead job cancel {job}"


class NotRehearsed(ConflictError, code="not-rehearsed"):
    """The project has real plans or summaries, so a rehearsal may not work in it."""

    path: object
    message = "{path} is real work, so a rehearsal cannot use this project"
    hint = "omit --here: the rehearsal then uses a private copy"


class NoRehearsal(UsageError, code="no-rehearsal"):
    """The project is not being rehearsed."""

    folder: object
    message = "there is no rehearsal of {folder}"
    hint = 'begin one: fairlead new "IDEA" --rehearse, or fairlead phase plan N --rehearse'


class RehearsalBusy(ConflictError, code="rehearsal-busy"):
    """A job of a rehearsal is running."""

    job: object
    folder: object
    message = "job {job} of the rehearsal is running"
    hint = "end it first: fairlead -C {folder} job cancel {job}"


class RehearsalMixed(ConflictError, code="rehearsal-mixed"):
    """Discarding the rehearsal would also discard other work."""

    why: object
    message = "the rehearsal cannot be discarded: {why}"
    hint = "move your own commits to another branch, then: fairlead rehearsal discard"


class NothingLanded(ConflictError, code="nothing-landed"):
    """The branch has no merge of this plan or phase that could be reverted."""

    subject: object
    message = "nothing to undo: the branch has no merge of {subject}"
    hint = "see what was done: fairlead undo --list, and git log"


class RevertConflict(ConflictError, code="revert-conflict"):
    """Later work changed the same lines, so landed work cannot be reverted alone."""

    subject: object
    paths: tuple[str, ...]
    message = "{subject} cannot be reverted: later work changed {paths:3}"
    hint = "nothing was changed; undo the later plan first, or revert by hand"


class PlansNotApproved(BlockedError, code="plans-not-approved"):
    """The verify commands of plans are not approved, so they are not run."""

    phase: object
    commands: tuple[str, ...]
    verb: str = "execute"
    message = "the verify commands of phase {phase} are not approved: {commands:; 3}"
    hint = (
        "look at them: fairlead phase {verb} {phase} --dry-run, "
        "then: fairlead phase {verb} {phase} --approve"
    )


class PlansUnfit(BlockedError, code="plans-unfit"):
    """Plans cannot be executed as they are."""

    problems: tuple[str, ...]
    message = "{problems:; 5}"
    hint = "correct the plans, then run the command again; or see: fairlead next"


class NothingCame(StorageError, code="nothing-came"):
    """A step was repeated several times without effect, so the run ends."""

    step: str
    job: str
    message = "{step} was repeated several times without effect"
    hint = "look at the job: fairlead job show {job}; please report what it shows"
