"""Guarding: what an agent has no business with is the same after its call as it was before.

Source files, STATE.md and ROADMAP.md are left out: a person may be at work on them meanwhile, and
nobody can tell a person from an agent there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from fairlead.engine.decide import ABORT, ACCEPT, question_id
from fairlead.errors import DocumentError
from fairlead.model.job import Question, QuestionKind
from fairlead.records.naming import is_plan, is_summary, is_verification
from fairlead.store import layout
from fairlead.store.digests import Marks, digests_of, marks_in
from fairlead.text.inline import file_name

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_MOVING = ("refs/", "HEAD")


def seen(site: Site, plan: str) -> dict[str, str]:
    """Refs, configuration, hooks, plans, settings, proofs and our own records, each as a digest."""
    home = site.files.folder
    # While one of its tasks runs, nobody adds to the ledger.
    ledger = f"{home}/{layout.ledger_path(plan, site.job.workstream)}"
    paths = (*site.guarded, *site.jobs.own_paths(), *_plan_documents(site), ledger)
    return {**site.workspace.guard(), **digests_of(paths)}


def watched(site: Site, task: str, plan: str) -> dict[str, str]:
    """The same before a call of an agent; if we do not see its end, the next run looks."""
    before = seen(site, plan)
    kept = {name: digest for name, digest in before.items() if not name.startswith(_MOVING)}
    site.jobs.witness.saw(task, plan, kept)
    return before | _proofs(site)


def left_behind(site: Site) -> Iterator[Question]:
    """What agents changed whose run was killed, as questions; to be asked before anything begins.

    A person may have gone on with their work since, so branches are left out; and what we write
    ourselves, after a loss of power, which may have taken the memory of it.
    """
    own = f"{site.files.folder}/{layout.PLANNING}/"
    for sighting in site.jobs.witness.left():
        if sighting.digests is None:
            yield _question(sighting.task, [sighting.place])
            continue
        after = seen(site, sighting.plan)
        foreign = {
            name
            for name in _changed(site, sighting.digests, after)
            if not name.startswith(_MOVING)
            and (sighting.is_of_this_boot or name in site.guarded or not name.startswith(own))
        }
        if foreign:
            yield _question(sighting.task, foreign)


def touched(site: Site, task: str, plan: str, before: Mapping[str, str]) -> Question | None:
    """What was changed by somebody else while an agent worked, as a question to a person."""
    with site.turn:  # nobody of ours moves a branch meanwhile
        foreign = _changed(site, before, seen(site, plan) | _proofs(site))
    return _question(task, foreign) if foreign else None


def _plan_documents(site: Site) -> Iterator[str]:
    """Whatever in the folders of the plans would be read as a plan or as the proof of one."""
    for folder in _own_folders(site):
        for place, name, _ in _inside(site, folder):
            if is_plan(name) or is_summary(name):
                yield place


def _proofs(site: Site) -> dict[str, str]:
    """The summaries of every phase and the verifications of this one, which nobody writes meanwhile.

    After a kill they are not looked at: a person may have gone on with other phases since.
    """
    own, found = _own_folders(site), {}
    phases = f"{layout.planning_of(site.job.workstream)}/{layout.PHASES_NAME}"
    for folder in {*marks_in(site.files.folder, phases), *own}:
        for place, name, marks in _inside(site, folder):
            if is_summary(name) or (folder in own and is_verification(name)):
                found[place] = site.digests.of(place, marks)
    return found


def _own_folders(site: Site) -> set[str]:
    return {
        sheet.path.rpartition("/")[0].removesuffix(f"/{layout.PLANS_NAME}")
        for sheet in site.sheets.values()
    }


def _inside(site: Site, folder: str) -> Iterator[tuple[str, str, Marks]]:
    """The files of a phase, also those in the folder of its plans: place, name and marks."""
    home, nested = site.files.folder, f"{folder}/{layout.PLANS_NAME}"
    held = marks_in(home, folder)
    held |= marks_in(home, nested) if nested in held else {}
    for path, marks in held.items():
        yield f"{home}/{path}", path.rpartition("/")[2], marks


def _changed(site: Site, before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """What is not as it was, and neither our doing nor the answer of a person."""
    names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    foreign = {name for name in names if not _is_ours(site, name, after.get(name, ""))}
    return foreign - _answered(site) if foreign else foreign


def _is_ours(site: Site, name: str, digest: str) -> bool:
    """Whether we brought this about, or an agent in its own place; nothing: it is gone.

    What is fetched from elsewhere is nobody's work here.
    """
    if name.startswith("refs/"):
        is_at_work = name.removeprefix("refs/heads/") in site.attempts
        is_fetched = name.startswith("refs/remotes/")
        return is_at_work or is_fetched or site.moved.get(name) == digest
    return site.jobs.witness.has_written(name, digest)


def _answered(site: Site) -> set[str]:
    """The files of questions that hold the answer of a person; who cannot be read has none."""
    try:
        return {site.jobs.question_place(each) for each in site.questions() if each.answer}
    except DocumentError:
        return set()


def _question(task: str, names: Iterable[str]) -> Question:
    kind, names = QuestionKind.TOUCHED, sorted(names)
    listed = ", ".join(map(file_name, names))
    text = f"while an agent worked on {task}, this was changed: {listed}"
    if any(is_summary(name.rpartition("/")[2]) for name in names):
        text += (
            "; if you accept it, a summary there proves its plan: remove it first if it does not"
        )
    return Question(question_id(kind, task), kind, task, text, (ACCEPT, ABORT))
