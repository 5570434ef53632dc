"""Scanning the planning folder into an inventory.

Only phase folders are walked and each file is opened once, so that ten thousand plans take less
than a second. Links and special files are not followed; a summary that is one proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from fairlead.core.errors import DocumentError, Located
from fairlead.core.ids import PhaseId
from fairlead.core.values import replace
from fairlead.project import naming
from fairlead.project.derive.inventory import (
    Completion,
    Inventory,
    PhaseFolder,
    Plan,
    Proof,
    ScopeSource,
    Verification,
)
from fairlead.project.derive.phase_files import (
    SummaryHead,
    plan_head,
    summaries_digest,
    summary_head,
    verified_head,
)
from fairlead.project.derive.state_claims import StateClaims, state_claims
from fairlead.project.paths import (
    ARCHIVED_PHASES,
    ARCHIVED_ROADMAP,
    ARCHIVES,
    MILESTONES_NAME,
    PENDING_TODOS,
    PHASES_NAME,
    PLANS_NAME,
    SHIPPED_NAME,
)
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.milestone_lines import read_shipped
from fairlead.project.roadmap.model import Roadmap
from fairlead.store import confined, layout
from fairlead.store.configuration import read_settings
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.listing import (
    FolderListing,
    beginning_of,
    beginnings_of,
    entries_in,
    listing_of,
)
from fairlead.store.reader import decoded
from fairlead.text.document import Document
from fairlead.text.errors import JsonSyntax
from fairlead.text.yaml_scalars import is_null

if TYPE_CHECKING:
    import os

    from fairlead.project.derive.heads import HeadCache
    from fairlead.store.digests import FileCache

_HEAD = 64 * 1024
Head = TypeVar("Head")
_OWN_FOLDERS = (PHASES_NAME, *ARCHIVES, "quick", "debug", "jobs", "todos", "research", "codebase")


def scan(
    folder: str,
    *,
    workstream: str = "",
    state: str | None = None,
    roadmap: str | None = None,
    cache: FileCache | None = None,
    unchecked: Collection[str] = (),
    heads: HeadCache | None = None,
) -> Inventory:
    """Read the inventory from disk; with a cache, read only the folders that have changed.

    With `heads`, only the plans and summaries that have changed are read.

    `state` and `roadmap` replace the documents on disk, for a caller that is about to write them.
    The summaries and verifications in `unchecked` prove nothing.
    """
    overrides = {layout.STATE_NAME: state, layout.ROADMAP_NAME: roadmap}
    with Root(folder) as root:
        inventory = _Scanner(root, workstream, overrides, cache, heads).inventory()
    if not unchecked:
        return inventory
    folders, archived = (
        tuple(each.without(unchecked) for each in group)
        for group in (inventory.folders, inventory.archived)
    )
    return replace(inventory, folders=folders, archived=archived)


def reread(inventory: Inventory, state: str | None, roadmap: str | None) -> Inventory:
    """The same files with other documents; nothing is read from disk."""
    document = Document(state) if state is not None else None
    return replace(
        inventory,
        milestone=_text(document.value("milestone")) if document else "",
        claims=state_claims(document) if document else StateClaims(),
        roadmap=read_roadmap(Document(roadmap)) if roadmap is not None else Roadmap(),
        has_roadmap=roadmap is not None,
    )


def scan_folder(folder: str, path: str) -> PhaseFolder | None:
    """One folder with plans that is not a phase; None if it does not exist."""
    parent, _, name = path.rpartition("/")
    with Root(folder) as root:
        parent_folder = root.folder(parent)
        if parent_folder is None:
            return None
        with parent_folder:
            handle = _opened(parent_folder, name)
            return _phase_folder(handle, path, name, "") if handle else None


class _Scanner:
    """One scan; collects the paths that were not read."""

    def __init__(
        self,
        root: Root,
        workstream: str,
        overrides: Mapping[str, str | None],
        cache: FileCache | None = None,
        heads: HeadCache | None = None,
    ) -> None:
        self._root = root
        self._cache = cache
        self._heads = heads
        self._workstream = workstream
        self._planning = layout.planning_of(workstream)
        self._overrides = overrides
        self._unread: list[str] = []
        self._shipped_path = ""

    def inventory(self) -> Inventory:
        state = self._document(layout.STATE_NAME)
        milestone = _text(state.value("milestone")) if state else ""
        archived, closed = self._archives()
        roadmap = self._document(layout.ROADMAP_NAME)
        shipped = self._shipped()
        policy, fault = self._policy(state)
        folders = tuple(self._folders(f"{self._planning}/{PHASES_NAME}", ""))
        phases = self._phases(roadmap) if roadmap else Roadmap()
        return Inventory(
            folders=folders,
            foreign=() if folders or phases.phases else tuple(self._foreign()),
            archived=archived,
            closed=closed,
            shipped=read_shipped(shipped) if shipped else (),
            shipped_path=self._shipped_path,
            state_path=f"{self._planning}/{layout.STATE_NAME}",
            roadmap_path=f"{self._planning}/{layout.ROADMAP_NAME}",
            has_roadmap=roadmap is not None,
            claims=state_claims(state) if state else StateClaims(),
            roadmap=phases,
            milestone=milestone,
            policy=policy,
            pending_todos=tuple(
                name for name in self._names(PENDING_TODOS) if name.endswith(".md")
            ),
            workstreams=tuple(self._names(layout.WORKSTREAMS_NAME)),
            unread=tuple(dict.fromkeys(self._unread)),
            fault=fault,
            workstream=self._workstream,
        )

    def _phases(self, document: Document) -> Roadmap:
        if self._cache is None:
            return read_roadmap(document)
        key = ("roadmap", self._planning)
        return self._cache.value(key, document.text, lambda: read_roadmap(document))

    def _archives(self) -> tuple[tuple[PhaseFolder, ...], tuple[ScopeSource, ...]]:
        """The archived phase folders, and the documents that close a milestone."""
        archived: list[PhaseFolder] = []
        closed: dict[str, ScopeSource] = {}
        for planning in dict.fromkeys((self._planning, layout.PLANNING)):
            for parent in ARCHIVES:
                for name in self._names(parent, planning):
                    archived += self._archive(planning, parent, name, closed)
                if parent != MILESTONES_NAME:
                    numbered = self._folders(f"{planning}/{parent}", "")
                    archived += [each for each in numbered if each.id]
        return tuple(archived), tuple(closed.values())

    def _archive(
        self, planning: str, parent: str, name: str, closed: dict[str, ScopeSource]
    ) -> list[PhaseFolder]:
        """The phase folders of one archive; adds what closes its milestone."""
        path, is_milestone = f"{planning}/{parent}/{name}", parent == MILESTONES_NAME
        if name.endswith(".md"):
            owner = name.removesuffix(ARCHIVED_ROADMAP)
            if owner != name and is_milestone:
                closed.setdefault(owner, ScopeSource(path, 0, owner))
            return []
        owner = name.removesuffix(ARCHIVED_PHASES)
        if owner == name and not is_milestone:
            return []
        folders = [each for each in self._folders(path, owner) if each.id]
        if path not in self._unread:
            folders += self._folders(f"{path}/{PHASES_NAME}", owner)
        if folders or layout.ROADMAP_NAME in self._names(f"{parent}/{name}", planning):
            closed.setdefault(owner, ScopeSource(path, 0, owner))
        return folders

    def _foreign(self) -> Iterator[str]:
        """Folders of numbered folders with summaries, where `phases/` is expected and missing."""
        for name in sorted(self._root.names(self._planning) or ()):
            if name in _OWN_FOLDERS or "." in name or not confined.is_ordinary(name):
                continue
            inner = self._folders(f"{self._planning}/{name}", "")
            if any(each.id and (each.orphans or each.plans or each.lost) for each in inner):
                yield f"{self._planning}/{name}"

    def _shipped(self) -> Document | None:
        """MILESTONES.md; a workstream may share the one of the project."""
        for planning in dict.fromkeys((self._planning, layout.PLANNING)):
            self._shipped_path = f"{planning}/{SHIPPED_NAME}"
            content = self._read(SHIPPED_NAME, layout.DOCUMENT_LIMIT, planning)
            if content is not None:
                return Document(content.decode("utf-8", "surrogateescape"))
        return None

    def _policy(self, state: Document | None) -> tuple[Completion, DocumentError | None]:
        """What the configuration says; else what the newer reference tool left in STATE.md."""
        chosen, fault = "", None
        for path in dict.fromkeys((f"{self._planning}/{layout.CONFIG_NAME}", layout.CONFIG)):
            try:
                content = self._root.read(path, layout.CONFIG_LIMIT)
                with Located(path):
                    chosen = read_completion(decoded(path, content)) if content is not None else ""
            except DocumentError as problem:
                fault = problem
            if chosen or fault:
                break
        if chosen:
            return Completion(chosen), None
        is_newer = state is not None and "state_head" in state.shown_front
        return Completion.VERIFIED if is_newer else Completion.SUMMARISED, fault

    def _folders(self, path: str, milestone: str) -> list[PhaseFolder]:
        try:
            parent = self._root.folder(path)
        except DocumentError:
            parent = None
            self._unread.append(path)
        if parent is None:
            return []
        with parent:
            listing = listing_of(parent)
            linked = [name for name in sorted(listing.odd) if naming.folder_name(name).id]
            self._unread += [f"{path}/{name}" for name in linked]
            found = (
                self._phase_folder(parent, f"{path}/{name}", name, milestone)
                for name in listing.folders
            )
            return [each for each in found if each is not None]

    def _phase_folder(
        self, parent: ConfinedFolder, path: str, name: str, milestone: str
    ) -> PhaseFolder | None:
        key = phase_key(path, milestone)
        known: PhaseFolder | None = self._cache.current(key) if self._cache else None
        handle = None if known else _opened(parent, name)
        if handle is None:
            return known
        if self._cache is None:
            return _phase_folder(handle, path, name, milestone, heads=self._heads)
        with handle:
            entries = entries_in(handle)
            signature = self._cache.folder_signature(handle, entries, PLANS_NAME)
            return self._cache.value(
                key, signature, lambda: _phase_folder(handle, path, name, milestone, entries)
            )

    # -- reading -------------------------------------------------------------------------

    def _document(self, path: str) -> Document | None:
        text = self._overrides.get(path)
        if text is not None:
            return Document(text)
        content = self._read(path, layout.DOCUMENT_LIMIT)
        return None if content is None else Document(content.decode("utf-8", "surrogateescape"))

    def _read(self, path: str, limit: int, planning: str = "") -> bytes | None:
        try:
            return self._root.read_start(f"{planning or self._planning}/{path}", limit)
        except DocumentError:
            return None  # a link, a folder or a device

    def _names(self, path: str, planning: str = "") -> list[str]:
        path = f"{planning or self._planning}/{path}"
        try:
            names = self._root.names(path)
        except DocumentError:
            self._unread.append(path)
            return []
        return sorted(name for name in names or () if confined.is_ordinary(name))


def phase_key(path: str, milestone: str) -> tuple[str, str, str]:
    """The key of a phase folder in a cache."""
    return "phase", path, milestone


def _opened(parent: ConfinedFolder, name: str) -> ConfinedFolder | None:
    try:
        return parent.folder(name)
    except DocumentError:
        return None  # a file or a link


def _phase_folder(
    handle: ConfinedFolder,
    path: str,
    name: str,
    milestone: str,
    entries: list[os.DirEntry[str]] | None = None,
    heads: HeadCache | None = None,
) -> PhaseFolder:
    with handle:
        listing = listing_of(handle, entries)
        # Some projects keep the plans of a phase in a subfolder `plans`.
        subfolder = _opened(handle, PLANS_NAME) if PLANS_NAME in listing.folders else None
        named = naming.folder_name(name)
        plans, orphans, proofs, others, lost = _plans(handle, path, listing, named.id, heads)
        if subfolder is not None:
            with subfolder:
                inner = listing_of(subfolder)
                more = _plans(subfolder, f"{path}/{PLANS_NAME}", inner, named.id, heads)
                plans, orphans, proofs = plans + more[0], orphans + more[1], proofs + more[2]
        return PhaseFolder(
            id=named.id,
            slug=named.slug,
            path=path,
            milestone=milestone,
            plans=plans,
            orphans=orphans,
            verification=_verification(handle, path, listing, others, plans, proofs),
            has_context=any(naming.is_artefact(each, "CONTEXT") for each in others),
            has_research=any(naming.is_artefact(each, "RESEARCH") for each in others),
            unread=tuple(
                f"{path}/{each}"
                for each in sorted(listing.odd)
                if each == PLANS_NAME or each not in others
            ),
            others=tuple(others),
            lost=lost,
        )


def _plans(
    handle: ConfinedFolder,
    path: str,
    listing: FolderListing,
    phase: PhaseId | None,
    known: HeadCache | None,
) -> tuple[tuple[Plan, ...], tuple[str, ...], tuple[SummaryHead, ...], list[str], tuple[Plan, ...]]:
    """The plans, the orphan summaries, the facts of the summaries, other files, and lost plans."""
    names, summaries, others = naming.sorted_by_kind(listing.files)
    pairs, orphans = naming.paired(names, summaries, phase)
    found = _heads(handle, pairs.values(), listing, layout.DOCUMENT_LIMIT, summary_head, known)
    heads = dict(zip(pairs.values(), found, strict=True))
    ids = naming.plan_ids(names, phase)
    begun = _heads(handle, names, listing, _HEAD, plan_head, known)
    plans = [
        Plan(plan_id, f"{path}/{name}", f"{path}/{pairs[name]}", heads[pairs[name]].proof, *head)
        if name in pairs
        else Plan(plan_id, f"{path}/{name}", "", Proof.NONE, *head)
        for name, plan_id, head in zip(names, ids, begun, strict=True)
    ]
    orphan_paths = tuple(f"{path}/{name}" for name in orphans)
    lost = tuple(_lost_plans(handle, orphans, listing, path, phase, {*ids}))
    return tuple(plans), orphan_paths, tuple(heads.values()), others, lost


def _lost_plans(
    handle: ConfinedFolder,
    orphans: tuple[str, ...],
    listing: FolderListing,
    path: str,
    phase: PhaseId | None,
    ids: set[str],
) -> Iterator[Plan]:
    """The plans of which only a summary with a number is left."""
    for name in orphans if phase else ():
        plan_id = naming.plan_id(name, phase)
        number = plan_id.rpartition("-")[2]
        if number.isdigit() and plan_id not in ids:
            ids.add(plan_id)
            (content,) = _contents(handle, (name,), listing, layout.DOCUMENT_LIMIT)
            summary = f"{path}/{name}"
            proof = summary_head(content).proof
            yield Plan(plan_id, summary, summary, proof, is_superseded=False, tasks=0)


def _verification(
    handle: ConfinedFolder,
    path: str,
    listing: FolderListing,
    others: list[str],
    plans: tuple[Plan, ...],
    heads: tuple[SummaryHead, ...],
) -> Verification | None:
    names = [each for each in others if naming.is_verification(each)]
    if not names:
        return None
    # Prefer `03-VERIFICATION.md`, of the phase, to one of a plan and to one without a number.
    name = min(names, key=lambda each: (each == "VERIFICATION.md", len(each)))
    (content,) = _contents(handle, (name,), listing, _HEAD)
    status, verified, digest = verified_head(content or b"")
    is_open = False in [plan.proof is Proof.COMPLETE or plan.is_superseded for plan in plans]
    if digest:
        is_older = digest != summaries_digest(_summaries(handle, path, listing, plans))
    else:
        is_older = bool(verified) and any(head.completed[:10] > verified[:10] for head in heads)
    return Verification(f"{path}/{name}", status, is_open or is_older)


def _summaries(
    handle: ConfinedFolder, path: str, listing: FolderListing, plans: tuple[Plan, ...]
) -> dict[str, bytes]:
    """The summaries of a phase by name, as the verification examined them."""
    names = [plan.summary.removeprefix(f"{path}/") for plan in plans if plan.summary]
    names = [name for name in names if "/" not in name]
    contents = zip(names, _contents(handle, names, listing, layout.DOCUMENT_LIMIT), strict=True)
    return {name: content for name, content in contents if content is not None}


def _heads(
    handle: ConfinedFolder,
    names: Collection[str],
    listing: FolderListing,
    limit: int,
    make: Callable[[bytes | None], Head],
    known: HeadCache | None,
) -> Iterable[Head]:
    """What the beginnings of these files say; with a cache, only changed files are read."""

    def read(chosen: Collection[str]) -> Iterator[bytes | None]:
        return _contents(handle, chosen, listing, limit)

    return known.heads(handle, names, read, make) if known else map(make, read(names))


def _contents(
    handle: ConfinedFolder, names: Collection[str], listing: FolderListing, limit: int
) -> Iterator[bytes | None]:
    """The beginnings of these files; None for links and special files, which are not opened."""
    if listing.odd.isdisjoint(names):
        return beginnings_of(handle, names, limit)
    return (None if name in listing.odd else beginning_of(handle, name, limit) for name in names)


def _text(value: object) -> str:
    return value if isinstance(value, str) and not is_null(value) else ""


def read_completion(text: str) -> str:
    """When a phase counts as complete, as the file says; empty where it leaves that open."""
    said = read_settings(text).get("fairlead.completion", "auto")
    if said not in ("auto", *Completion):
        raise JsonSyntax(f"fairlead.completion cannot be {said!r}", line=1, column=1)
    return "" if said == "auto" else str(said)
