"""Scan: the disk as an inventory.

Only the folders of phases are walked, each file is opened once and only its beginning or end is
looked at, so that ten thousand plans take less than a second. Links and special files are not
followed; a summary that is one of them proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fairlead.errors import DocumentError, Located
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import (
    Completion,
    Folder,
    Inventory,
    Plan,
    Proof,
    Roadmap,
    Verification,
)
from fairlead.records import naming
from fairlead.records.config import read_completion
from fairlead.records.phase_files import (
    SummaryHead,
    plan_heads,
    summaries_digest,
    summary_head,
    verified_head,
)
from fairlead.records.roadmap import read_roadmap
from fairlead.store import confine, layout
from fairlead.store.confine import Folder as Handle
from fairlead.store.confine import Root
from fairlead.store.listing import Listing, beginning_of, beginnings_of, listing_of
from fairlead.store.load import decoded
from fairlead.text.document import Document
from fairlead.text.scalars import is_null

_HEAD = 64 * 1024


def scan(
    folder: str, *, workstream: str = "", state: str | None = None, roadmap: str | None = None
) -> Inventory:
    """Everything the derivation needs, read from disk now.

    A text that is given stands for its document: what a writer is about to write.
    """
    given = {layout.STATE_NAME: state, layout.ROADMAP_NAME: roadmap}
    with Root(folder) as root:
        return _Scanner(root, workstream, given).inventory()


def scan_folder(folder: str, path: str) -> Folder | None:
    """One folder with plans that is no phase; None if it is not there."""
    home, _, name = path.rpartition("/")
    with Root(folder) as root:
        above = root.folder(home)
        if above is None:
            return None
        with above:
            inside = _opened(above, name)
            return _phase_folder(inside, path, name, "") if inside else None


class _Scanner:
    def __init__(self, root: Root, workstream: str, given: Mapping[str, str | None]) -> None:
        self._root = root
        self._workstream = workstream
        self._planning = layout.planning_of(workstream)
        self._given = given
        self._unread: list[str] = []

    def inventory(self) -> Inventory:
        state = self._document(layout.STATE_NAME)
        milestone = _text(state.value("milestone")) if state else ""
        archived = []
        for name in self._names(layout.MILESTONES_NAME):
            if name.endswith(layout.ARCHIVED_PHASES):
                version = name.removesuffix(layout.ARCHIVED_PHASES)
                archived += self._folders(f"{layout.MILESTONES_NAME}/{name}", version)
        roadmap = self._document(layout.ROADMAP_NAME)
        policy, fault = self._policy(state)
        return Inventory(
            folders=tuple(self._folders(layout.PHASES_NAME, "")),
            archived=tuple(archived),
            roadmap=read_roadmap(roadmap) if roadmap else Roadmap(),
            milestone=milestone,
            policy=policy,
            pending_todos=tuple(
                name for name in self._names(layout.PENDING_TODOS) if name.endswith(".md")
            ),
            workstreams=tuple(self._names(layout.WORKSTREAMS_NAME)),
            unread=tuple(self._unread),
            fault=fault,
            workstream=self._workstream,
        )

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

    def _folders(self, below: str, milestone: str) -> list[Folder]:
        path = f"{self._planning}/{below}"
        try:
            home = self._root.folder(path)
        except DocumentError:
            home = None
            self._unread.append(path)
        if home is None:
            return []
        with home:
            listing = listing_of(home)
            linked = [name for name in sorted(listing.odd) if naming.folder_name(name).id]
            self._unread += [f"{path}/{name}" for name in linked]
            return [
                _phase_folder(inside, f"{path}/{name}", name, milestone)
                for name in listing.folders
                if (inside := _opened(home, name)) is not None
            ]

    # -- reading -------------------------------------------------------------------------

    def _document(self, path: str) -> Document | None:
        given = self._given.get(path)
        if given is not None:
            return Document(given)
        content = self._read(path, layout.DOCUMENT_LIMIT)
        return None if content is None else Document(content.decode("utf-8", "surrogateescape"))

    def _read(self, path: str, limit: int) -> bytes | None:
        try:
            return self._root.read_start(f"{self._planning}/{path}", limit)
        except DocumentError:
            return None  # a link, folder or device is no document

    def _names(self, path: str) -> list[str]:
        try:
            names = self._root.names(f"{self._planning}/{path}")
        except DocumentError:
            self._unread.append(f"{self._planning}/{path}")
            return []
        return sorted(name for name in names or () if confine.is_ordinary(name))


def _opened(home: Handle, name: str) -> Handle | None:
    try:
        return home.folder(name)
    except DocumentError:
        return None  # a file, or a link


def _phase_folder(inside: Handle, path: str, name: str, milestone: str) -> Folder:
    with inside:
        listing = listing_of(inside)
        is_nested = layout.PLANS_NAME in listing.folders
        nested = _opened(inside, layout.PLANS_NAME) if is_nested else None
        named = naming.folder_name(name)
        plans, orphans, heads, others = _plans(inside, path, listing, named.id)
        if nested is not None:
            with nested:
                below = listing_of(nested)
                more, lost, ended, _ = _plans(
                    nested, f"{path}/{layout.PLANS_NAME}", below, named.id
                )
                plans, orphans, heads = plans + more, orphans + lost, heads + ended
        return Folder(
            id=named.id,
            slug=named.slug,
            path=path,
            milestone=milestone,
            plans=plans,
            orphans=orphans,
            verification=_verification(inside, path, listing, others, plans, heads),
            has_context=any(naming.is_artefact(each, "CONTEXT") for each in others),
            has_research=any(naming.is_artefact(each, "RESEARCH") for each in others),
            unread=tuple(
                f"{path}/{each}"
                for each in sorted(listing.odd)
                if each == layout.PLANS_NAME or each not in others
            ),
            others=tuple(others),
        )


def _plans(
    inside: Handle, path: str, listing: Listing, phase: PhaseId | None
) -> tuple[tuple[Plan, ...], tuple[str, ...], tuple[SummaryHead, ...], list[str]]:
    names, summaries, others = naming.parted(listing.files)
    pairs, orphans = naming.paired(names, summaries, phase)
    read = _contents(inside, pairs.values(), listing, layout.DOCUMENT_LIMIT)
    heads = dict(zip(pairs.values(), map(summary_head, read), strict=True))
    ids = naming.plan_ids(names, phase)
    read = _contents(inside, names, listing, _HEAD)
    plans = [
        Plan(short, f"{path}/{name}", f"{path}/{pairs[name]}", heads[pairs[name]].proof, *head)
        if name in pairs
        else Plan(short, f"{path}/{name}", "", Proof.NONE, *head)
        for name, short, head in zip(names, ids, plan_heads(read), strict=True)
    ]
    lost = tuple(f"{path}/{each}" for each in orphans)
    return tuple(plans), lost, tuple(heads.values()), others


def _verification(
    inside: Handle,
    path: str,
    listing: Listing,
    others: list[str],
    plans: tuple[Plan, ...],
    heads: tuple[SummaryHead, ...],
) -> Verification | None:
    names = [each for each in others if naming.is_verification(each)]
    if not names:
        return None
    # The phase's own, `03-VERIFICATION.md`, before one of a plan and before one without a number.
    name = min(names, key=lambda each: (each == "VERIFICATION.md", len(each)))
    (content,) = _contents(inside, (name,), listing, _HEAD)
    status, verified, digest = verified_head(content or b"")
    is_open = False in [plan.proof is Proof.COMPLETE or plan.is_superseded for plan in plans]
    if digest:
        is_older = digest != summaries_digest(_summaries(inside, path, listing, plans))
    else:
        is_older = bool(verified) and any(head.completed[:10] > verified[:10] for head in heads)
    return Verification(f"{path}/{name}", status, is_open or is_older)


def _summaries(
    inside: Handle, path: str, listing: Listing, plans: tuple[Plan, ...]
) -> dict[str, bytes]:
    """The summaries of a phase by their names, as a verification has seen them."""
    names = [plan.summary.removeprefix(f"{path}/") for plan in plans if plan.summary]
    names = [name for name in names if "/" not in name]
    found = zip(names, _contents(inside, names, listing, layout.DOCUMENT_LIMIT), strict=True)
    return {name: content for name, content in found if content is not None}


def _contents(
    inside: Handle, names: Collection[str], listing: Listing, limit: int
) -> Iterator[bytes | None]:
    """The files by these names; a link or a special file is no document, and is not even opened."""
    if listing.odd.isdisjoint(names):
        return beginnings_of(inside, names, limit)
    return (None if name in listing.odd else beginning_of(inside, name, limit) for name in names)


def _text(value: object) -> str:
    return value if isinstance(value, str) and not is_null(value) else ""
