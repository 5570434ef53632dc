"""Reads and writes PLAN.md in both grammars.

The reader accepts the variants of real plans: lists in one line or many, `plan: 08`, tasks with
or without `<tasks>` around them. Frontmatter that cannot be read exactly is an error with its
line, because the declarations of a plan decide which files its tasks may change.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from fairlead.core.errors import Located
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.plans.model import (
    Artifact,
    Link,
    MustHaves,
    PlanDocument,
    PlanFinding,
    Severity,
    Task,
)
from fairlead.plans.task_boxes import without_ticks
from fairlead.plans.tasks import block_text, count_headings, masked, read_tasks
from fairlead.plans.waves import PlanNode
from fairlead.project.naming import folder_name, plan_id
from fairlead.text.document import Document, conflict_line
from fairlead.text.errors import ConflictMarkers
from fairlead.text.frontmatter_values import list_of, text_of, whole_number, without_notes
from fairlead.text.printable import JOINERS, visible
from fairlead.text.yaml_emit import Value, block_lines
from fairlead.text.yaml_subset import read_tree

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
CHECK = "plan_check"  # the key with the result of the plan check
_NUMBER = lazy_pattern(r"(?:.*[-_ ])?([0-9]{1,4})\Z")
_REFERENCE = lazy_pattern(r"(?:.*/)?([0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)-([0-9]{1,4})(?:-.*)?\Z")


# A plan named in words. A dot between two numbers may also mean an inserted phase.
_IN_WORDS = lazy_pattern(
    r"(?:phase +(?P<phase>[^\s,:]+)[,:]? +plan +(?P<number>[0-9]{1,4})|plan +(?P<name>\S+))\Z",
    re.IGNORECASE,
)


def read_plan(path: str, text: str) -> PlanDocument:
    """Read a plan; raise a `DocumentError` with file name and line if it cannot be read exactly."""
    with Located(path):
        return _read(path, text)


def nodes_of(
    plans: Iterable[PlanDocument],
    *,
    done: Collection[str] = (),
    halted: Collection[str] = (),
    provider: str = "",
) -> tuple[PlanNode, ...]:
    """Return the plans as graph nodes, with references resolved to plan ids."""
    plans = tuple(plans)
    known = {_stem(plan.path).casefold(): plan.id for plan in plans}
    known |= {plan.id.casefold(): plan.id for plan in plans}
    return tuple(
        PlanNode(
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


def digest_of(text: str) -> str:
    """Return the sha256 of a plan with unticked boxes: ticking must not void an approval."""
    unticked = without_ticks(text)
    return hashlib.sha256(unticked.encode("utf-8", "surrogateescape")).hexdigest()


def new_plan(plan: PlanDocument) -> str:
    """Return the text of a new plan; reading it returns the same plan."""
    haves = plan.must_haves
    front: dict[str, Value] = {
        "phase": plan.phase,
        "plan": plan.number,
        "type": plan.kind,
        "wave": plan.wave or 1,
        "depends_on": list(plan.depends_on),
        "files_modified": list(plan.files),
        "autonomous": plan.autonomous,
        "requirements": list(plan.requirements),
    }
    if plan.deleted:
        front["files_deleted"] = list(plan.deleted)
    if plan.gap_closure:
        front["gap_closure"] = True
        front |= {"gap_ids": list(plan.gap_ids)} if plan.gap_ids else {}
    if plan.estimate_tokens is not None:
        front["estimate"] = {"tokens": plan.estimate_tokens}
    must_haves: dict[str, Value] = {
        "truths": [
            {"statement": each, "verification": "backstop"} if each in haves.backstops else each
            for each in haves.truths
        ],
        "artifacts": [_artifact_keys(each) for each in haves.artifacts],
        "key_links": [_link_keys(each) for each in haves.links],
    }
    if haves.judged:
        must_haves["prohibitions"] = [{"statement": each} for each in haves.judged]
    front["must_haves"] = must_haves
    tasks = "\n\n".join(_task_text(task) for task in plan.tasks)
    return "\n".join(
        (
            "---",
            *block_lines(front, 0),
            "---",
            "",
            f"<objective>\n{plan.objective}\n</objective>",
            "",
            f"<tasks>\n\n{tasks}\n\n</tasks>",
            "",
        )
    )


def _read(path: str, text: str) -> PlanDocument:
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
    objective = block_text(text, mask, "objective") or text_of(front, "objective")
    return PlanDocument(
        id=identity,
        phase=text_of(front, "phase") or folder,
        number=number,
        kind=text_of(front, "type") or "execute",
        wave=whole_number(text_of(front, "wave")),
        depends_on=list_of(front, "depends_on", "depends-on"),
        files=list_of(front, "files_modified", "files-modified"),
        deleted=list_of(front, "files_deleted", "files-deleted"),
        autonomous=text_of(front, "autonomous").casefold() not in ("false", "no"),
        requirements=list_of(front, "requirements"),
        must_haves=_must_haves(front.get("must_haves")),
        objective=visible(objective, keep=f"\r\n\t{JOINERS}"),
        tasks=tuple(_with_digests(tasks)),
        gap_closure=text_of(front, "gap_closure").casefold() == "true",
        gap_ids=list_of(front, "gap_ids"),
        digest=digest_of(text),
        estimate_tokens=whole_number(text_of(estimate, "tokens"))
        if isinstance(estimate, dict)
        else None,
        path=path,
        task_count=len(tasks) or count_headings(mask),
        is_superseded=text_of(front, "status").casefold() == "superseded",
        notes=(*odd, *_invalid_dependencies(front), *notes),
        check=text_of(front, CHECK).casefold(),
        is_rehearsed=text_of(front, "rehearsed").casefold() == "true",
    )


def _with_digests(tasks: Iterable[Task]) -> Iterator[Task]:
    """Add the digest of all tasks up to each: a changed task changes all digests after it."""
    digest = ""
    for task in tasks:
        digest = digest_of(f"{digest}\n{task.source}")
        yield replace(task, digest=digest)


def _number(front: Mapping[str, object], identity: str) -> tuple[int, list[PlanFinding]]:
    """Return the number of a plan by its file name, and contradictions in the frontmatter."""
    notes = []
    missing = [key for key in REQUIRED if key not in front and key.replace("_", "-") not in front]
    if missing:
        what = f"the frontmatter lacks {', '.join(missing)}"
        notes.append(PlanFinding(Severity.ERROR, what, 1))
    in_name, in_front = _NUMBER.match(identity), _NUMBER.match(text_of(front, "plan"))
    by_name = int(in_name[1]) if in_name else None
    by_front = int(in_front[1]) if in_front else None
    if by_name is not None and by_front is not None and by_name != by_front:
        what = f"the frontmatter says plan {by_front}, the file name {identity}"
        notes.append(PlanFinding(Severity.WARNING, what, 1))
    return by_name if by_name is not None else by_front or 0, notes


def _invalid_dependencies(front: Mapping[str, object]) -> Iterator[PlanFinding]:
    """Yield entries of `depends_on` that name no plan: nothing would wait for them."""
    value = front.get("depends_on", front.get("depends-on"))
    for entry in value if isinstance(value, list) else [value]:
        is_path = isinstance(entry, dict) and text_of(entry, "path")
        if entry and isinstance(entry, list | dict) and not is_path:
            what = f"depends_on contains {json.dumps(entry)}, which names no plan"
            yield PlanFinding(Severity.WARNING, what, 1)


def _must_haves(value: object) -> MustHaves:
    if not isinstance(value, dict):
        return MustHaves()
    return MustHaves(
        tuple(_statement(each) for each in _items(value.get("truths"))),
        tuple(_artifact(each) for each in _items(value.get("artifacts"))),
        tuple(_link(each) for each in _items(value.get("key_links"))),
        tuple(
            text_of(each, "statement")
            for each in _items(value.get("truths"))
            if isinstance(each, dict) and text_of(each, "verification") == "backstop"
        ),
        tuple(_statement(each) for each in _items(value.get("prohibitions"))),
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
        whole_number(text_of(item, "min_lines")) or 0,
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
        # On separate lines, so that a fence inside is closed by a line of its own.
        around = "\n" if "\n" in inner else ""
        lines += [f"  <{tag}>{around}{inner}{around}</{tag}>"] if text else []
    return "\n".join((*lines, "</task>"))


def _resolved(wanted: str, plan: PlanDocument, known: Mapping[str, str]) -> str:
    """Return the plan id that a reference means; an unknown reference is returned unchanged."""
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
    """Return the plan name in `Plan 01-05` or `Phase 1, Plan 2`; other texts unchanged."""
    match = _IN_WORDS.match(wanted)
    if not match:
        return wanted
    return match["name"] or f"{match['phase']}-{match['number']}"


def _stem(name: str) -> str:
    return name.rpartition("/")[2].strip().removesuffix(".md").removesuffix("-PLAN")


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []
