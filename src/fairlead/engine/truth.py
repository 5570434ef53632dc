"""Truth: what the files say, what the documents say, and where the two part.

Every call scans the disk anew. Nothing here writes.
"""

from collections.abc import Iterator, Mapping

from fairlead.errors import DocumentError
from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Inventory
from fairlead.model.standing import Standing, standing_of
from fairlead.records.compare import disk_findings, state_findings, unread_findings
from fairlead.records.compare_roadmap import roadmap_findings, roadmap_notes
from fairlead.records.mend import second_block
from fairlead.store import layout
from fairlead.store.load import Reader
from fairlead.store.scan import scan
from fairlead.text.document import Document
from fairlead.values import dataclass

SECOND_FRONTMATTER = "second-frontmatter"


@dataclass(frozen=True, slots=True)
class Truth:
    """A project at one moment: derived, and what differs from it."""

    inventory: Inventory
    standing: Standing
    findings: tuple[Finding, ...]

    @property
    def drift(self) -> tuple[Finding, ...]:
        """The findings in which a document says something wrong."""
        return tuple(finding for finding in self.findings if finding.is_drift)


def truth_of(reader: Reader, workstream: str = "") -> Truth:
    """Derive the standing, and hold the documents against it."""
    inventory = scan(reader.folder, workstream=workstream)
    standing = standing_of(inventory)
    findings = [*unread_findings(inventory)]
    documents = layout.documents_of(workstream)
    for path in documents:
        findings += malformed(reader, path, inventory)
    if inventory.fault:  # which numbers are right hangs on what it says
        findings.append(_malformed(inventory.fault))
    else:
        texts = {path: _shown(reader, path) for path in (documents[0], documents[3])}
        findings += differences(inventory, standing, documents, texts)
    findings += disk_findings(standing, inventory)
    return Truth(inventory, standing, tuple(findings))


def differences(
    inventory: Inventory,
    standing: Standing,
    documents: tuple[str, ...],
    texts: Mapping[str, str | None],
) -> Iterator[Finding]:
    """What STATE.md, ROADMAP.md and REQUIREMENTS.md say and the files do not."""
    state, roadmap, _, requirements = documents
    text = texts.get(state)
    if text is not None:
        yield from state_findings(Document(text), state, standing, inventory)
    yield from roadmap_findings(standing, roadmap)
    yield from roadmap_notes(inventory.roadmap, roadmap)
    text = texts.get(requirements)
    if text is not None:
        from fairlead.records.compare_requirements import requirement_findings

        yield from requirement_findings(Document(text), standing, inventory, requirements)


def _shown(reader: Reader, path: str) -> str | None:
    loaded = reader.load_for_display(path)
    return loaded.text if loaded else None


def _malformed(problem: DocumentError) -> Finding:
    return Finding(Kind.DOCUMENT, problem.path, problem.line, problem.code, problem.what, "")


def malformed(reader: Reader, path: str, inventory: Inventory) -> list[Finding]:
    """A document that could not be written as it is, or that is missing."""
    try:
        loaded = reader.load_if_present(path)
        if loaded is None:
            wanted = path.endswith((layout.STATE_NAME, layout.ROADMAP_NAME))
            # A project of workstreams alone keeps its documents in each of them.
            is_elsewhere = inventory.workstreams and not inventory.folders
            if not wanted or is_elsewhere:
                return []
            return [Finding(Kind.MISSING, path, 0, "document", "it does not exist", "")]
        Document(loaded.text).require_writable()
    except DocumentError as problem:
        return [_malformed(problem.located(path))]
    line = second_block(loaded.text)
    if line:
        said = "a second frontmatter stands below the first"
        return [Finding(Kind.DOCUMENT, path, line, SECOND_FRONTMATTER, said, "")]
    return []
