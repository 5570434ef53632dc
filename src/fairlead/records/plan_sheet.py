"""PLAN.md in both grammars: read into a value, written from one, and ticked in place.

The reader takes what real plans hold: lists in one line or many, `plan: 08`, tasks with or
without their wrapper. Frontmatter that cannot be read exactly is refused with its place, since
what a plan declares decides what its tasks may touch.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from fairlead.errors import ConflictMarkers, Located
from fairlead.model.plan import Artifact, Finding, Link, MustHaves, PlanSheet, Severity, Task
from fairlead.model.waves import Node
from fairlead.records.keys import list_of, text_of, whole, without_notes
from fairlead.records.naming import folder_name, plan_id
from fairlead.records.plan_tasks import block_text, count_headings, masked, read_tasks
from fairlead.text.conflicts import conflict_line
from fairlead.text.document import Document
from fairlead.text.emit import Value, block_lines
from fairlead.text.subset import read_tree
from fairlead.values import replace

_TASK_BOX = (
    r"(?P<begin>[ \t]*[-*][ \t]+\[)(?P<mark>[ xX])(?P<rest>\][ \t]+(?:\*\*)?Task (?P<number>[0-9]{1,4})\b"
    r"[^\r\n]*?)(?: \(completed [0-9]{4}-[0-9]{2}-[0-9]{2}\))?[ \t]*"
)
_BOX = re.compile(_TASK_BOX + r"\Z", re.IGNORECASE)
_ANY_BOX = re.compile(rf"^{_TASK_BOX}(?=\r?$)", re.IGNORECASE | re.MULTILINE)

REQUIRED = (
    "phase",
    "plan",
    "type",
    "wave",
    "depends_on",
    "files_modified",
    "autonomous",
    "must_haves",
)
CHECK = "plan_check"  # the key that says what became of a plan's check
_NUMBER = re.compile(r"(?:.*[-_ ])?([0-9]{1,4})\Z")
_REFERENCE = re.compile(r"(?:.*/)?([0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)-([0-9]{1,4})(?:-.*)?\Z")


# How people name a plan in words; a point between two numbers may also mean an inserted phase.
_IN_WORDS = re.compile(
    r"(?:phase +(?P<phase>[^\s,:]+)[,:]? +plan +(?P<number>[0-9]{1,4})|plan +(?P<name>\S+))\Z",
    re.IGNORECASE,
)


def read_plan(path: str, text: str) -> PlanSheet:
    """A plan; raises a `DocumentError` with the file's name and line if it cannot be read exactly."""
    with Located(path):
        return _read(path, text)


def nodes_of(
    sheets: Iterable[PlanSheet],
    *,
    done: Collection[str] = (),
    halted: Collection[str] = (),
    provider: str = "",
) -> tuple[Node, ...]:
    """Plans as the schedule needs them, their references resolved to ids of these plans."""
    plans = tuple(sheets)
    known = {_stem(plan.path).casefold(): plan.id for plan in plans}
    known |= {plan.id.casefold(): plan.id for plan in plans}
    return tuple(
        Node(
            plan.id,
            tuple(_resolved(wanted, plan, known) for wanted in plan.depends_on),
            tuple(
                dict.fromkeys(
                    (*plan.files, *plan.deleted, *(p for task in plan.tasks for p in task.files))
                )
            ),
            weight=max(plan.task_count, 1),
            is_done=plan.id in done,
            is_halted=plan.id in halted,
            provider=provider,
        )
        for plan in plans
    )


def with_tasks_done(document: Document, numbers: Collection[int], date: str) -> Document:
    """The plan with the boxes of these tasks ticked; a plan without boxes stays as it is."""
    text = document.text
    for line in reversed(document.lines):  # so that the places before it stay true
        match = _BOX.match(line.text) if line.is_prose else None
        if match and match["mark"] == " " and int(match["number"]) in numbers:
            ticked = f"{match['begin']}x{match['rest']} (completed {date})"
            text = text[: line.start] + ticked + text[line.end :]
    return document.replaced(text)


def digest_of(text: str) -> str:
    """The sha256 of a plan as nobody has ticked it: what was approved is what is to be done."""
    unticked = _ANY_BOX.sub(r"\g<begin> \g<rest>", text)
    return hashlib.sha256(unticked.encode("utf-8", "surrogateescape")).hexdigest()


def new_plan(sheet: PlanSheet) -> str:
    """The text of a plan that does not exist yet; reading it gives the same plan."""
    haves = sheet.must_haves
    front: dict[str, Value] = {
        "phase": sheet.phase,
        "plan": sheet.number,
        "type": sheet.kind,
        "wave": sheet.wave or 1,
        "depends_on": list(sheet.depends_on),
        "files_modified": list(sheet.files),
        "autonomous": sheet.autonomous,
        "requirements": list(sheet.requirements),
    }
    if sheet.deleted:
        front["files_deleted"] = list(sheet.deleted)
    if sheet.gap_closure:
        front["gap_closure"] = True
        front |= {"gap_ids": list(sheet.gap_ids)} if sheet.gap_ids else {}
    if sheet.estimate_tokens is not None:
        front["estimate"] = {"tokens": sheet.estimate_tokens}
    promised: dict[str, Value] = {
        "truths": [
            {"statement": each, "verification": "backstop"} if each in haves.backstops else each
            for each in haves.truths
        ],
        "artifacts": [_artifact_keys(each) for each in haves.artifacts],
        "key_links": [_link_keys(each) for each in haves.links],
    }
    if haves.judged:
        promised["prohibitions"] = [{"statement": each} for each in haves.judged]
    front["must_haves"] = promised
    tasks = "\n\n".join(_task_text(task) for task in sheet.tasks)
    return "\n".join(
        (
            "---",
            *block_lines(front, 0),
            "---",
            "",
            f"<objective>\n{sheet.objective}\n</objective>",
            "",
            f"<tasks>\n\n{tasks}\n\n</tasks>",
            "",
        )
    )


def _read(path: str, text: str) -> PlanSheet:
    line = conflict_line(text)
    if line:
        raise ConflictMarkers(line=line)
    document = Document(text)
    block = document.block
    front = read_tree(text[block.start : block.end], block.first_line) if block else {}
    mask = masked(text, block.body if block else 0)
    tasks, notes = read_tasks(text, mask)
    folder, name = path.split("/")[-2:] if "/" in path else ("", path)
    phase = folder_name(folder if folder != "plans" else path.split("/")[-3]).id
    identity = plan_id(name, phase)
    number, odd = _number(front, identity)
    estimate = front.get("estimate")
    return PlanSheet(
        id=identity,
        phase=text_of(front, "phase") or folder,
        number=number,
        kind=text_of(front, "type") or "execute",
        wave=whole(text_of(front, "wave")),
        depends_on=list_of(front, "depends_on", "depends-on"),
        files=list_of(front, "files_modified", "files-modified"),
        deleted=list_of(front, "files_deleted", "files-deleted"),
        autonomous=text_of(front, "autonomous").casefold() not in ("false", "no"),
        requirements=list_of(front, "requirements"),
        must_haves=_must_haves(front.get("must_haves")),
        objective=block_text(text, mask, "objective") or text_of(front, "objective"),
        tasks=tuple(_with_digests(tasks)),
        gap_closure=text_of(front, "gap_closure").casefold() == "true",
        gap_ids=list_of(front, "gap_ids"),
        digest=digest_of(text),
        estimate_tokens=whole(text_of(estimate, "tokens")) if isinstance(estimate, dict) else None,
        path=path,
        task_count=len(tasks) or count_headings(mask),
        is_superseded=text_of(front, "status").casefold() == "superseded",
        notes=(*odd, *_unread_needs(front), *notes),
        check=text_of(front, CHECK).casefold(),
        is_rehearsed=text_of(front, "rehearsed").casefold() == "true",
    )


def _with_digests(tasks: Iterable[Task]) -> Iterator[Task]:
    """Each with the digest of all up to it: what comes after a task that changed stands on it."""
    digest = ""
    for task in tasks:
        digest = digest_of(f"{digest}\n{task.source}")
        yield replace(task, digest=digest)


def _number(front: Mapping[str, object], identity: str) -> tuple[int, list[Finding]]:
    """The number of a plan by its file's name, and what the frontmatter says otherwise or not."""
    notes = []
    missing = [key for key in REQUIRED if key not in front and key.replace("_", "-") not in front]
    if missing:
        what = f"the frontmatter lacks {', '.join(missing)}"
        notes.append(Finding(Severity.ERROR, what, 1))
    named, told = _NUMBER.match(identity), _NUMBER.match(text_of(front, "plan"))
    by_name, by_front = int(named[1]) if named else None, int(told[1]) if told else None
    if by_name is not None and by_front is not None and by_name != by_front:
        what = f"the frontmatter says plan {by_front}, the file's name {identity}"
        notes.append(Finding(Severity.WARNING, what, 1))
    return by_name if by_name is not None else by_front or 0, notes


def _unread_needs(front: Mapping[str, object]) -> Iterator[Finding]:
    """What stands under `depends_on` and is no name: nothing would wait for it."""
    held = front.get("depends_on", front.get("depends-on"))
    for each in held if isinstance(held, list) else [held]:
        is_path = isinstance(each, dict) and text_of(each, "path")
        if each and isinstance(each, list | dict) and not is_path:
            what = f"depends_on holds {json.dumps(each)}, which names no plan"
            yield Finding(Severity.WARNING, what, 1)


def _must_haves(held: object) -> MustHaves:
    if not isinstance(held, dict):
        return MustHaves()
    return MustHaves(
        tuple(_statement(each) for each in _items(held.get("truths"))),
        tuple(_artifact(each) for each in _items(held.get("artifacts"))),
        tuple(_link(each) for each in _items(held.get("key_links"))),
        tuple(
            text_of(each, "statement")
            for each in _items(held.get("truths"))
            if isinstance(each, dict) and text_of(each, "verification") == "backstop"
        ),
        tuple(_statement(each) for each in _items(held.get("prohibitions"))),
    )


def _statement(item: object) -> str:
    return text_of(item, "statement") if isinstance(item, dict) else str(item)


def _artifact(item: object) -> Artifact:
    if not isinstance(item, dict):
        return Artifact(str(item))
    return Artifact(
        text_of(item, "path"),
        text_of(item, "provides"),
        text_of(item, "contains"),
        list_of(item, "exports"),
        whole(text_of(item, "min_lines")) or 0,
    )


def _link(item: object) -> Link:
    if not isinstance(item, dict):
        return Link("", "", str(item))
    return Link(*(text_of(item, key) for key in ("from", "to", "via", "pattern")))


def _artifact_keys(artifact: Artifact) -> dict[str, Value]:
    keys: dict[str, Value] = {
        "path": artifact.path,
        "provides": artifact.provides,
        "contains": artifact.contains,
        "exports": list(artifact.exports),
        "min_lines": artifact.min_lines,
    }
    return {key: value for key, value in keys.items() if value}


def _link_keys(link: Link) -> dict[str, Value]:
    keys = {"from": link.from_, "to": link.to, "via": link.via, "pattern": link.pattern}
    return {key: value for key, value in keys.items() if value}


def _task_text(task: Task) -> str:
    attributes = f' type="{task.kind}"' + (f' gate="{task.gate}"' if task.gate else "")
    children = dict(task.body) or {
        "name": task.name,
        "precondition": task.precondition,
        "files": ", ".join(task.files),
        "read_first": ", ".join(task.read_first),
        "action": task.action,
        "verify": task.verify,
        "acceptance_criteria": "\n".join(f"- {each}" for each in task.criteria),
        "done": task.done,
    }
    lines = [f"<task{attributes}>"]
    for tag, text in children.items():
        inner = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if tag == "verify" and task.is_automated:
            inner = (
                f"<automated>{task.verify.replace('&', '&amp;').replace('<', '&lt;')}</automated>"
            )
        # On lines of its own, so that a fence in it is closed by a line that is only that.
        around = "\n" if "\n" in inner else ""
        lines += [f"  <{tag}>{around}{inner}{around}</{tag}>"] if text else []
    return "\n".join((*lines, "</task>"))


def _resolved(wanted: str, plan: PlanSheet, known: Mapping[str, str]) -> str:
    """The id that a reference means; what means none of these plans stays as it is."""
    stem = _stem(_named(without_notes(wanted).strip()))
    if stem.casefold() in known:
        return known[stem.casefold()]
    match = _REFERENCE.match(stem)
    if match:
        of = folder_name(match[1]).id
        name = f"{of.padded if of else match[1]}-{int(match[2]):02d}"
        return known.get(name.casefold(), wanted)
    number = stem.casefold().removeprefix(f"{plan.phase.casefold()}-")
    if number.isascii() and number.isdigit() and len(number) <= 4:
        phase = plan.id.rpartition("-")[0]
        return known.get(f"{phase}-{int(number):02d}".casefold(), wanted)
    return wanted


def _named(wanted: str) -> str:
    """The name in words such as `Plan 01-05` or `Phase 1, Plan 2`; other words stay as they are."""
    match = _IN_WORDS.match(wanted)
    if not match:
        return wanted
    return match["name"] or f"{match['phase']}-{match['number']}"


def _stem(name: str) -> str:
    return name.rpartition("/")[2].strip().removesuffix(".md").removesuffix("-PLAN")


def _items(held: object) -> list[object]:
    return held if isinstance(held, list) else []
