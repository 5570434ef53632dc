"""Everything that can go wrong, as one tree.

    FairleadError
    ├── UsageError      2   what was asked cannot be asked like this
    ├── DocumentError   3   a file says something that cannot be read or written exactly
    ├── ConflictError   4   it exists, is in use, or changed meanwhile
    ├── AgentError      5   an agent, a model or an outside program
    ├── BlockedError    6   waits for a person, or for criteria that are not met
    └── StorageError    7   the disk is full, read-only or broken

A class takes facts and writes the sentence; the line that raises it has no prose. `code` is
stable and documented; the hint says what to do next. Nothing is imported here, so every
floor, and the hooks, can use it.
"""


class FairleadError(Exception):
    """Anything this program refuses or cannot do, with what to do next."""

    code = "fairlead"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


# --- usage -----------------------------------------------------------------------------


class UsageError(FairleadError):
    """What was asked cannot be asked like this."""

    code = "usage"
    exit_code = 2


class NoProject(UsageError):
    """No `.planning` folder was found here or above."""

    code = "no-project"

    def __init__(self, start: object) -> None:
        super().__init__(
            f"no .planning folder in {start} or any folder above it",
            hint='make one with: fairlead init "Title" --yes',
        )


class NoDocument(UsageError):
    """The project has no such document yet."""

    code = "no-document"

    def __init__(self, path: object, hint: str) -> None:
        super().__init__(f"{path} does not exist", hint=hint)


class NoSuchAgent(UsageError):
    """An agent was named that nobody knows."""

    code = "no-such-agent"

    def __init__(self, name: str, known: "list[str] | tuple[str, ...]") -> None:
        super().__init__(
            f"there is no agent {name!r}",
            hint=f"known are {', '.join(known)}; see them with: fairlead doctor agents",
        )


class MalformedId(UsageError):
    """A phase, plan or other identifier that does not follow its grammar."""

    code = "malformed-id"

    def __init__(self, kind: str, text: str, example: str) -> None:
        super().__init__(f"{text!r} is not a {kind}", hint=f"a {kind} looks like {example}")


class UnknownPhase(UsageError):
    """A phase was named that the project does not have."""

    code = "unknown-phase"

    def __init__(self, phase: object, known: "list[str] | tuple[str, ...]") -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"there is no phase {phase} in scope", hint=f"known phases: {names}")


class UnknownPlan(UsageError):
    """A plan was named that the project does not have."""

    code = "unknown-plan"

    def __init__(self, plan: object) -> None:
        super().__init__(
            f"there is no plan {plan} in scope", hint="list them with: fairlead explain progress"
        )


class UnknownWorkstream(UsageError):
    """A workstream was named that the project does not have."""

    code = "unknown-workstream"

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"there is no workstream {name}", hint=f"known workstreams: {names}")


class UnknownMilestone(UsageError):
    """A milestone was named that the project does not have, or that is not the current one."""

    code = "unknown-milestone"

    def __init__(self, version: object, current: str) -> None:
        hint = (
            f"the current milestone is {current}"
            if current
            else "list them: fairlead milestone list"
        )
        super().__init__(f"{version} is not the milestone that is worked on", hint=hint)


class UnknownJob(UsageError):
    """A job was named that the project does not have."""

    code = "unknown-job"

    def __init__(self, job: object, known: "tuple[str, ...]") -> None:
        names = ", ".join(known[-5:]) or "none"
        super().__init__(f"there is no job {job}", hint=f"known jobs: {names}")


class NothingToExecute(UsageError):
    """A phase has no plan that could be carried out."""

    code = "nothing-to-execute"

    def __init__(self, phase: object, why: object) -> None:
        super().__init__(f"phase {phase}: {why}", hint=f"see: fairlead phase show {phase}")


class OnlyRehearses(UsageError):
    """The scripted agent was asked to do real work."""

    code = "only-rehearses"

    def __init__(self) -> None:
        super().__init__("the scripted agent only rehearses", hint="add --rehearse")


class NoQuestion(UsageError):
    """An answer to a question that nobody asked, or that is not among its options."""

    code = "no-question"

    def __init__(self, job: object, why: object) -> None:
        super().__init__(f"{job}: {why}", hint=f"see: fairlead job show {job}")


class NotRenumbered(UsageError):
    """Phases that cannot get other numbers without losing their order."""

    code = "not-renumbered"

    def __init__(self, phase: object, hanging: "tuple[str, ...]") -> None:
        super().__init__(
            f"phases {', '.join(hanging)} hang on phase {phase}, so it cannot give up its number",
            hint="remove them first, or leave out --renumber",
        )


class UnwritableValue(UsageError):
    """A value that the target line cannot hold."""

    code = "unwritable-value"

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} {why}", hint="give it as one line of ordinary text")


class UnknownSetting(UsageError):
    """A setting that neither exists nor is present in any configuration file."""

    code = "unknown-setting"

    def __init__(self, key: str, near: str = "") -> None:
        hint = f"did you mean {near}?" if near else "list them with: fairlead config list"
        super().__init__(f"there is no setting {key}", hint=hint)


class SettingValue(UsageError):
    """A setting was given a value outside its range."""

    code = "setting-value"

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(f"{key} cannot be {value!r}", hint=f"it takes {allowed}")


class PathOutside(UsageError):
    """A path that would leave the project, or that no portable file may have."""

    code = "path-outside"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"path {str(path)!r} {why}", hint="name a file inside the project")


class NoBlocker(UsageError):
    """No blocker in STATE.md holds the text that was given."""

    code = "no-blocker"

    def __init__(self, text: str, known: "tuple[str, ...]") -> None:
        names = "; ".join(known) or "none"
        super().__init__(f"no blocker holds {text!r}", hint=f"recorded blockers: {names}")


class SeveralBlockers(UsageError):
    """Several blockers hold the text that was given."""

    code = "several-blockers"

    def __init__(self, text: str, found: "tuple[str, ...]") -> None:
        super().__init__(
            f"{len(found)} blockers hold {text!r}: {'; '.join(found)}",
            hint="give enough of the text to name one of them; nothing was changed",
        )


class UnknownField(UsageError):
    """A field was named that STATE.md does not have."""

    code = "unknown-field"

    def __init__(self, name: str, known: "tuple[str, ...]") -> None:
        super().__init__(f"STATE.md has no field {name}", hint=f"it has: {', '.join(known)}")


class DerivedValue(UsageError):
    """A value was to be set that follows from the files."""

    code = "derived-value"

    def __init__(self, name: str, command: str) -> None:
        super().__init__(
            f"{name} follows from the files and cannot be set", hint=f"derive it with: {command}"
        )


class MalformedDuration(UsageError):
    """A duration that does not follow its grammar."""

    code = "malformed-duration"

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{text!r} is not a duration", hint="a duration looks like 45s, 12m or 1h5m"
        )


class NoHandover(UsageError):
    """A hand-over was named that is not there."""

    code = "no-handover"

    def __init__(self, name: str, known: "tuple[str, ...]") -> None:
        super().__init__(
            f"there is no hand-over {name}", hint=f"hand-overs: {', '.join(known) or 'none'}"
        )


class SeveralHandovers(UsageError):
    """Several sessions left a hand-over, and none was named."""

    code = "several-handovers"

    def __init__(self, found: "tuple[str, ...]") -> None:
        super().__init__(
            f"{len(found)} sessions left a hand-over: {', '.join(found)}",
            hint=f"name one of them: fairlead state resume --file {found[0]}",
        )


class NoPlanPhase(UsageError):
    """No plan was found here or above."""

    code = "no-plan-phase"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"not in a Plan Phase: there is no {path}",
            hint='begin one with: fairlead planning start "GOAL"',
        )


class EmptyText(UsageError):
    """A goal, a name or criteria without a word in it."""

    code = "empty-text"

    def __init__(self, what: str, why: str = "cannot be empty") -> None:
        super().__init__(f"{what} {why}", hint=f"give {what} in quotes")


class UnknownPart(UsageError):
    """A module, requirement or criterion was named that the plan does not have."""

    code = "unknown-part"

    def __init__(self, kind: str, name: object, known: "tuple[str, ...]") -> None:
        super().__init__(
            f"the plan has no {kind} {str(name)!r}", hint=f"it has: {', '.join(known) or 'none'}"
        )


class WrongWord(UsageError):
    """A word was given that the field does not take."""

    code = "wrong-word"

    def __init__(self, what: str, word: str, allowed: "tuple[str, ...]") -> None:
        super().__init__(f"{what} cannot be {word}", hint=f"it takes: {', '.join(allowed)}")


class UnknownAgent(UsageError):
    """A module was to be given to somebody whom nobody registered."""

    code = "unknown-agent"

    def __init__(self, name: object, known: "tuple[str, ...]") -> None:
        super().__init__(
            f"nobody is registered as {str(name)!r}",
            hint=f"register: fairlead exec register human {name}; known: {', '.join(known) or 'none'}",
        )


class NoExecPhase(UsageError):
    """No exec file was found here or above."""

    code = "no-exec-phase"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"not in the Orchestration Phase: there is no {path}",
            hint="approve the plan first: fairlead planning approve",
        )


class NothingNamed(UsageError):
    """A change was asked for without saying what is to change."""

    code = "nothing-named"

    def __init__(self, options: "tuple[str, ...]") -> None:
        super().__init__("nothing to change was named", hint=f"give one of: {', '.join(options)}")


# --- documents -------------------------------------------------------------------------


class DocumentError(FairleadError):
    """A file that cannot be read, or not be rewritten exactly. Lines and columns count from 1."""

    code = "document"
    exit_code = 3

    def __init__(
        self, what: str, *, line: int = 0, column: int = 0, path: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, hint=hint)
        self.what = what
        self.line = line
        self.column = column
        self.path = path

    def located(self, path: object) -> "DocumentError":
        """The same error, naming the file. The text floor does not know paths, the store does."""
        if not self.path:
            self.path = str(path)
        return self

    def __str__(self) -> str:
        place = self.path
        if self.line:
            place += f":{self.line}:{self.column or 1}"
        return f"{place}: {self.what}" if place else self.what


class MalformedRecord(DocumentError):
    """A record of a job that does not hold what it should."""

    code = "malformed-record"

    def __init__(self, place: str, wanted: object, found: object) -> None:
        path, dot, inside = place.partition(".json")
        where = f"{inside.lstrip('.')}: " if inside else ""
        super().__init__(f"{where}{wanted} is needed here, not {found!r}", path=path + dot)


class Undecodable(DocumentError):
    """Bytes that are not UTF-8."""

    code = "undecodable"

    def __init__(self, byte: int, *, line: int, column: int) -> None:
        super().__init__(
            f"byte 0x{byte:02x} is not UTF-8",
            line=line,
            column=column,
            hint="save the file as UTF-8; nothing was changed",
        )


class TooLarge(DocumentError):
    """A file above the size limit of its kind."""

    code = "too-large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"is {size:,} bytes, the limit is {limit:,}",
            line=1,
            column=1,
            hint="move old entries to another file; nothing was changed",
        )


class NotAFile(DocumentError):
    """A link, folder, pipe or device where a regular file must be."""

    code = "not-a-file"
    wanted = "a regular file"

    def __init__(self, path: object, kind: str) -> None:
        super().__init__(
            f"is {kind}, not {self.wanted}",
            path=str(path),
            hint=f"links and special files are never followed; put {self.wanted} in its place",
        )


class NotAFolder(NotAFile):
    """A link or a file where a folder must be."""

    code = "not-a-folder"
    wanted = "a folder"


class ConflictMarkers(DocumentError):
    """An unresolved merge."""

    code = "conflict-markers"

    def __init__(self, *, line: int) -> None:
        super().__init__(
            "unresolved merge conflict",
            line=line,
            column=1,
            hint="resolve the conflict in an editor, then run the command again",
        )


class EmptyDocument(DocumentError):
    """A document that lost its text: another tool, or a disk, has emptied it."""

    code = "empty-document"

    def __init__(self) -> None:
        super().__init__(
            "is empty",
            line=1,
            column=1,
            hint="bring its text back, or delete it and have it made anew: fairlead doctor --fix",
        )


class UnclosedFrontmatter(DocumentError):
    """A frontmatter block that starts and never ends."""

    code = "unclosed-frontmatter"

    def __init__(self, *, line: int) -> None:
        super().__init__(
            "frontmatter starts here and is never closed",
            line=line,
            column=1,
            hint="close it with a line that is exactly ---",
        )


class FrontmatterSyntax(DocumentError):
    """Frontmatter that is not in the subset of YAML that can be rewritten exactly."""

    code = "frontmatter-syntax"

    def __init__(self, why: str, *, line: int, column: int) -> None:
        super().__init__(
            f"frontmatter: {why}",
            line=line,
            column=column,
            hint="correct this line in an editor; nothing was changed",
        )


class JsonSyntax(DocumentError):
    """JSON that cannot be read exactly."""

    code = "json-syntax"

    def __init__(self, why: str, *, line: int, column: int) -> None:
        super().__init__(why, line=line, column=column, hint="correct this line in an editor")


class NoPlace(DocumentError):
    """An edit for which the document has no place."""

    code = "no-place"

    def __init__(self, what: str, *, line: int = 1, column: int = 1) -> None:
        hint = "give it one by hand; fairlead check shows what else is amiss; nothing was changed"
        super().__init__(f"no place for {what}", line=line, column=column, hint=hint)


class UnsafeEdit(DocumentError):
    """An edit whose result would not read back as asked, so it was not made."""

    code = "unsafe-edit"

    def __init__(self, what: str, *, line: int, column: int) -> None:
        super().__init__(
            f"{what} cannot be changed here without changing something else",
            line=line,
            column=column,
            hint="change this line in an editor; nothing was changed",
        )


class PlanField(DocumentError):
    """A field of a plan file whose value is of the wrong kind, or missing."""

    code = "plan-field"

    def __init__(self, field: str, why: str, *, line: int, wanted: str = "") -> None:
        super().__init__(
            f"{field} {why}",
            line=line,
            column=1,
            hint=(f"it takes {wanted}; " if wanted else "") + "nothing was changed",
        )
        self.field = field


class PlanCycle(DocumentError):
    """Plans that depend on each other in a circle."""

    code = "plan-cycle"

    def __init__(self, plans: "tuple[str, ...]") -> None:
        super().__init__(
            f"plans wait for each other: {' -> '.join(plans)}",
            hint="take one of them out of the depends_on of the next",
        )


class LedgerBroken(DocumentError):
    """A line of an evidence ledger that is not what was written."""

    code = "ledger-broken"

    def __init__(self, what: str, *, line: int) -> None:
        super().__init__(
            what,
            line=line,
            column=1,
            hint="nothing was changed; see all of it with: fairlead check --ledger",
        )


class PlanTwice(DocumentError):
    """Two plans with the same name."""

    code = "plan-twice"

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"plans {one} and {other} have the same name", hint="rename one of them")


# --- conflicts -------------------------------------------------------------------------


class ConflictError(FairleadError):
    """It exists, is in use, or changed meanwhile."""

    code = "conflict"
    exit_code = 4


class RunBusy(ConflictError):
    """Another run is executing in this project."""

    code = "run-busy"

    def __init__(self, holder: object) -> None:
        super().__init__(
            f"a run is executing here already: {holder}", hint="watch it with: fairlead job watch"
        )


class InsideAttempt(ConflictError):
    """A command that would write, called by an agent from inside its attempt."""

    code = "inside-attempt"

    def __init__(self, command: object) -> None:
        super().__init__(
            f"{command}: inside an attempt of an agent the project's memory can only be read",
            hint="say it in the answer of the task; the program records it",
        )


class TreeDirty(ConflictError):
    """The main tree holds work that is not committed."""

    code = "tree-dirty"

    def __init__(self, paths: "tuple[str, ...]") -> None:
        rest = f" and {len(paths) - 3} more" if paths[3:] else ""
        super().__init__(
            f"there is work that is not committed: {', '.join(paths[:3])}{rest}",
            hint="commit it or put it aside with: git stash",
        )


class LandingBlocked(ConflictError):
    """Finished work cannot move into the main tree."""

    code = "landing-blocked"

    def __init__(self, place: object, why: object) -> None:
        super().__init__(
            f"{place}: {why}", hint="commit or remove your own change there, then start again"
        )


class ProjectExists(ConflictError):
    """`init` in a folder that already has a project."""

    code = "project-exists"

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} exists already", hint="look at it with: fairlead status")


class FileExists(ConflictError):
    """A file that was to be created is there already."""

    code = "file-exists"

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} exists already", hint="nothing was changed")


class PhaseStarted(ConflictError):
    """A phase was to be removed that holds work."""

    code = "phase-started"

    def __init__(self, phase: object, files: "tuple[str, ...]") -> None:
        super().__init__(
            f"phase {phase} has work in it: {', '.join(files)}",
            hint="with --force its folder is moved out of the way, and nothing in it is deleted",
        )


class MilestoneShipped(ConflictError):
    """A milestone was to be changed or opened that is closed already."""

    code = "milestone-shipped"

    def __init__(self, version: object) -> None:
        super().__init__(
            f"milestone {version} is shipped already",
            hint="open the next one: fairlead milestone new VERSION NAME",
        )


class LockBusy(ConflictError):
    """Another command holds the project's lock and did not finish in time."""

    code = "lock-busy"

    def __init__(self, waited_seconds: float, holder: str) -> None:
        super().__init__(
            f"waited {waited_seconds:g} s for the project's lock; held by {holder or 'another process'}",
            hint="run the command again when it has finished; a lock is never taken from a living process",
        )
        self.holder = holder


class ChangedMeanwhile(ConflictError):
    """Somebody changed the file again and again while it was being written."""

    code = "changed-meanwhile"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{path} was changed by somebody else while it was being written",
            hint="their version was kept; run the command again",
        )


class NewerRecord(ConflictError):
    """A step that a newer version of this program left half done, and only it can complete."""

    code = "newer-record"

    def __init__(self, path: object, version: int) -> None:
        super().__init__(
            f"{path} has version {version}, which this program does not know",
            hint="run the command with the newer program that left it; nothing was changed",
        )


class PhaseFinished(ConflictError):
    """A phase was to be executed whose plans are all complete."""

    code = "phase-finished"

    def __init__(self, phase: object) -> None:
        super().__init__(
            f"every plan of phase {phase} is complete",
            hint=f"verify it: fairlead phase verify {phase}; or add a plan to it first",
        )


class GateTransition(ConflictError):
    """An event that a gate cannot take in the state it is in."""

    code = "gate-transition"

    def __init__(self, status: str, event: str, allowed: "tuple[str, ...]") -> None:
        super().__init__(
            f"a gate that is {status} cannot take {event}",
            hint=f"it can take: {', '.join(allowed)}" if allowed else "this gate is closed",
        )


class GateOpen(ConflictError):
    """A task was to start while the gate of another one is open in the same session."""

    code = "gate-open"

    def __init__(self, task: str, status: str) -> None:
        super().__init__(
            f"the gate of {task!r} is still {status}",
            hint="finish or skip it, or work in a session of its own: --session NAME",
        )


class SessionHeld(ConflictError):
    """A session is running in another process."""

    code = "session-held"

    def __init__(self, session: str) -> None:
        super().__init__(
            f"session {session} is running in another process",
            hint="work in a session of its own: --session NAME",
        )


class SettingsOverwritten(ConflictError):
    """A host's settings do not hold what was just written to them."""

    code = "settings-overwritten"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{path} was written by somebody else at the same moment",
            hint="close the other program and run the same command again",
        )


class NothingToUndo(ConflictError):
    """There is no event that could be taken back."""

    code = "nothing-to-undo"

    def __init__(self, why: str) -> None:
        super().__init__(f"nothing to undo: {why}", hint="git keeps what is older")


class ChangedSince(ConflictError):
    """A document is no longer what the last event left, so taking that back would lose a change."""

    code = "changed-since"

    def __init__(self, path: object, command: str) -> None:
        super().__init__(
            f"{path} was changed after the last event ({command})",
            hint="nothing was changed; take the older version from git if you want it",
        )


class PlanExists(ConflictError):
    """A plan was to be started where there is one."""

    code = "plan-exists"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"a Plan Phase is already active: {path} exists",
            hint="look at it: fairlead planning status; put it aside: fairlead planning reset --confirm",
        )


class PlanApproved(ConflictError):
    """A plan was to be changed that is approved, and so read-only."""

    code = "plan-approved"

    def __init__(self, plan: object) -> None:
        super().__init__(
            f"{plan} is approved and cannot be changed",
            hint="open it again, which voids the approval: fairlead planning reset --reopen --confirm",
        )


class PartExists(ConflictError):
    """A module or requirement was to be added that the plan has."""

    code = "part-exists"

    def __init__(self, kind: str, name: object) -> None:
        super().__init__(
            f"{kind} {str(name)!r} already exists",
            hint=f"change it with: fairlead planning modify {kind} {name}",
        )


class PartProtected(ConflictError):
    """A part of the plan was to be changed or removed that work hangs on."""

    code = "part-protected"

    def __init__(self, verb: str, part: str, why: str, way: str) -> None:
        super().__init__(f"cannot {verb} {part}: {why}", hint=way)


class AlreadyApproved(ConflictError):
    """A plan was to be approved that is."""

    code = "already-approved"

    def __init__(self, plan: object, *, is_void: bool) -> None:
        void = ", and it was changed since, which voids the approval" if is_void else ""
        way = "reopen it: fairlead planning reset --reopen --confirm"
        super().__init__(
            f"{plan} is already approved{void}",
            hint=way if is_void else "see what is left to do: fairlead exec status",
        )
        self.is_void = is_void


class OtherExecution(ConflictError):
    """A plan was to be approved while the modules of another one are being carried out."""

    code = "other-execution"

    def __init__(self, path: object, held: str, plan: str) -> None:
        super().__init__(
            f"{path} belongs to {held}, not to {plan}",
            hint="put that work aside, and its plan with it: fairlead planning reset --confirm",
        )


class ApprovalRunning(ConflictError):
    """Another approval of this plan, or a call of gh that one left behind, has not ended."""

    code = "approval-running"

    def __init__(self) -> None:
        super().__init__(
            "another approval is running here, or a gh that it started",
            hint="run the command again when it has ended",
        )


class PlanTransition(ConflictError):
    """A step that a plan cannot take in the status it has."""

    code = "plan-transition"

    def __init__(self, status: str, event: str, allowed: "tuple[str, ...]") -> None:
        super().__init__(
            f"a plan that is {status} cannot take {event}",
            hint=f"it can take: {', '.join(allowed)}",
        )


# --- agents and people -----------------------------------------------------------------


class AgentError(FairleadError):
    """An agent, a model or an outside program."""

    code = "agent"
    exit_code = 5


class NoProgram(AgentError):
    """An outside program that is not installed."""

    code = "no-program"

    def __init__(self, name: str, without: str = "") -> None:
        super().__init__(
            f"the program {name} is not on PATH",
            hint=f"install {name}, then run the command again{without and f'; or {without}'}",
        )


class NotStarted(AgentError):
    """An outside program that the system does not start."""

    code = "not-started"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path} cannot be started: {why}", hint="look at the file's permissions")


class NoAgent(AgentError):
    """No program that could do the work was found."""

    code = "no-agent"

    def __init__(self, looked_for: "list[str] | tuple[str, ...]", rehearsal: str) -> None:
        super().__init__(
            f"no agent was found; looked for {', '.join(looked_for)}",
            hint=f"install one of them, or try the whole way without any: {rehearsal}",
        )


class NoAgentAnswers(AgentError):
    """Agents are installed, and none of them answers."""

    code = "no-agent-answers"

    def __init__(self, answers: "list[str]") -> None:
        super().__init__(
            f"no agent answers: {'; '.join(answers)}",
            hint="start one of them by hand and log in, then: fairlead doctor agents --ask",
        )


class NoAnswer(AgentError):
    """An outside program that did not answer in time, or did not stop talking."""

    code = "no-answer"

    def __init__(self, what: str, why: str) -> None:
        super().__init__(
            f"{what}: {why}, and was ended",
            hint="run the command again: what was done before it stays, and nothing is done twice",
        )


class OddAnswer(AgentError):
    """An outside program whose answer cannot be understood."""

    code = "odd-answer"

    def __init__(self, what: str, said: str) -> None:
        super().__init__(
            f"{what}: the answer {said!r} is not understood",
            hint="run the command again: an issue that was made all the same is found by its marker",
        )


class ProgramRefused(AgentError):
    """An outside program that says it could not do what it was asked."""

    code = "program-refused"

    def __init__(self, what: str, said: str) -> None:
        super().__init__(
            f"{what}: {said}",
            hint="put that right, then run the command again; what was done before it stays",
        )


class NotLoggedIn(AgentError):
    """The GitHub program has nobody's permission to act."""

    code = "not-logged-in"

    def __init__(self, said: str) -> None:
        super().__init__(
            f"gh is not logged in: {said}",
            hint="log in with: gh auth login; or approve without issues: --skip-issues",
        )


class GitFault(AgentError):
    """Git refused, or ended in a way it should not."""

    code = "git-fault"

    def __init__(self, verb: object, said: object) -> None:
        super().__init__(f"git {verb}: {said}", hint="look at the repository with: git status")


class GitTooOld(AgentError):
    """A git that cannot merge without a checkout."""

    code = "git-too-old"

    def __init__(self, found: object, least: object) -> None:
        super().__init__(
            f"git {found} is too old to merge without a checkout",
            hint=f"install git {least} or newer",
        )


class BlockedError(FairleadError):
    """Waits for a person, or for criteria that are not met."""

    code = "blocked"
    exit_code = 6


class JobWaiting(BlockedError):
    """A job stands still until a person has answered."""

    code = "job-waiting"

    def __init__(self, job: object, question: object, options: "tuple[str, ...]") -> None:
        answer = options[0] if options else "ANSWER"
        super().__init__(
            f"{job} waits for an answer: {question}",
            hint=f'answer with: fairlead job answer {job} "{answer}"',
        )


class PlansNotApproved(BlockedError):
    """Commands of plans would be run that nobody has approved."""

    code = "plans-not-approved"

    def __init__(self, phase: object, commands: "tuple[str, ...]") -> None:
        shown = "; ".join(commands[:3]) + (
            f"; and {len(commands) - 3} more" if commands[3:] else ""
        )
        super().__init__(
            f"the verify commands of phase {phase} are not approved: {shown}",
            hint=f"look at them: fairlead phase execute {phase} --dry-run, "
            f"then: fairlead phase execute {phase} --approve",
        )


class PlansUnfit(BlockedError):
    """Plans that cannot be carried out as they stand."""

    code = "plans-unfit"

    def __init__(self, problems: "tuple[str, ...]") -> None:
        rest = f" (and {len(problems) - 5} more)" if problems[5:] else ""
        super().__init__("; ".join(problems[:5]) + rest, hint="mend the plans, then start again")


class ClaimUnexplained(BlockedError):
    """A claim that no set of missing summaries explains, so none was recorded."""

    code = "claim-unexplained"

    def __init__(self, claim: object, missing: "tuple[str, ...]") -> None:
        rest = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        super().__init__(
            f"{claim}; recording the missing summaries would not prove it"
            f" ({', '.join(missing[:3])}{rest})",
            hint="correct the claim with: fairlead doctor --fix --claims correct",
        )


class PlansOpen(BlockedError):
    """Plans that no summary proves yet."""

    code = "plans-open"

    def __init__(self, phase: object, plans: "tuple[str, ...]") -> None:
        super().__init__(
            f"phase {phase} has open plans: {', '.join(plans)}",
            hint="a plan is complete when its SUMMARY is written; nothing was changed",
        )


class NoPlans(BlockedError):
    """A phase without plans was to be executed or completed."""

    code = "no-plans"

    def __init__(self, phase: object) -> None:
        super().__init__(
            f"phase {phase} has no plans", hint=f"plan it first: fairlead phase plan {phase}"
        )


class NotVerified(BlockedError):
    """A phase was to be completed that its verification has not passed."""

    code = "not-verified"

    def __init__(self, phase: object) -> None:
        super().__init__(
            f"the verification of phase {phase} has not passed",
            hint=f"verify it first: fairlead phase verify {phase}",
        )


class MilestoneNotClosed(BlockedError):
    """A milestone was to be opened while another one is not closed."""

    code = "milestone-not-closed"

    def __init__(self, version: str) -> None:
        super().__init__(
            f"milestone {version or 'of the present phases'} is not closed",
            hint=f"close it first: fairlead milestone complete {version or 'VERSION'}",
        )


class MilestoneOpen(BlockedError):
    """A milestone was to be closed or left with phases that are not complete."""

    code = "milestone-open"

    def __init__(self, version: object, phases: "tuple[str, ...]") -> None:
        named = f"open phases: {', '.join(phases)}" if phases else "no phases"
        super().__init__(
            f"milestone {version} has {named}",
            hint="complete them first; or say why not: --force --reason TEXT",
        )


class NoAttemptsLeft(BlockedError):
    """A task that failed as often as it may."""

    code = "no-attempts-left"

    def __init__(self, task: str, attempts: int) -> None:
        super().__init__(
            f"{task!r} failed {attempts} times and is not tried again",
            hint="decide what to do with it, then: fairlead state gate restart, fix or skip --reason TEXT",
        )


class PlanUnready(BlockedError):
    """A plan was to be reviewed or approved that is not complete; everything that is open is told."""

    code = "plan-unready"

    def __init__(self, plan: object, faults: "tuple[str, ...]") -> None:
        super().__init__(
            f"{plan} is not ready: {'; '.join(faults)}",
            hint="see what satisfies each: fairlead planning status",
        )
        self.faults = faults


class NeedsPerson(BlockedError):
    """Something that only a person may confirm or allow."""

    code = "needs-person"

    def __init__(self, what: str, command: str, proof: str = "") -> None:
        super().__init__(what, hint=f"a person does that with: {command}")
        self.proof = proof  # what the person allows: the hash of a command


class CheckFailed(BlockedError):
    """The command of an exit criterion did not succeed; the result is recorded."""

    code = "check-failed"

    def __init__(self, command: str, how: str, said: str) -> None:
        super().__init__(
            f"{command} {how}" + (f": {said}" if said else ""),
            hint="put it right, then confirm again",
        )


class NestedRun(BlockedError):
    """An agent tried to start agents."""

    code = "nested-run"

    def __init__(self) -> None:
        super().__init__(
            "this runs inside an agent, and an agent may not start agents",
            hint="run it in a terminal of your own",
        )


# --- storage ---------------------------------------------------------------------------


class StorageError(FairleadError):
    """The disk is full, read-only or broken."""

    code = "storage"
    exit_code = 7


class DiskFull(StorageError):
    """No space or quota left."""

    code = "disk-full"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="free some space; nothing was changed")


class ReadOnly(StorageError):
    """No permission to write here."""

    code = "read-only"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="check the permissions; nothing was changed")


class DiskFault(StorageError):
    """Any other error of the file system before the new version was in place."""

    code = "disk-fault"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="nothing was changed")


class NotConfirmed(StorageError):
    """The new version is in place, but the disk did not confirm that it will stay."""

    code = "not-confirmed"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(
            f"{path} was written, but the disk did not confirm it: {why}",
            hint="check the disk, then look at the file before you run the command again",
        )


class StepInterrupted(NotConfirmed):
    """A step of several documents that was decided, and then stopped by an error of the disk."""

    code = "step-interrupted"

    def __init__(self, paths: tuple[str, ...], why: str) -> None:
        StorageError.__init__(
            self,
            f"writing {', '.join(paths)} was interrupted: {why}",
            hint="do not run it again: the next command that writes completes it",
        )


class NotPrivate(StorageError):
    """A folder for private files that others can see."""

    code = "not-private"

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{path} must be a folder of yours that nobody else can open",
            hint=f"look at it, then: chmod 700 {path}",
        )


class NoLocks(StorageError):
    """A file system without locks, such as some network shares."""

    code = "no-locks"

    def __init__(self, path: object, why: str) -> None:
        super().__init__(
            f"{path}: this file system has no locks ({why})",
            hint="keep the project on a local disk; reading commands work here",
        )


class OutputFault(StorageError):
    """The result could not be told; what was asked has been done."""

    code = "output-fault"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"standard output: {why}",
            hint="the command itself was carried out; look at: fairlead status",
        )
