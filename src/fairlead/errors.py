"""Everything that can go wrong, as one tree.

    FairleadError
    ├── UsageError      2   what was asked cannot be asked like this
    ├── DocumentError   3   a file says something that cannot be read or written exactly
    ├── ConflictError   4   it exists, is in use, or changed meanwhile
    ├── AgentError      5   an agent, a model or an outside program
    ├── BlockedError    6   waits for a person, or for criteria that are not met
    └── StorageError    7   the disk is full, read-only or broken

A class takes facts and writes the sentence; the line that raises it has no prose. Each has
a `code` of its own, stable and documented; the hint says what to do next. The root, the families
and the few that the status line and the hooks can meet stand in `faults`, and are handed on here.
"""

from fairlead.faults import (
    AgentError as AgentError,
)
from fairlead.faults import (
    BlockedError as BlockedError,
)
from fairlead.faults import (
    ConflictError as ConflictError,
)
from fairlead.faults import (
    DiskFault as DiskFault,
)
from fairlead.faults import (
    DiskFull as DiskFull,
)
from fairlead.faults import (
    DocumentError as DocumentError,
)
from fairlead.faults import (
    FairleadError as FairleadError,
)
from fairlead.faults import (
    FrontmatterSyntax as FrontmatterSyntax,
)
from fairlead.faults import (
    JsonSyntax as JsonSyntax,
)
from fairlead.faults import (
    Located as Located,
)
from fairlead.faults import (
    NoProject as NoProject,
)
from fairlead.faults import (
    NotAFile as NotAFile,
)
from fairlead.faults import (
    NotAFolder as NotAFolder,
)
from fairlead.faults import (
    PathOutside as PathOutside,
)
from fairlead.faults import (
    PlanField as PlanField,
)
from fairlead.faults import (
    ReadOnly as ReadOnly,
)
from fairlead.faults import (
    StorageError as StorageError,
)
from fairlead.faults import (
    TooLarge as TooLarge,
)
from fairlead.faults import (
    UnclosedFrontmatter as UnclosedFrontmatter,
)
from fairlead.faults import (
    UsageError as UsageError,
)

# --- usage -----------------------------------------------------------------------------


class NoDocument(UsageError, code="no-document"):
    """The project has no such document yet."""

    def __init__(self, path: object, hint: str) -> None:
        super().__init__(f"{path} does not exist", hint=hint)


class NoSuchAgent(UsageError, code="no-such-agent"):
    """An agent was named that nobody knows."""

    def __init__(self, name: str, known: "list[str] | tuple[str, ...]") -> None:
        hint = f"known are {', '.join(known)}; see them with: fairlead doctor agents"
        super().__init__(f"there is no agent {name!r}", hint=hint)


class MalformedId(UsageError, code="malformed-id"):
    """A phase, plan or other identifier that does not follow its grammar."""

    def __init__(self, kind: str, text: str, example: str) -> None:
        super().__init__(f"{text!r} is not a {kind}", hint=f"a {kind} looks like {example}")


class UnknownPhase(UsageError, code="unknown-phase"):
    """A phase was named that the project does not have."""

    def __init__(self, phase: object, known: "list[str] | tuple[str, ...]") -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"there is no phase {phase} in scope", hint=f"known phases: {names}")


class UnknownPlan(UsageError, code="unknown-plan"):
    """A plan was named that the project does not have."""

    def __init__(self, plan: object) -> None:
        hint = "list them with: fairlead explain progress"
        super().__init__(f"there is no plan {plan} in scope", hint=hint)


class UnknownWorkstream(UsageError, code="unknown-workstream"):
    """A workstream was named that the project does not have."""

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"there is no workstream {name}", hint=f"known workstreams: {names}")


class MilestoneUnnamed(UsageError, code="milestone-unnamed"):
    """A milestone was to be opened with a version and no name."""

    def __init__(self, version: str) -> None:
        hint = f'say what it is about: fairlead milestone new {version} "NAME"'
        super().__init__(f"{version} is a version, and the milestone has no name", hint=hint)


class UnknownMilestone(UsageError, code="unknown-milestone"):
    """A milestone was named that the project does not have, or that is not the current one."""

    def __init__(self, version: object, current: str) -> None:
        hint = (
            f"the current milestone is {current}"
            if current
            else "list them: fairlead milestone list"
        )
        super().__init__(f"{version} is not the milestone that is worked on", hint=hint)


class OtherJob(UsageError, code="other-job"):
    """A job was named that is of another kind than the command is for."""

    def __init__(self, job: str, kind: str) -> None:
        hint = f"see it with: fairlead job show {job}"
        super().__init__(f"{job} is a job of the kind {kind!r}", hint=hint)


class NotRetried(UsageError, code="not-retried"):
    """A new job was asked for of one that no council decides about."""

    def __init__(self, job: str, status: str, command: str) -> None:
        super().__init__(
            f"{job} is no council's job, and {status}: its own command goes on or begins anew",
            hint=f"next: {command}",
        )


class JobNotOver(UsageError, code="job-not-over"):
    """Something was asked of a job that only one of another status can do."""

    def __init__(self, job: str, status: str) -> None:
        hint = f"see what it can do now with: fairlead job show {job}"
        super().__init__(f"{job} is {status}", hint=hint)


class NothingToRule(UsageError, code="nothing-to-rule"):
    """A ruling was given on an item that is not open."""

    def __init__(self, job: str, item: str, known: "tuple[str, ...]") -> None:
        hint = f"open are: {', '.join(known)}" if known else f"see: fairlead job show {job}"
        super().__init__(f"{job} has no open item {item!r}", hint=hint)


class UnknownJob(UsageError, code="unknown-job"):
    """A job was named that the project does not have."""

    def __init__(self, job: object, known: "tuple[str, ...]") -> None:
        if not (job or known):
            super().__init__("there are no jobs yet", hint='make one: fairlead run "GOAL"')
            return
        names = ", ".join(known[-5:]) or "none"
        super().__init__(f"there is no job {job}", hint=f"known jobs: {names}")


class NothingToExecute(UsageError, code="nothing-to-execute"):
    """A phase has no plan that could be carried out."""

    def __init__(self, phase: object, why: object) -> None:
        super().__init__(f"phase {phase}: {why}", hint="see what comes next: fairlead next")


class OnlyRehearses(UsageError, code="only-rehearses"):
    """The scripted agent was asked to do real work."""

    def __init__(self) -> None:
        super().__init__("the scripted agent only rehearses", hint="add --rehearse")


class OnlyPersonal(UsageError, code="only-personal"):
    """A setting for a project that counts in a person's own file alone."""

    def __init__(self, key: str) -> None:
        hint = f"add --user: fairlead config set --user {key} VALUE"
        super().__init__(f"{key} counts in your own file alone, not in a project's", hint=hint)


class OnlyAnswers(UsageError, code="only-answers"):
    """A plain model was asked to change files."""

    def __init__(self, name: str) -> None:
        hint = "name an agent: fairlead doctor agents"
        super().__init__(f"{name} is a model that answers; it changes no files", hint=hint)


class BranchName(UsageError, code="branch-name"):
    """The settings give a branch a name that git does not take."""

    def __init__(self, name: object) -> None:
        super().__init__(
            f"{name!r} cannot be the name of a branch",
            hint="see what git.* says: fairlead config list",
        )


class NoQuestion(UsageError, code="no-question"):
    """An answer to a question that nobody asked, or that is not among its options."""

    def __init__(self, job: object, why: object) -> None:
        super().__init__(f"{job}: {why}", hint=f"see: fairlead job show {job}")


class NotRenumbered(UsageError, code="not-renumbered"):
    """Phases that cannot get other numbers without losing their order."""

    def __init__(self, phase: object, hanging: "tuple[str, ...]") -> None:
        super().__init__(
            f"phases {', '.join(hanging)} hang on phase {phase}, so it cannot give up its number",
            hint="remove them first, or leave out --renumber",
        )


class UnwritableValue(UsageError, code="unwritable-value"):
    """A value that the target line cannot hold."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} {why}", hint="give it as one line of ordinary text")


class UnknownSetting(UsageError, code="unknown-setting"):
    """A setting that neither exists nor is present in any configuration file."""

    def __init__(self, key: str, near: str = "") -> None:
        hint = f"did you mean {near}?" if near else "list them with: fairlead config list"
        super().__init__(f"there is no setting {key}", hint=hint)


class SettingValue(UsageError, code="setting-value"):
    """A setting was given a value outside its range."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(f"{key} cannot be {value!r}", hint=f"it takes {allowed}")


class NoBlocker(UsageError, code="no-blocker"):
    """No blocker in STATE.md holds the text that was given."""

    def __init__(self, text: str, known: "tuple[str, ...]") -> None:
        names = "; ".join(known) or "none"
        super().__init__(f"no blocker holds {text!r}", hint=f"recorded blockers: {names}")


class NoFinding(UsageError, code="no-finding"):
    """Something was to be accepted that no verification has found."""

    def __init__(self, what: str, known: "tuple[str, ...]") -> None:
        names = "; ".join(known[:8]) or "none"
        super().__init__(f"nothing was found that is called {what!r}", hint=f"found: {names}")


class SeveralBlockers(UsageError, code="several-blockers"):
    """Several blockers hold the text that was given."""

    def __init__(self, text: str, found: "tuple[str, ...]") -> None:
        hint = "give enough of the text to name one of them; nothing was changed"
        super().__init__(f"{len(found)} blockers hold {text!r}: {'; '.join(found)}", hint=hint)


class UnknownField(UsageError, code="unknown-field"):
    """A field was named that STATE.md does not have."""

    def __init__(self, name: str, known: "tuple[str, ...]") -> None:
        super().__init__(f"STATE.md has no field {name}", hint=f"it has: {', '.join(known)}")


class DerivedValue(UsageError, code="derived-value"):
    """A value was to be set that follows from the files."""

    def __init__(self, name: str, command: str) -> None:
        hint = f"derive it with: {command}"
        super().__init__(f"{name} follows from the files and cannot be set", hint=hint)


class MalformedDuration(UsageError, code="malformed-duration"):
    """A duration that does not follow its grammar."""

    def __init__(self, text: str) -> None:
        hint = "a duration looks like 45s, 12m or 1h5m"
        super().__init__(f"{text!r} is not a duration", hint=hint)


class NoHandover(UsageError, code="no-handover"):
    """A hand-over was named that is not there."""

    def __init__(self, name: str, known: "tuple[str, ...]") -> None:
        hint = f"hand-overs: {', '.join(known) or 'none'}"
        super().__init__(f"there is no hand-over {name}", hint=hint)


class SeveralHandovers(UsageError, code="several-handovers"):
    """Several sessions left a hand-over, and none was named."""

    def __init__(self, found: "tuple[str, ...]") -> None:
        hint = f"name one of them: fairlead state resume --file {found[0]}"
        super().__init__(f"{len(found)} sessions left a hand-over: {', '.join(found)}", hint=hint)


class NoPlanPhase(UsageError, code="no-plan-phase"):
    """No plan was found here or above."""

    def __init__(self, path: object) -> None:
        hint = 'begin one with: fairlead planning start "GOAL"'
        super().__init__(f"not in a Plan Phase: there is no {path}", hint=hint)


class EmptyText(UsageError, code="empty-text"):
    """A goal, a name or criteria without a word in it."""

    def __init__(self, what: str, why: str = "cannot be empty") -> None:
        super().__init__(f"{what} {why}", hint=f"give {what} in quotes")


class UnknownPart(UsageError, code="unknown-part"):
    """A module, requirement or criterion was named that the plan does not have."""

    def __init__(self, kind: str, name: object, known: "tuple[str, ...]") -> None:
        hint = f"it has: {', '.join(known) or 'none'}"
        super().__init__(f"the plan has no {kind} {str(name)!r}", hint=hint)


class WrongWord(UsageError, code="wrong-word"):
    """A word was given that the field does not take."""

    def __init__(self, what: str, word: str, allowed: "tuple[str, ...]") -> None:
        super().__init__(f"{what} cannot be {word}", hint=f"it takes: {', '.join(allowed)}")


class UnknownAgent(UsageError, code="unknown-agent"):
    """A module was to be given to somebody whom nobody registered."""

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        hint = f"register: fairlead exec register human {name}; known: {', '.join(known) or 'none'}"
        super().__init__(f"nobody is registered as {str(name)!r}", hint=hint)


class NoExecPhase(UsageError, code="no-exec-phase"):
    """No exec file was found here or above."""

    def __init__(self, path: object) -> None:
        hint = "approve the plan first: fairlead planning approve"
        super().__init__(f"not in the Orchestration Phase: there is no {path}", hint=hint)


class NoIdea(UsageError, code="no-idea"):
    """A project is to be made, and nobody said of what."""

    def __init__(self) -> None:
        super().__init__("no idea is given", hint='say it: fairlead new "a desk for tickets"')


class NothingNamed(UsageError, code="nothing-named"):
    """A change was asked for without saying what is to change."""

    def __init__(self, options: "tuple[str, ...]") -> None:
        super().__init__("nothing to change was named", hint=f"give one of: {', '.join(options)}")


class UnknownSession(UsageError, code="unknown-session"):
    """A debug session was named that is not there."""

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        names = ", ".join(known) or "there are none"
        super().__init__(f"there is no debug session {name!r}", hint=f"open sessions: {names}")


class NoTodo(UsageError, code="no-todo"):
    """No single pending todo has this name."""

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        names = ", ".join(known[:5]) or "there are none"
        super().__init__(f"no single pending todo is called {name!r}", hint=f"pending: {names}")


# --- documents -------------------------------------------------------------------------


class NotQuick(DocumentError, code="not-quick"):
    """A plan that is more, or less, than a quick task."""

    def __init__(self, why: str) -> None:
        hint = "for more than one task: fairlead phase add NAME, then fairlead phase plan N"
        super().__init__(f"this is no quick task: {why}", hint=hint)


class MalformedRecord(DocumentError, code="malformed-record"):
    """A record of a job that does not hold what it should."""

    def __init__(
        self, place: str, wanted: object, found: object, *, line: int = 0, column: int = 0
    ) -> None:
        path, dot, inside = place.partition(".json")
        where = f"{inside.lstrip('.')}: " if inside else ""
        shown = repr(found)
        shown = shown if len(shown) <= 80 else shown[:79] + "…"
        super().__init__(
            f"{where}{wanted} is needed here, not {shown}",
            path=path + dot,
            line=line or 1,
            column=column,
            hint=f"bring back what stood there (git restore {path}{dot}), "
            "or move the folder of this job out of .planning; nothing was changed",
        )


class Undecodable(DocumentError, code="undecodable"):
    """Bytes that are not UTF-8."""

    def __init__(self, byte: int, *, line: int, column: int) -> None:
        hint = "save the file as UTF-8; nothing was changed"
        super().__init__(f"byte 0x{byte:02x} is not UTF-8", line=line, column=column, hint=hint)


class ConflictMarkers(DocumentError, code="conflict-markers"):
    """An unresolved merge."""

    def __init__(self, *, line: int) -> None:
        hint = "resolve the conflict in an editor, then run the command again"
        super().__init__("unresolved merge conflict", line=line, column=1, hint=hint)


class EmptyDocument(DocumentError, code="empty-document"):
    """A document that lost its text: another tool, or a disk, has emptied it."""

    def __init__(self) -> None:
        hint = "bring its text back, or delete it and have it made anew: fairlead doctor --fix"
        super().__init__("is empty", line=1, column=1, hint=hint)


class WrongSetting(DocumentError, code="wrong-setting"):
    """A setting in a file that does not exist, or whose value it does not take."""

    def __init__(self, fault: UsageError, *, line: int, column: int) -> None:
        super().__init__(str(fault), line=line, column=column, hint=fault.hint)


class NoPlace(DocumentError, code="no-place"):
    """An edit for which the document has no place."""

    def __init__(self, what: str, *, line: int = 1, column: int = 1) -> None:
        hint = "give it one by hand; fairlead check shows what else is amiss; nothing was changed"
        super().__init__(f"no place for {what}", line=line, column=column, hint=hint)


class UnsafeEdit(DocumentError, code="unsafe-edit"):
    """An edit whose result would not read back as asked, so it was not made."""

    def __init__(self, what: str, *, line: int, column: int) -> None:
        super().__init__(
            f"{what} cannot be changed here without changing something else",
            line=line,
            column=column,
            hint="change this line in an editor; nothing was changed",
        )


class ArtefactFault(DocumentError, code="artefact-fault"):
    """An artefact that lacks what whoever reads it needs, or says it in a way that cannot be read."""

    def __init__(self, what: str, *, line: int = 1) -> None:
        hint = "write it by hand, or ask for it again; fairlead check shows what else is amiss"
        super().__init__(what, line=line, column=1, hint=hint)


class PlanCycle(DocumentError, code="plan-cycle"):
    """Plans that depend on each other in a circle."""

    def __init__(self, plans: "tuple[str, ...]") -> None:
        hint = "take one of them out of the depends_on of the next"
        super().__init__(f"plans wait for each other: {' -> '.join(plans)}", hint=hint)


class LedgerBroken(DocumentError, code="ledger-broken"):
    """A line of an evidence ledger that is not what was written."""

    def __init__(self, what: str, *, line: int) -> None:
        hint = "nothing was changed; see all of it with: fairlead check --ledger"
        super().__init__(what, line=line, column=1, hint=hint)


class PlanTwice(DocumentError, code="plan-twice"):
    """Two plans with the same name."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"plans {one} and {other} have the same name", hint="rename one of them")


# --- conflicts -------------------------------------------------------------------------


class RunBusy(ConflictError, code="run-busy"):
    """Another run is executing in this project."""

    def __init__(self, holder: object) -> None:
        hint = "watch it with: fairlead job watch"
        super().__init__(f"a run is executing here already: {holder}", hint=hint)


class InsideAttempt(ConflictError, code="inside-attempt"):
    """A command that would write, called by an agent from inside its attempt."""

    def __init__(self, command: object) -> None:
        super().__init__(
            f"{command}: inside an attempt of an agent the project's memory can only be read",
            hint="say it in the answer of the task; the program records it",
        )


class HeadDetached(ConflictError, code="head-detached"):
    """The main tree is at a commit and on no branch, so there is nothing to land on."""

    def __init__(self) -> None:
        super().__init__(
            "the repository is on no branch, so finished work could not land",
            hint="go to a branch with: git switch BRANCH",
        )


class BranchGone(ConflictError, code="branch-gone"):
    """The branch that a job lands its work on was renamed or deleted."""

    def __init__(self, branch: object, job: object) -> None:
        super().__init__(
            f"branch {branch}, which {job} lands its work on, is not there any more",
            hint=f"make it again: git branch {branch} COMMIT; or end the job: fairlead job cancel {job}",
        )


class TreeDirty(ConflictError, code="tree-dirty"):
    """The main tree holds work that is not committed."""

    def __init__(self, paths: "tuple[str, ...]", left_out: str = "") -> None:
        rest = f" and {len(paths) - 3} more" if paths[3:] else ""
        but = f" -- ':/!{left_out}'" if left_out else ""
        super().__init__(
            f"there is work that is not committed: {', '.join(paths[:3])}{rest}",
            hint=f"commit it or put it aside with: git stash push --include-untracked{but}",
        )


class NotRehearsed(ConflictError, code="not-rehearsed"):
    """A rehearsal was to work beside documents that are not a rehearsal's."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{path}: no rehearsal made it, so none may work in this place",
            hint="leave out --here: then it works in a private copy",
        )


class LandingBlocked(ConflictError, code="landing-blocked"):
    """Finished work cannot move into the main tree."""

    def __init__(self, place: object, why: object) -> None:
        hint = "commit or remove your own change there, then start again"
        super().__init__(f"{place}: {why}", hint=hint)


class ProjectExists(ConflictError, code="project-exists"):
    """`init` in a folder that already has a project."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} exists already", hint="look at it with: fairlead status")


class SameTodo(ConflictError, code="same-todo"):
    """A pending todo says the same already."""

    def __init__(self, path: object, title: object) -> None:
        hint = "keep this one as well with: fairlead capture --again TEXT"
        super().__init__(f"{path} says the same already: {title}", hint=hint)


class FileExists(ConflictError, code="file-exists"):
    """A file that was to be created is there already."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} exists already", hint="nothing was changed")


class ContextThere(ConflictError, code="context-there"):
    """A phase is to be discussed whose context is there already."""

    def __init__(self, phase: object, path: str) -> None:
        hint = f"fairlead phase plan {phase}; or anew: fairlead phase discuss {phase} --again"
        super().__init__(f"phase {phase} was discussed: {path}", hint=hint)


class PlansThere(ConflictError, code="plans-there"):
    """A phase is to be planned that has plans which nobody has carried out yet."""

    def __init__(self, phase: object, plans: "tuple[str, ...]") -> None:
        hint = f"fairlead phase execute {phase}; or anew: fairlead phase plan {phase} --replan"
        super().__init__(f"phase {phase} has open plans: {', '.join(plans)}", hint=hint)


class PhaseStarted(ConflictError, code="phase-started"):
    """A phase was to be removed that holds work."""

    def __init__(self, phase: object, files: "tuple[str, ...]") -> None:
        hint = "with --force its folder is moved out of the way, and nothing in it is deleted"
        super().__init__(f"phase {phase} has work in it: {', '.join(files)}", hint=hint)


class MilestoneShipped(ConflictError, code="milestone-shipped"):
    """A milestone was to be changed or opened that is closed already."""

    def __init__(self, version: object) -> None:
        hint = "open the next one: fairlead milestone new VERSION NAME"
        super().__init__(f"milestone {version} is shipped already", hint=hint)


class LockBusy(ConflictError, code="lock-busy"):
    """Another command holds the project's lock and did not finish in time."""

    def __init__(self, waited_seconds: float, holder: str) -> None:
        super().__init__(
            f"waited {waited_seconds:g} s for the project's lock; held by {holder or 'another process'}",
            hint="run the command again when it has finished; a lock is never taken from a living process",
        )
        self.holder = holder


class ChangedMeanwhile(ConflictError, code="changed-meanwhile"):
    """Somebody changed the file again and again while it was being written."""

    def __init__(self, path: object, ours: str = "") -> None:
        kept = f"their version stays, ours is kept as {ours}" if ours else "their version was kept"
        super().__init__(
            f"{path} was changed by somebody else while it was being written",
            hint=f"{kept}; run the command again",
        )


class NewerRecord(ConflictError, code="newer-record"):
    """A step that a newer version of this program left half done, and only it can complete."""

    def __init__(self, path: object, version: int) -> None:
        super().__init__(
            f"{path} has version {version}, which this program does not know",
            hint="run the command with the newer program that left it; nothing was changed",
        )


class PhaseFinished(ConflictError, code="phase-finished"):
    """A phase was to be executed whose plans are all complete."""

    def __init__(self, phase: object) -> None:
        hint = f"verify it: fairlead phase verify {phase}; or add a plan to it first"
        super().__init__(f"every plan of phase {phase} is complete", hint=hint)


class GateTransition(ConflictError, code="gate-transition"):
    """An event that a gate cannot take in the state it is in."""

    def __init__(self, status: str, event: str, allowed: "tuple[str, ...]") -> None:
        hint = f"it can take: {', '.join(allowed)}" if allowed else "this gate is closed"
        super().__init__(f"a gate that is {status} cannot take {event}", hint=hint)


class GateOpen(ConflictError, code="gate-open"):
    """A task was to start while the gate of another one is open in the same session."""

    def __init__(self, task: str, status: str) -> None:
        hint = "finish or skip it, or work in a session of its own: --session NAME"
        super().__init__(f"the gate of {task!r} is still {status}", hint=hint)


class SessionHeld(ConflictError, code="session-held"):
    """A session is running in another process."""

    def __init__(self, session: str) -> None:
        hint = "work in a session of its own: --session NAME"
        super().__init__(f"session {session} is running in another process", hint=hint)


class SettingsOverwritten(ConflictError, code="settings-overwritten"):
    """A host's settings do not hold what was just written to them."""

    def __init__(self, path: object) -> None:
        hint = "close the other program and run the same command again"
        super().__init__(f"{path} was written by somebody else at the same moment", hint=hint)


class NothingToUndo(ConflictError, code="nothing-to-undo"):
    """There is no event that could be taken back."""

    def __init__(self, why: str) -> None:
        super().__init__(f"nothing to undo: {why}", hint="git keeps what is older")


class ChangedSince(ConflictError, code="changed-since"):
    """A document is no longer what the last event left, so taking that back would lose a change."""

    def __init__(self, path: object, command: str) -> None:
        hint = "nothing was changed; take the older version from git if you want it"
        super().__init__(f"{path} was changed after the last event ({command})", hint=hint)


class PlanExists(ConflictError, code="plan-exists"):
    """A plan was to be started where there is one."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"a Plan Phase is already active: {path} exists",
            hint="look at it: fairlead planning status; put it aside: fairlead planning reset --confirm",
        )


class PlanApproved(ConflictError, code="plan-approved"):
    """A plan was to be changed that is approved, and so read-only."""

    def __init__(self, plan: object) -> None:
        hint = "open it again, which voids the approval: fairlead planning reset --reopen --confirm"
        super().__init__(f"{plan} is approved and cannot be changed", hint=hint)


class PartExists(ConflictError, code="part-exists"):
    """A module or requirement was to be added that the plan has."""

    def __init__(self, kind: str, name: object) -> None:
        hint = f"change it with: fairlead planning modify {kind} {name}"
        super().__init__(f"{kind} {str(name)!r} already exists", hint=hint)


class PartProtected(ConflictError, code="part-protected"):
    """A part of the plan was to be changed or removed that work hangs on."""

    def __init__(self, verb: str, part: str, why: str, way: str) -> None:
        super().__init__(f"cannot {verb} {part}: {why}", hint=way)


class AlreadyApproved(ConflictError, code="already-approved"):
    """A plan was to be approved that is."""

    def __init__(self, plan: object, *, is_void: bool) -> None:
        void = ", and it was changed since, which voids the approval" if is_void else ""
        way = "reopen it: fairlead planning reset --reopen --confirm"
        hint = way if is_void else "see what is left to do: fairlead exec status"
        super().__init__(f"{plan} is already approved{void}", hint=hint)
        self.is_void = is_void


class OtherExecution(ConflictError, code="other-execution"):
    """A plan was to be approved while the modules of another one are being carried out."""

    def __init__(self, path: object, held: str, plan: str) -> None:
        hint = "put that work aside, and its plan with it: fairlead planning reset --confirm"
        super().__init__(f"{path} belongs to {held}, not to {plan}", hint=hint)


class ApprovalRunning(ConflictError, code="approval-running"):
    """Another approval of this plan, or a call of gh that one left behind, has not ended."""

    def __init__(self) -> None:
        hint = "run the command again when it has ended"
        super().__init__("another approval is running here, or a gh that it started", hint=hint)


class PlanTransition(ConflictError, code="plan-transition"):
    """A step that a plan cannot take in the status it has."""

    def __init__(self, status: str, event: str, allowed: "tuple[str, ...]") -> None:
        hint = f"it can take: {', '.join(allowed)}"
        super().__init__(f"a plan that is {status} cannot take {event}", hint=hint)


class JobTransition(ConflictError, code="job-transition"):
    """A council job was to move where its status does not lead, or for a reason that does not."""

    def __init__(self, source: str, target: str, allowed: "tuple[str, ...]", guard: str) -> None:
        hint = f"{source} leads to: {', '.join(allowed)}" if allowed else f"{source} is final"
        because = f" because of {guard!r}" if target in allowed else ""
        super().__init__(f"a job that is {source} cannot become {target}{because}", hint=hint)
        self.source, self.target, self.allowed = source, target, allowed


class PlanTampered(ConflictError, code="plan-tampered"):
    """The master plan of a job is not the one that was approved."""

    def __init__(self, job: str) -> None:
        hint = f"put the approved text back (master_plan.vN.md), or: fairlead job retry {job}"
        super().__init__(f"the master plan of {job} is not the plan that was approved", hint=hint)


# --- agents and people -----------------------------------------------------------------


class NoProgram(AgentError, code="no-program"):
    """An outside program that is not installed."""

    def __init__(self, name: str, without: str = "") -> None:
        hint = f"install {name}, then run the command again{without and f'; or {without}'}"
        super().__init__(f"the program {name} is not on PATH", hint=hint)


class NotStarted(AgentError, code="not-started"):
    """An outside program that the system does not start."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path} cannot be started: {why}", hint="look at the file's permissions")


class NoAgent(AgentError, code="no-agent"):
    """No program that could do the work was found."""

    def __init__(self, looked_for: "list[str] | tuple[str, ...]", rehearsal: str) -> None:
        hint = f"install one of them, or try the whole way without any: {rehearsal}"
        super().__init__(f"no agent was found; looked for {', '.join(looked_for)}", hint=hint)


class NoModelClient(AgentError, code="no-model-client"):
    """A plain model was asked for, and the client that speaks with it is not installed."""

    def __init__(self, name: str, package: str) -> None:
        hint = "install it with: pip install 'fairlead[models]'"
        super().__init__(f"the model {name} needs the package {package}", hint=hint)


class NoAgentAnswers(AgentError, code="no-agent-answers"):
    """Agents are installed, and none of them answers."""

    def __init__(self, answers: "list[str]") -> None:
        hint = "start one of them by hand and log in, then: fairlead doctor agents --ask"
        super().__init__(f"no agent answers: {'; '.join(answers)}", hint=hint)


class NoAnswer(AgentError, code="no-answer"):
    """An outside program that did not answer in time, or did not stop talking."""

    def __init__(self, what: str, why: str) -> None:
        hint = "run the command again: what was done before it stays, and nothing is done twice"
        super().__init__(f"{what}: {why}, and was ended", hint=hint)


class OddAnswer(AgentError, code="odd-answer"):
    """An outside program whose answer cannot be understood."""

    def __init__(self, what: str, said: str) -> None:
        hint = "run the command again: an issue that was made all the same is found by its marker"
        super().__init__(f"{what}: the answer {said!r} is not understood", hint=hint)


class ProgramRefused(AgentError, code="program-refused"):
    """An outside program that says it could not do what it was asked."""

    def __init__(self, what: str, said: str) -> None:
        hint = "put that right, then run the command again; what was done before it stays"
        super().__init__(f"{what}: {said}", hint=hint)


class NotLoggedIn(AgentError, code="not-logged-in"):
    """The GitHub program has nobody's permission to act."""

    def __init__(self, said: str) -> None:
        hint = "log in with: gh auth login; or approve without issues: --skip-issues"
        super().__init__(f"gh is not logged in: {said}", hint=hint)


class GitFault(AgentError, code="git-fault"):
    """Git refused, or ended in a way it should not."""

    def __init__(self, verb: object, said: object) -> None:
        super().__init__(f"git {verb}: {said}", hint="look at the repository with: git status")


class VerifierFault(AgentError, code="verifier-fault"):
    """An agent was asked to look at a phase, and gave no answer that can be used."""

    def __init__(self, phase: object, why: str) -> None:
        hint = f"the rules can stand alone: fairlead phase verify {phase}"
        super().__init__(f"the verifier of phase {phase} gave no answer: {why}", hint=hint)


class GitTooOld(AgentError, code="git-too-old"):
    """A git that cannot merge without a checkout."""

    def __init__(self, found: object, least: object) -> None:
        hint = f"install git {least} or newer"
        super().__init__(f"git {found} is too old to merge without a checkout", hint=hint)


class JobWaiting(BlockedError, code="job-waiting"):
    """A job stands still until a person has answered."""

    def __init__(self, job: object, question: object, command: object) -> None:
        asked = str(question).partition("\n")[0]  # all of it is shown above, and by `job show`
        super().__init__(f"{job} waits for an answer: {asked}", hint=f"answer with: {command}")


class PlansNotApproved(BlockedError, code="plans-not-approved"):
    """Commands of plans would be run that nobody has approved."""

    def __init__(self, phase: object, commands: "tuple[str, ...]", verb: str = "execute") -> None:
        shown = "; ".join(commands[:3]) + (
            f"; and {len(commands) - 3} more" if commands[3:] else ""
        )
        super().__init__(
            f"the verify commands of phase {phase} are not approved: {shown}",
            hint=f"look at them: fairlead phase {verb} {phase} --dry-run, "
            f"then: fairlead phase {verb} {phase} --approve",
        )


class PlansUnfit(BlockedError, code="plans-unfit"):
    """Plans that cannot be carried out as they stand."""

    def __init__(self, problems: "tuple[str, ...]") -> None:
        rest = f" (and {len(problems) - 5} more)" if problems[5:] else ""
        super().__init__("; ".join(problems[:5]) + rest, hint="mend the plans, then start again")


class ClaimUnexplained(BlockedError, code="claim-unexplained"):
    """A claim that no set of missing summaries explains, so none was recorded."""

    def __init__(self, claim: object, missing: "tuple[str, ...]") -> None:
        rest = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        super().__init__(
            f"{claim}; recording the missing summaries would not prove it"
            f" ({', '.join(missing[:3])}{rest})",
            hint="correct the claim with: fairlead doctor --fix --claims correct",
        )


class PlansOpen(BlockedError, code="plans-open"):
    """Plans that no summary proves yet."""

    def __init__(self, phase: object, plans: "tuple[str, ...]") -> None:
        hint = "a plan is complete when its SUMMARY is written; nothing was changed"
        super().__init__(f"phase {phase} has open plans: {', '.join(plans)}", hint=hint)


class NoPlans(BlockedError, code="no-plans"):
    """A phase without plans was to be executed or completed."""

    def __init__(self, phase: object) -> None:
        hint = f"plan it first: fairlead phase plan {phase}"
        super().__init__(f"phase {phase} has no plans", hint=hint)


class NotVerified(BlockedError, code="not-verified"):
    """A phase was to be completed that its verification has not passed."""

    def __init__(self, phase: object) -> None:
        hint = f"verify it first: fairlead phase verify {phase}"
        super().__init__(f"the verification of phase {phase} has not passed", hint=hint)


class MilestoneNotClosed(BlockedError, code="milestone-not-closed"):
    """A milestone was to be opened while another one is not closed."""

    def __init__(self, version: str) -> None:
        hint = f"close it first: fairlead milestone complete {version or 'VERSION'}"
        super().__init__(f"milestone {version or 'of the present phases'} is not closed", hint=hint)


class MilestoneOpen(BlockedError, code="milestone-open"):
    """A milestone was to be closed or left with phases that are not complete."""

    def __init__(self, version: object, phases: "tuple[str, ...]") -> None:
        named = f"open phases: {', '.join(phases)}" if phases else "no phases"
        hint = "complete them first; or say why not: --force --reason TEXT"
        super().__init__(f"milestone {version} has {named}", hint=hint)


class NoAttemptsLeft(BlockedError, code="no-attempts-left"):
    """A task that failed as often as it may."""

    def __init__(self, task: str, attempts: int) -> None:
        super().__init__(
            f"{task!r} failed {attempts} times and is not tried again",
            hint="decide what to do with it, then: fairlead state gate restart, fix or skip --reason TEXT",
        )


class PlanUnready(BlockedError, code="plan-unready"):
    """A plan was to be reviewed or approved that is not complete; everything that is open is told."""

    def __init__(self, plan: object, faults: "tuple[str, ...]") -> None:
        hint = "see what satisfies each: fairlead planning status"
        super().__init__(f"{plan} is not ready: {'; '.join(faults)}", hint=hint)
        self.faults = faults


class NeedsPerson(BlockedError, code="needs-person"):
    """Something that only a person may confirm or allow."""

    def __init__(self, what: str, command: str, proof: str = "") -> None:
        super().__init__(what, hint=f"a person does that with: {command}")
        self.proof = proof  # what the person allows: the hash of a command


class CheckFailed(BlockedError, code="check-failed"):
    """The command of an exit criterion did not succeed; the result is recorded."""

    def __init__(self, command: str, how: str, said: str) -> None:
        hint = "put it right, then confirm again"
        super().__init__(f"{command} {how}" + (f": {said}" if said else ""), hint=hint)


class NestedRun(BlockedError, code="nested-run"):
    """An agent tried to start agents."""

    def __init__(self) -> None:
        hint = "run it in a terminal of your own"
        super().__init__("this runs inside an agent, and an agent may not start agents", hint=hint)


# --- storage ---------------------------------------------------------------------------


class BrokenProgram(StorageError, code="broken-program"):
    """A part of this program cannot be loaded: the disk fails, or it is not installed whole."""

    def __init__(self, part: str, why: str) -> None:
        hint = "check the disk, install Fairlead again, and look at: fairlead status"
        super().__init__(f"{part} cannot be loaded: {why}", hint=hint)


class OwnFault(StorageError, code="own-fault"):
    """Something that nobody thought of; where it happened is told beside it."""

    def __init__(self, problem: BaseException) -> None:
        hint = (
            "what was acknowledged before is safe: fairlead status; please report the lines above"
        )
        told = " ".join(f"{type(problem).__name__}: {problem}".split())
        super().__init__(f"this is a fault of Fairlead itself: {told}", hint=hint)


class NothingCame(StorageError, code="nothing-came"):
    """A step that was taken again and again, and changed nothing: the run ends instead."""

    def __init__(self, step: str, job: str) -> None:
        hint = f"what it rests on: fairlead job show {job}; please report what is shown there"
        super().__init__(f"{step} was done several times and nothing came of it", hint=hint)


class NotConfirmed(StorageError, code="not-confirmed"):
    """The new version is in place, but the disk did not confirm that it will stay."""

    def __init__(self, path: object, why: str) -> None:
        hint = "check the disk, then look at the file before you run the command again"
        super().__init__(f"{path} was written, but the disk did not confirm it: {why}", hint=hint)


class StepInterrupted(NotConfirmed, code="step-interrupted"):
    """A step of several documents that was decided, and then stopped by an error of the disk."""

    def __init__(self, paths: tuple[str, ...], why: str) -> None:
        StorageError.__init__(
            self,
            f"writing {', '.join(paths)} was interrupted: {why}",
            hint="do not run it again: the next command that writes completes it",
        )


class NotPrivate(StorageError, code="not-private"):
    """A folder for private files that others can see."""

    def __init__(self, path: object) -> None:
        hint = f"look at it, then: chmod 700 {path}"
        super().__init__(f"{path} must be a folder of yours that nobody else can open", hint=hint)


class NoLocks(StorageError, code="no-locks"):
    """A file system without locks, such as some network shares."""

    def __init__(self, path: object, why: str, *, may_allow: bool = False) -> None:
        hint = "keep the project on a local disk; reading commands work here"
        if may_allow:
            hint += (
                "; only this machine writes: fairlead config set --user fairlead.shared_disk true"
            )
        super().__init__(f"{path}: this file system has no locks ({why})", hint=hint)


class OutputFault(StorageError, code="output-fault"):
    """The result could not be told; what was asked has been done."""

    def __init__(self, why: str) -> None:
        hint = "the command itself was carried out; look at: fairlead status"
        super().__init__(f"standard output: {why}", hint=hint)
