"""Doctor: every finding with its repair, and all repairs as one step.

What the files prove is written; a claim of more is not decided here but by the person, who may
have it corrected or have the missing summaries recorded. The disk is scanned inside the lock,
so a repair is never older than what it repairs.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from fairlead.engine.overview import Overview
from fairlead.engine.ports import Clock
from fairlead.engine.templates import NewProject, first_documents, roadmap_with
from fairlead.engine.truth import SECOND_FRONTMATTER, Truth, differences, truth_of
from fairlead.errors import ChangedMeanwhile, ClaimUnexplained, DocumentError
from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Inventory
from fairlead.model.standing import Standing, standing_of
from fairlead.records.activity import with_focus
from fairlead.records.archive import archived
from fairlead.records.compare import UNREAD_FOLDER
from fairlead.records.digest import with_status
from fairlead.records.events import synced
from fairlead.records.mend import mended
from fairlead.records.reconstruct import claimed_plans, summary_text, with_proof
from fairlead.records.recorded import holds_fields_only
from fairlead.records.repair import (
    Repaired,
    repaired_requirements,
    repaired_roadmap,
    repaired_state,
)
from fairlead.records.roadmap_edit import NewPhase
from fairlead.store import layout
from fairlead.store.files import Draft, Files, Outcome
from fairlead.store.scan import scan
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import dataclass, field


class Claims(StrEnum):
    """What becomes of claims that no file proves."""

    CORRECT = "correct"  # the claim is corrected to what the files prove
    RECONSTRUCT = "reconstruct"  # the missing summaries are recorded


class Means(StrEnum):
    """What a repair takes."""

    FIX = "fix"
    CLAIMS = "claims"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Repair:
    """A finding and what repairs it."""

    finding: Finding
    means: Means
    how: str


@dataclass(slots=True)
class _Work:
    """The documents before and after, for one look at the disk."""

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)  # what a person wrote and had to go

    def draft(self) -> Draft:
        """The step that makes it so."""
        changed = {path: text for path, text in self.after.items() if text != self.before[path]}
        edits = {path: self._edit(path, text) for path, text in changed.items()}
        return Draft(edits, may_create=frozenset(edits))

    def _edit(self, path: str, after: str) -> Callable[[str], str]:
        def edited(text: str) -> str:
            if text != self.before[path]:
                raise ChangedMeanwhile(path)  # derived from another version: look again
            return after

        return edited


_BY_HAND = {
    Kind.ORPHAN: "write its plan, or give it the name of the plan it belongs to",
    Kind.ARCHIVED: "write its summary if the work was done; the milestone stays closed",
    Kind.UNREAD: "say it in one of these forms, if it is to be compared and kept right",
    Kind.DUPLICATE: "give one of them another number, in ROADMAP.md and in the name of its folder",
    Kind.NO_PHASES: "name each phase on a line of its own: ### Phase 1: Name, or - [ ] Phase 1: Name",
    Kind.TRACE: "give it a phase of the roadmap, or name it under one in ROADMAP.md",
    Kind.UNMAPPED: "give it a row in the traceability table, or name it in ROADMAP.md",
    Kind.EMPTY: "write the summary, or remove the empty file",
    Kind.SELF_CHECK: "do what the summary names, then write it anew",
    Kind.REHEARSED: "carry its plan out: fairlead phase execute N",
}
_SETTINGS = "correct it in an editor; until then no number that hangs on it is written"
_LINKED = "links are never followed; put the folder itself in its place"
_SECTION = "move what it tells besides a position elsewhere, by hand; only one of them can be right"
_FIRST = "put the document in order first, then look again"
_CONFLICT = "resolve the conflict in an editor; both sides may be right, so nothing is guessed"


class Doctor:
    """Examines and repairs the memory of one project."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def repairs(self, workstream: str = "", truth: Truth | None = None) -> tuple[Repair, ...]:
        """Every finding with its repair."""
        findings = (truth or Overview(self._files).truth(workstream)).findings
        claims = any(each.kind is Kind.CLAIM for each in findings)
        explains = claims and self._would_explain(workstream)
        found = [self._repair(each, explains=explains) for each in findings]
        stuck = {
            each.finding.path
            for each in found
            if each.finding.kind is Kind.DOCUMENT and each.means is Means.PERSON
        }
        return tuple(
            Repair(each.finding, Means.PERSON, _FIRST)
            if each.finding.path in stuck and each.means is not Means.PERSON
            else each
            for each in found
        )

    def fix(
        self, claims: Claims | None = None, *, workstream: str = "", dry_run: bool = False
    ) -> Outcome:
        """Repair all that can be repaired: all of it or nothing."""
        now = self._clock.now()
        workstream = Overview(self._files).workstream(workstream)
        front.prepare()
        return self._files.carry_out(
            lambda: self._work(claims, workstream, now).draft(), command="doctor", dry_run=dry_run
        )

    # -- what is to be done ----------------------------------------------------------------

    def _work(self, claims: Claims | None, workstream: str, now: datetime) -> _Work:
        work = _Work()
        documents = layout.documents_of(workstream)
        state, roadmap, _, requirements = documents
        written = (state, roadmap, requirements)
        texts = {path: self._in_order(path, workstream, now, work) for path in written}
        inventory = scan(
            self._files.folder, workstream=workstream, state=texts[state], roadmap=texts[roadmap]
        ).for_writing()
        standing = standing_of(inventory)
        if claims is Claims.RECONSTRUCT:
            # A requirement names no plan: its claim is never a reason to record a summary.
            others = {**texts, requirements: None}
            found = tuple(differences(inventory, standing, documents, others))
            inventory = self._reconstructed(inventory, standing, found, texts[state], now, work)
            standing = standing_of(inventory)
        findings = tuple(differences(inventory, standing, documents, texts))
        left = [each for each in findings if each.kind is Kind.CLAIM and each.path != requirements]
        if claims is Claims.RECONSTRUCT and left:
            raise ClaimUnexplained(left[0], left[0].because)
        chosen = [each for each in findings if claims or each.kind is not Kind.CLAIM]
        repairs: dict[str, Callable[[Document], Repaired]] = {
            state: lambda held: repaired_state(held, chosen, standing, state),
            roadmap: lambda held: repaired_roadmap(held, chosen, roadmap),
            requirements: lambda held: repaired_requirements(held, chosen, standing, requirements),
        }
        for path, repair in repairs.items():
            self._write(path, texts[path], repair, work)
        if work.kept:
            self._write_archive(layout.archive_of(workstream), now, work)
        return work

    def _in_order(self, path: str, workstream: str, now: datetime, work: _Work) -> str | None:
        """A document with its frontmatter in order, or made anew; None if there is none to write."""
        try:
            loaded = self._files.load_if_present(path)
        except DocumentError:
            return None
        if loaded is None:
            return self._made(path, workstream, now, work)
        work.before[path] = loaded.text
        result = mended(loaded.text)
        if result is None:
            return loaded.text
        work.after[path] = result.text
        if result.removed:
            name = f"A second frontmatter of {path}:"
            work.kept += [name, "", "```yaml", *result.removed, "```"]
        return result.text

    def _made(self, path: str, workstream: str, now: datetime, work: _Work) -> str | None:
        """The first version of a document that is missing although there are phases or others."""
        if not path.endswith((layout.STATE_NAME, layout.ROADMAP_NAME)):
            return None
        truth = truth_of(self._files, workstream)
        if not any(each.kind is Kind.MISSING and each.path == path for each in truth.findings):
            return None
        title = self._files.folder.rstrip("/").rpartition("/")[2]
        if path.endswith(layout.STATE_NAME):
            first = first_documents(NewProject(title), now)[layout.STATE]
            text = _placed(Document(first), truth.standing, now)
        else:
            text = roadmap_with(title, _found_phases(truth.standing))
        work.before[path], work.after[path] = "", text
        return text

    def _reconstructed(
        self,
        inventory: Inventory,
        standing: Standing,
        findings: tuple[Finding, ...],
        state: str | None,
        now: datetime,
        work: _Work,
    ) -> Inventory:
        covered = claimed_plans(standing, findings)
        said = Document(state or "").shown_front
        when = str(said.get("last_updated") or said.get("last_activity") or "")
        for each in covered:
            loaded = self._files.load_if_present(each.path)
            work.before[each.path] = loaded.text if loaded else ""
            work.after[each.path] = summary_text(each, when, now)
        return with_proof(inventory, covered)

    def _write(
        self, path: str, text: str | None, repair: Callable[[Document], Repaired], work: _Work
    ) -> None:
        document = _writable(text)
        if document is None:
            return
        repaired = repair(document)
        work.kept += repaired.replaced
        if repaired.document.text != work.before[path]:
            work.after[path] = repaired.document.text

    def _write_archive(self, path: str, now: datetime, work: _Work) -> None:
        loaded = self._files.load_if_present(path)
        work.before[path] = loaded.text if loaded else ""
        work.after[path] = archived(work.before[path], work.kept, "replaced by doctor", now)

    # -- what is to be said ----------------------------------------------------------------

    def _would_explain(self, workstream: str) -> bool:
        """Whether recording the missing summaries would prove the claims."""
        try:
            chosen = Overview(self._files).workstream(workstream)
            self._work(Claims.RECONSTRUCT, chosen, self._clock.now())
        except ClaimUnexplained:
            return False
        return True

    def _repair(self, finding: Finding, *, explains: bool) -> Repair:
        if finding.kind is Kind.CLAIM:
            how = f"--fix --claims correct writes {finding.true}"
            if explains and not finding.path.endswith(layout.REQUIREMENTS_NAME):
                how += ", --fix --claims reconstruct records the missing summaries"
            return Repair(finding, Means.CLAIMS, how)
        if finding.kind in _BY_HAND and not finding.true:
            return Repair(finding, Means.PERSON, _BY_HAND[finding.kind])
        if finding.kind is Kind.DOCUMENT:
            return self._document_repair(finding)
        if finding.kind is Kind.SECTION and not self._can_go(finding):
            return Repair(finding, Means.PERSON, _SECTION)
        return Repair(finding, Means.FIX, f"--fix {_writes(finding)}")

    def _can_go(self, finding: Finding) -> bool:
        """Whether a second section says nothing but a position."""
        loaded = self._files.load_for_display(finding.path)
        document = Document(loaded.text if loaded else "")
        found = (each for each in document.sections if each.heading + 1 == finding.line)
        return all(holds_fields_only(document, each) for each in found)

    def _document_repair(self, finding: Finding) -> Repair:
        if finding.path.endswith(layout.CONFIG_NAME):
            return Repair(finding, Means.PERSON, _SETTINGS)
        if finding.what == UNREAD_FOLDER:
            return Repair(finding, Means.PERSON, _LINKED)
        try:
            text = self._files.load(finding.path).text
            result = mended(text)
        except DocumentError as problem:
            return Repair(finding, Means.PERSON, problem.hint)
        if result is not None:
            return Repair(finding, Means.FIX, "--fix puts the frontmatter in order")
        if finding.what == SECOND_FRONTMATTER:
            return Repair(finding, Means.PERSON, "move its keys into the first one by hand")
        try:
            Document(text).require_writable()
        except DocumentError as problem:
            hint = _CONFLICT if problem.code == "conflict-markers" else problem.hint
            return Repair(finding, Means.PERSON, hint)
        return Repair(finding, Means.PERSON, "look at it in an editor")


def _found_phases(standing: Standing) -> list[NewPhase]:
    """The phases that have folders, as a roadmap tells of them that has been lost."""
    found: list[NewPhase] = []
    for phase in () if standing.scope.is_archived else standing.scope.phases:
        after = f"Phase {found[-1].id.short}" if found else "Nothing (first phase)"
        name = phase.name or f"Phase {phase.id.short}"
        found.append(NewPhase(phase.id, name, depends_on=after))
    return found


def _placed(document: Document, standing: Standing, now: datetime) -> str:
    """A new STATE.md where the project is, with the milestone that the roadmap names, if any."""
    scope = standing.scope
    told = {"milestone": scope.milestone, "milestone_name": scope.milestone_name}
    for key, value in told.items():
        path = (key,)
        document = document.set_front(path, value) if value else document.remove_front(path)
    return synced(with_status(with_focus(document, standing), standing), standing, now).text


def _writes(finding: Finding) -> str:
    match finding.kind:
        case Kind.MISSING if finding.path.endswith(layout.ROADMAP_NAME):
            return "makes it anew, with the phases that have folders"
        case Kind.MISSING:
            return "makes it from its template"
        case Kind.TWICE:
            return "moves this line to the archive"
        case Kind.SECTION:
            return "moves this section to the archive"
        case _:
            return f"writes {finding.true}"


def _writable(text: str | None) -> Document | None:
    if text is None:
        return None
    document = Document(text)
    try:
        document.require_writable()
    except DocumentError:
        return None
    return document
