"""The doctor: proposes a repair for every finding, and applies all repairs in one step.

Values that the files prove are written. For a claim of more, the person decides whether it is
corrected or whether the missing summaries are reconstructed. The disk is scanned inside the lock,
so a repair is never based on outdated files.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum

from fairlead.core.clock import Clock
from fairlead.core.errors import DocumentError
from fairlead.core.ids import stream_words
from fairlead.core.values import dataclass, field, replace
from fairlead.project.derive.inventory import Inventory
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.scan import reread, scan
from fairlead.project.errors import ClaimUnexplained
from fairlead.project.first_documents import NewProject, first_documents, roadmap_with
from fairlead.project.health.check import (
    SECOND_FRONTMATTER,
    DocumentComparison,
    compare_project,
    differences,
    memories_of,
)
from fairlead.project.health.compare_state import UNREAD_FOLDER
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.health.frontmatter_repair import repaired_frontmatter
from fairlead.project.health.repair import (
    RepairedDocument,
    claimed_plans,
    repaired_requirements,
    repaired_roadmap,
    repaired_state,
    summary_text,
    with_proof,
)
from fairlead.project.paths import archive_of
from fairlead.project.roadmap.edit import NewPhase
from fairlead.project.state.activity import with_focus
from fairlead.project.state.archive import archived
from fairlead.project.state.digest import with_status
from fairlead.project.state.edits import synced
from fairlead.project.state.header import require_front_in_place
from fairlead.project.state.recorded import holds_fields_only
from fairlead.store import layout
from fairlead.store.errors import ChangedMeanwhile
from fairlead.store.files import ChangeSet, Files, WriteOutcome
from fairlead.text import frontmatter
from fairlead.text.document import Document


class ClaimPolicy(StrEnum):
    """How to repair claims that no file proves."""

    CORRECT = "correct"  # write what the files prove
    RECONSTRUCT = "reconstruct"  # write the missing summaries


class RepairMethod(StrEnum):
    """How a finding can be repaired."""

    FIX = "fix"  # `--fix`
    CLAIMS = "claims"  # `--fix --claims`
    CREATE = "create"  # `--fix --create`
    PERSON = "person"  # by hand


@dataclass(frozen=True, slots=True)
class RepairProposal:
    """A finding and its repair."""

    finding: Finding
    means: RepairMethod
    how: str
    workstream: str = ""  # of another memory than the one that a repair writes


@dataclass(slots=True)
class _Edits:
    """The documents before and after the repair, for one scan of the disk."""

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    archived: list[str] = field(default_factory=list)  # words of people that were replaced

    def add(self, path: str, repaired: RepairedDocument) -> None:
        """Add the repair of one document."""
        self.archived += repaired.replaced
        if repaired.document.text != self.before[path]:
            self.after[path] = repaired.document.text

    def draft(self) -> ChangeSet:
        """The changes to write."""
        changed = {path: text for path, text in self.after.items() if text != self.before[path]}
        edits = {path: self._edit(path, text) for path, text in changed.items()}
        return ChangeSet(edits, may_create=frozenset(edits))

    def _edit(self, path: str, after: str) -> Callable[[str], str]:
        def edited(text: str) -> str:
            if text != self.before[path]:
                raise ChangedMeanwhile(path)  # the edit is based on another version: scan again
            return after

        return edited


_ADVICE = {
    FindingKind.ORPHAN: "write its plan, or rename it after the plan it belongs to",
    FindingKind.SCOPE: "see which readings remain: fairlead explain scope",
    FindingKind.ARCHIVED: "write its summary if the work was done; the milestone stays closed",
    FindingKind.UNREAD: "write it in one of these forms, so that it can be checked and updated",
    FindingKind.DUPLICATE: "give one of them another number, in ROADMAP.md and in its folder name",
    FindingKind.NO_PHASES: "name each phase on a line of its own: ### Phase 1: Name, or - [ ] Phase 1: Name",
    FindingKind.TRACE: "assign it to a phase of the roadmap, or add it to one in ROADMAP.md",
    FindingKind.UNMAPPED: "add it to the traceability table, or to a phase in ROADMAP.md",
    FindingKind.EMPTY: "write the summary, or remove the empty file",
    FindingKind.SELF_CHECK: "fix what the summary reports, then rewrite it",
    FindingKind.UNCHECKED: "continue the run that was interrupted: fairlead next",
    FindingKind.REHEARSED: "take the rehearsal back: fairlead rehearsal discard; or see: fairlead next",
}
_NEXT_EVENT = "the next event writes it"
# A note about a field that another document states; `--fix` leaves it, since both may be right.
_NOTED = {
    FindingKind.STATUS: _NEXT_EVENT,
    FindingKind.POSITION: "keep it, or take over what is there: fairlead state sync",
}
_RESUME_FILE = 'name another file, or none: fairlead state set "Resume file" None'
_SETTINGS = "correct it in an editor; until then no number that depends on it is written"
_LINKED = "replace the link with the folder itself; links are never followed"
_SECTION = "move its other content to another section by hand, then run doctor again"
_FIRST = "repair the document first, then run doctor again"
_LEFT = "left, because {true!r} would contradict another line; correct both by hand"
_CONFLICT = "resolve the conflict in an editor; both sides may be right"


class Doctor:
    """Examines and repairs the documents of one project."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def repairs(
        self, workstream: str = "", comparison: DocumentComparison | None = None
    ) -> tuple[RepairProposal, ...]:
        """Every finding with its proposed repair."""
        findings = (
            comparison or compare_project(self._files, self._files.workstream(workstream))
        ).findings
        has_claims = any(finding.kind is FindingKind.CLAIM for finding in findings)
        explains = has_claims and self._would_explain(workstream)
        proposals = [
            RepairProposal(finding, *self._repair(finding, explains=explains))
            for finding in findings
        ]
        # A document that only a person can repair blocks the automatic repairs of its values.
        blocked = {
            proposal.finding.path
            for proposal in proposals
            if proposal.finding.kind is FindingKind.DOCUMENT
            and proposal.means is RepairMethod.PERSON
        }
        return tuple(
            replace(proposal, means=RepairMethod.PERSON, how=_FIRST)
            if proposal.finding.path in blocked and proposal.means is not RepairMethod.PERSON
            else proposal
            for proposal in proposals
        )

    def all_repairs(self, workstream: str = "") -> tuple[RepairProposal, ...]:
        """The repairs of everything that `check` compares, other workstreams included."""
        return (*self.repairs(workstream), *self._repairs_beside(workstream))

    def left(self, workstream: str = "") -> tuple[RepairProposal, ...]:
        """Everything that `check` finds after a repair; what `fix` did not write is a person's."""
        return tuple(
            replace(each, means=RepairMethod.PERSON, how=_LEFT.format(true=each.finding.true))
            if each.means is RepairMethod.FIX and each.finding.is_drift and not each.workstream
            else each
            for each in self.all_repairs(workstream)
        )

    def _repairs_beside(self, workstream: str) -> Iterator[RepairProposal]:
        """The repairs of the other memories, each with the command that makes it."""
        own = self._files.workstream(workstream)
        for other in memories_of(self._files, workstream):
            for each in self.repairs(other) if other != own else ():
                is_option = each.means is not RepairMethod.PERSON
                command = f"fairlead doctor{stream_words(other)} " if is_option else ""
                yield replace(each, how=command + each.how, workstream=other)

    def fix(
        self,
        claims: ClaimPolicy | None = None,
        *,
        workstream: str = "",
        dry_run: bool = False,
        create: bool = False,
    ) -> WriteOutcome:
        """Apply all possible repairs in one step; with `create`, write missing documents too."""
        now = self._clock.now()
        workstream = self._files.workstream(workstream)
        frontmatter.prepare()
        return self._files.carry_out(
            lambda: self._edits(claims, workstream, now, create=create).draft(),
            command="doctor",
            dry_run=dry_run,
        )

    # -- applying repairs ------------------------------------------------------------------

    def _edits(
        self, claims: ClaimPolicy | None, workstream: str, now: datetime, *, create: bool = False
    ) -> _Edits:
        edits = _Edits()
        documents = layout.documents_of(workstream)
        state, roadmap, _, requirements = documents
        written = (state, roadmap, requirements)
        texts = {path: self._readable(path, edits) for path in written}
        for path in written if create else ():
            if texts[path] is None:
                texts[path] = self._created(path, workstream, now, edits)
        inventory = scan(
            self._files.folder,
            workstream=workstream,
            state=texts[state],
            roadmap=texts[roadmap],
            cache=self._files.cache,
            unchecked=self._files.unchecked(),
        ).for_writing()
        position = position_of(inventory)
        if claims is ClaimPolicy.RECONSTRUCT:
            # A requirement names no plan, so its claim never justifies a summary.
            others = {**texts, requirements: None}
            document_findings = tuple(differences(inventory, position, documents, others))
            inventory = self._reconstructed(
                inventory, position, document_findings, texts[state], now, edits
            )
            position = position_of(inventory)
        if claims is ClaimPolicy.CORRECT:
            texts[roadmap], inventory = self._corrected(inventory, documents, texts, edits)
            position = position_of(inventory)
        findings = tuple(differences(inventory, position, documents, texts))
        for finding in findings if claims is ClaimPolicy.RECONSTRUCT else ():
            if finding.kind is FindingKind.CLAIM and finding.path != requirements:
                raise ClaimUnexplained(finding, finding.because)
        chosen = [each for each in findings if claims or each.kind is not FindingKind.CLAIM]
        chosen = [each for each in chosen if each.is_repairable]
        for path, repaired in self._harmless(chosen, findings, inventory, texts).items():
            edits.add(path, repaired)
        if edits.archived:
            self._write_archive(archive_of(workstream), now, edits)
        return edits

    def _corrected(
        self,
        inventory: Inventory,
        documents: tuple[str, ...],
        texts: dict[str, str | None],
        edits: _Edits,
    ) -> tuple[str | None, Inventory]:
        """ROADMAP.md without unproven claims, and the inventory with it.

        A phase that the roadmap calls finished is passed over; one that it no longer calls so may
        be the current phase, and STATE.md has to follow.
        """
        path = documents[1]
        findings = tuple(differences(inventory, position_of(inventory), documents, texts))
        wrong = [each for each in findings if each.path == path and each.is_repairable]
        repaired = self._harmless(wrong, findings, inventory, texts).get(path) if wrong else None
        if repaired is None:
            return texts[path], inventory
        edits.archived += repaired.replaced
        text = repaired.document.text
        return text, reread(inventory, texts[documents[0]], text)

    def _harmless(
        self,
        chosen: list[Finding],
        findings: tuple[Finding, ...],
        inventory: Inventory,
        texts: dict[str, str | None],
    ) -> dict[str, RepairedDocument]:
        """The repaired documents; a group of repairs that would refute another line is dropped."""
        position = position_of(inventory)
        documents = layout.documents_of(inventory.workstream)
        before = {_statement(each) for each in findings}
        groups = [group for group in _groups(chosen) if group]
        while True:
            kept = [finding for group in groups for finding in group]
            repaired = {
                path: _repaired(document, kept, position, path)
                for path, text in texts.items()
                if (document := _writable(path, text)) is not None
            }
            after = {path: each.document.text for path, each in repaired.items()}
            state, roadmap = (after.get(path, texts.get(path)) for path in documents[:2])
            again = reread(inventory, state, roadmap)
            left = differences(again, position_of(again), documents, {**texts, **after})
            new = [each for each in left if each.is_drift and _statement(each) not in before]
            # A corrected line may refute one that could stand beside the wrong line.
            follows = [each for each in new if each.is_repairable and _depends_on_phase(each)]
            if follows and groups and groups[-1] and _is_state_text(groups[-1][0]):
                before |= {_statement(each) for each in follows}
                groups[-1] = [*groups[-1], *follows]
                continue
            harmful = [at for at, group in enumerate(groups) if _touches(group, new)]
            if not harmful:
                return repaired
            del groups[harmful[-1]]

    def _readable(self, path: str, edits: _Edits) -> str | None:
        """A document with valid frontmatter; None if it is missing or cannot be written."""
        try:
            loaded = self._files.load_if_present(path)
        except DocumentError:
            return None
        if loaded is None:
            return None
        edits.before[path] = loaded.text
        result = repaired_frontmatter(loaded.text)
        if result is None:
            return loaded.text
        edits.after[path] = result.text
        if result.removed:
            name = f"A second frontmatter of {path}:"
            edits.archived += [name, "", "```yaml", *result.removed, "```"]
        return result.text

    def _created(self, path: str, workstream: str, now: datetime, edits: _Edits) -> str | None:
        """The text of a missing STATE.md or ROADMAP.md; None if it is not reported as missing."""
        if not path.endswith((layout.STATE_NAME, layout.ROADMAP_NAME)):
            return None
        comparison = compare_project(self._files, workstream)
        if not any(
            each.kind is FindingKind.MISSING and each.path == path for each in comparison.findings
        ):
            return None
        title = self._files.folder.rstrip("/").rpartition("/")[2]
        if path.endswith(layout.STATE_NAME):
            first = first_documents(NewProject(title), now)[layout.STATE]
            text = _new_state(Document(first), comparison.position, now)
        else:
            text = roadmap_with(title, _phases_with_folders(comparison.position))
        edits.before[path], edits.after[path] = "", text
        return text

    def _reconstructed(
        self,
        inventory: Inventory,
        position: Position,
        findings: tuple[Finding, ...],
        state: str | None,
        now: datetime,
        edits: _Edits,
    ) -> Inventory:
        """Write the missing summaries; return the inventory with their proof."""
        claimed = claimed_plans(position, findings)
        front = Document(state or "").shown_front
        claimed_at = str(front.get("last_updated") or front.get("last_activity") or "")
        for plan in claimed:
            edits.before[plan.path] = self._current(plan.path)
            edits.after[plan.path] = summary_text(plan, claimed_at, now)
        return with_proof(inventory, claimed)

    def _current(self, path: str) -> str:
        loaded = self._files.load_if_present(path)
        return loaded.text if loaded else ""

    def _write_archive(self, path: str, now: datetime, edits: _Edits) -> None:
        edits.before[path] = self._current(path)
        edits.after[path] = archived(edits.before[path], edits.archived, "replaced by doctor", now)

    # -- proposing repairs -----------------------------------------------------------------

    def _would_explain(self, workstream: str) -> bool:
        """Whether the missing summaries would prove the claims."""
        try:
            chosen = self._files.workstream(workstream)
            self._edits(ClaimPolicy.RECONSTRUCT, chosen, self._clock.now())
        except ClaimUnexplained:
            return False
        return True

    def _repair(self, finding: Finding, *, explains: bool) -> tuple[RepairMethod, str]:
        """How a finding can be repaired, as method and description."""
        if not finding.is_repairable:
            by_hand = f"correct the line by hand: {finding.true}" if finding.true else _NEXT_EVENT
            return RepairMethod.PERSON, _ADVICE.get(finding.kind, by_hand)
        if finding.kind is FindingKind.MISSING:
            return RepairMethod.CREATE, f"--fix --create {_effect_of(finding)}"
        if finding.kind is FindingKind.CLAIM:
            how = f"--fix --claims correct writes {finding.true}"
            if explains and not finding.path.endswith(layout.REQUIREMENTS_NAME):
                how += ", --fix --claims reconstruct writes the missing summaries"
            return RepairMethod.CLAIMS, how
        if finding.kind in _NOTED and not finding.true:
            advice = _RESUME_FILE if finding.what == "Resume file" else _NOTED[finding.kind]
            return RepairMethod.PERSON, advice
        if finding.kind in _ADVICE and not finding.true:
            return RepairMethod.PERSON, _ADVICE[finding.kind]
        if finding.kind is FindingKind.DOCUMENT:
            advice = self._document_advice(finding)
            return (
                (RepairMethod.PERSON, advice)
                if advice
                else (RepairMethod.FIX, "--fix repairs the frontmatter")
            )
        if finding.kind is FindingKind.SECTION and not self._is_only_position(finding):
            return RepairMethod.PERSON, _SECTION
        return RepairMethod.FIX, f"--fix {_effect_of(finding)}"

    def _is_only_position(self, finding: Finding) -> bool:
        """Whether a repeated section contains nothing but a position."""
        loaded = self._files.load_for_display(finding.path)
        document = Document(loaded.text if loaded else "")
        return all(
            holds_fields_only(document, section)
            for section in document.sections
            if section.heading + 1 == finding.line
        )

    def _document_advice(self, finding: Finding) -> str:
        """What a person must do about a malformed document; empty if `--fix` repairs it."""
        if finding.path.endswith(layout.CONFIG_NAME):
            return _SETTINGS
        if finding.what == UNREAD_FOLDER:
            return _LINKED
        try:
            text = self._files.load(finding.path).text
            if repaired_frontmatter(text) is not None:
                return ""
            if finding.what == SECOND_FRONTMATTER:
                return "move its keys into the first one by hand"
            Document(text).require_writable()
        except DocumentError as problem:
            return _CONFLICT if problem.code == "conflict-markers" else problem.hint
        return "correct it in an editor"


_NUMBERS = ("progress.", "Progress")


def _groups(findings: list[Finding]) -> tuple[list[Finding], ...]:
    """Findings that are repaired together: the numbers of STATE.md, its texts, each document."""
    numbers: list[Finding] = []
    texts: list[Finding] = []
    repeated: list[Finding] = []
    others: list[Finding] = []
    for finding in findings:
        if not finding.path.endswith(layout.STATE_NAME):
            others.append(finding)
        elif finding.kind in (FindingKind.TWICE, FindingKind.SECTION):
            repeated.append(finding)
        else:
            (numbers if finding.what.startswith(_NUMBERS) else texts).append(finding)
    return others, numbers, repeated, texts


def _is_state_text(finding: Finding) -> bool:
    """Whether a finding is about a text of STATE.md, which is repaired with the others."""
    is_state = finding.path.endswith(layout.STATE_NAME)
    is_repeated = finding.kind in (FindingKind.TWICE, FindingKind.SECTION)
    return is_state and not (is_repeated or finding.what.startswith(_NUMBERS))


def _depends_on_phase(finding: Finding) -> bool:
    """Whether a line of STATE.md is about the phase that another line names."""
    is_settled = finding.kind is not FindingKind.CLAIM
    return _is_state_text(finding) and is_settled


def _statement(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.what, finding.said


def _touches(group: list[Finding], findings: list[Finding]) -> bool:
    return bool({each.path for each in group} & {each.path for each in findings})


def _repaired(
    document: Document, findings: list[Finding], position: Position, path: str
) -> RepairedDocument:
    if path.endswith(layout.STATE_NAME):
        return repaired_state(document, findings, position, path)
    if path.endswith(layout.ROADMAP_NAME):
        return repaired_roadmap(document, findings, path)
    return repaired_requirements(document, findings, position, path)


def _phases_with_folders(position: Position) -> list[NewPhase]:
    """The phases that have folders, for a new roadmap."""
    phases: list[NewPhase] = []
    for phase in () if position.scope.is_archived else position.scope.phases:
        after = f"Phase {phases[-1].id.short}" if phases else "Nothing (first phase)"
        name = phase.name or f"Phase {phase.id.short}"
        phases.append(NewPhase(phase.id, name, depends_on=after))
    return phases


def _new_state(document: Document, position: Position, now: datetime) -> str:
    """A new STATE.md with the derived position and the milestone of the roadmap."""
    scope = position.scope
    milestone = {"milestone": scope.milestone, "milestone_name": scope.milestone_name}
    for key, value in milestone.items():
        path = (key,)
        document = document.set_front(path, value) if value else document.remove_front(path)
    return synced(with_status(with_focus(document, position), position), position, now).text


def _effect_of(finding: Finding) -> str:
    match finding.kind:
        case FindingKind.MISSING if finding.path.endswith(layout.ROADMAP_NAME):
            return "creates it with the phases that have folders"
        case FindingKind.MISSING:
            return "creates it from its template"
        case FindingKind.TWICE:
            return "moves this line to the archive"
        case FindingKind.SECTION:
            return "moves this section to the archive"
        case _:
            return f"writes {finding.true}"


def _writable(path: str, text: str | None) -> Document | None:
    if text is None:
        return None
    document = Document(text)
    try:
        document.require_writable()
        if path.endswith(layout.STATE_NAME):
            require_front_in_place(document)  # a repair beside it would leave two versions
    except DocumentError:
        return None
    return document
