"""Truth: what the files say, what the documents say, and where the two part.

Every call scans the disk anew. Nothing here writes.
"""

from dataclasses import dataclass

from fairlead.errors import DocumentError
from fairlead.model.divergence import Finding, Kind
from fairlead.model.inventory import Inventory
from fairlead.model.standing import Standing, standing_of
from fairlead.records.compare import disk_findings, roadmap_findings, state_findings
from fairlead.records.recorded import read_recorded
from fairlead.store import layout
from fairlead.store.load import Reader
from fairlead.store.scan import scan
from fairlead.text.document import Document


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
    findings: list[Finding] = []
    state, roadmap, *others = layout.documents_of(workstream)
    for path in (state, roadmap, *others):
        findings += _malformed(reader, path)
    loaded = reader.load_for_display(state)
    if loaded:
        recorded = read_recorded(Document(loaded.text), state)
        findings += state_findings(recorded, standing, inventory)
    findings += roadmap_findings(standing, roadmap)
    findings += disk_findings(standing, inventory)
    return Truth(inventory, standing, tuple(findings))


def _malformed(reader: Reader, path: str) -> list[Finding]:
    """A document that could not be written as it is, or that is missing."""
    try:
        loaded = reader.load_if_present(path)
        if loaded is None:
            if path.endswith((layout.STATE_NAME, layout.ROADMAP_NAME)):
                return [Finding(Kind.MISSING, path, 0, "document", "it does not exist", "")]
            return []
        Document(loaded.text).require_writable()
    except DocumentError as problem:
        return [Finding(Kind.DOCUMENT, path, problem.line, problem.code, problem.what, "")]
    return []
