"""Finds the tasks of a plan in Markdown that may contain examples of tasks.

Fenced code and comments are blanked before tags are searched, so a `<task>` in an example does
not count. Fences in plans are often nested without a longer mark: a fence with a language opens
another level, and the end of a task or block closes every fence that was opened in it.
"""

import re

from fairlead.core.patterns import lazy_pattern
from fairlead.planphase.errors import PlanField
from fairlead.plans.model import PlanFinding, Severity, Task, TaskKind
from fairlead.text.frontmatter_values import comma_list
from fairlead.text.lines import split_lines
from fairlead.text.printable import JOINERS, visible

CHILDREN = (
    "name|files|read_first|behavior|action|verify|acceptance_criteria|done|precondition"
    "|reversibility|what-built|how-to-verify|resume-signal|decision|context|options"
    "|instructions|verification|implementation|human-check"
)
MAX_TASKS = 200
_MAX_CLOSING_TAGS = 50  # that are tried for a child that quotes its own tag
_OPEN = lazy_pattern(
    r"^[ \t]*<(task|feature)((?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*>", re.MULTILINE
)
_CLOSE = lazy_pattern(r"</(task|feature)>")
_CHILD = lazy_pattern(rf"<({CHILDREN})(?:[ \t][^<>]*)?>")
_FOLLOWS = lazy_pattern(rf"\s*(?:<(?:{CHILDREN})[ \t>]|\Z)")
_BLOCK = lazy_pattern(r"<(/?)(task|context|interfaces|objective)(?=[ >])")
_ATTRIBUTE = lazy_pattern(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_FENCE = lazy_pattern(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\r\n]*)")
_HIDING = ("```", "~~~", "<!--")  # a text without these hides nothing
_ENTITY = lazy_pattern(r"&(lt|gt|quot|apos|amp|#39);")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&", "#39": "'"}
_VISIBLE = lazy_pattern(r"[^\r\n]")
_HEADING = lazy_pattern(r"^#{2,4}[ \t]+Task[ \t]+[0-9]", re.MULTILINE | re.IGNORECASE)
_NUMBERED = lazy_pattern(r"Task ([0-9]{1,4})\b", re.IGNORECASE)


def masked(text: str, start: int = 0) -> str:
    """Replace fenced code and comments by spaces; other characters keep their offsets."""
    parts = [_blank(text[:start])]
    if not any(mark in text for mark in _HIDING):
        return parts[0] + text[start:]
    fences: list[str] = []
    blocks: list[str] = []  # open blocks outside of fences
    inner, in_comment = 0, False
    for line in split_lines(text[start:]):
        bare = line.strip()
        tag = _BLOCK.match(bare)
        if fences and tag and blocks and tag[2] == blocks[-1]:
            inner += -1 if tag[1] else 1
            if inner < 0:  # the block ends, so the fence inside it was never closed
                fences.clear()
        fence = None if in_comment else _FENCE.match(line)
        hidden = bool(fences or in_comment or fence)
        if fence:
            _step(fences, fence)
        elif not fences and (in_comment or bare.startswith("<!--")):
            hidden, in_comment = True, "-->" not in bare
        if tag and not hidden:
            inner = 0
            _enter(blocks, tag, bare)
        parts.append(_blank(line) if hidden else line)
    return "".join(parts)


def _enter(blocks: list[str], tag: re.Match[str], bare: str) -> None:
    if blocks and blocks[-1] == tag[2]:
        blocks.pop()
    if not tag[1] and f"</{tag[2]}>" not in bare:
        blocks.append(tag[2])


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def read_tasks(text: str, mask: str) -> tuple[tuple[Task, ...], tuple[PlanFinding, ...]]:
    """Return the tasks and their faults."""
    tasks: list[Task] = []
    notes: list[PlanFinding] = []
    for opened, end, is_closed in _blocks(mask):
        line = mask.count("\n", 0, opened.start(1)) + 1
        if not is_closed:
            notes.append(PlanFinding(Severity.WARNING, "the task is never closed", line))
        task = _task(text, mask, opened, end, len(tasks) + 1, line)
        tasks.append(task)
        notes += _notes(task, opened[2], line)
    return tuple(tasks), tuple(notes)


def count_headings(mask: str) -> int:
    """Count the tasks that are Markdown headings: `## Task 1`."""
    return len(_HEADING.findall(mask))


def block_text(text: str, mask: str, tag: str) -> str:
    """Return the text of a block such as `<objective>`; empty if there is none."""
    opened = re.search(rf"^[ \t]*<{tag}>", mask, re.MULTILINE)
    end = mask.find(f"</{tag}>", opened.end()) if opened else -1
    return text[opened.end() : end].strip() if opened and end > 0 else ""


def task_number(name: str) -> int | None:
    """Return the number in a task name: `Task 3: …`."""
    match = _NUMBERED.match(name.strip())
    return int(match[1]) if match else None


def plain(text: str) -> str:
    """Resolve the entities and CDATA marks of a text."""
    if "&" not in text and "]]>" not in text and "<![" not in text:
        return text.strip()
    text = text.replace("<![CDATA[", "").replace("]]>", "")
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[1]], text).strip()


def _step(fences: list[str], fence: re.Match[str]) -> None:
    mark, words = fence[1], fence[2].strip()
    if fences and not words and mark.startswith(fences[-1]):
        fences.pop()
    elif not fences or words:
        fences.append(mark)


def _blocks(mask: str) -> list[tuple[re.Match[str], int, bool]]:
    """Return start, end and whether it is closed, for each task.

    An unclosed task ends where the next one begins. A task that begins deeper, inside an open
    `<action>`, is an example.
    """
    opens = list(_OPEN.finditer(mask))
    if len(opens) > MAX_TASKS:
        line = mask.count("\n", 0, opens[MAX_TASKS].start(1)) + 1
        raise PlanField("tasks", f"are more than {MAX_TASKS}", line=line, wanted="fewer tasks")
    marks = sorted([*opens, *_CLOSE.finditer(mask)], key=lambda mark: mark.start())
    has_tasks = any(mark[1] == "task" for mark in opens)
    blocks: list[tuple[re.Match[str], int, bool]] = []
    current: re.Match[str] | None = None
    inside = 0
    for mark in marks:
        is_close = mark[0].startswith("</")
        if mark[1] == "feature" and has_tasks:
            continue
        if current is None:
            current = None if is_close else mark
        elif is_close and inside:
            inside -= 1
        elif is_close:
            blocks.append((current, mark.start(), True))
            current = None
        elif _is_example(mask, current, mark):
            inside += 1
        else:
            blocks.append((current, mark.start(), False))
            current, inside = mark, 0
    if current is not None:
        blocks.append((current, len(mask), False))
    return blocks


def _is_example(mask: str, current: re.Match[str], mark: re.Match[str]) -> bool:
    deeper = mark.start(1) - mark.start() > current.start(1) - current.start()
    before = mask[current.end() : mark.start()]
    return deeper and before.count("<action>") > before.count("</action>")


def _task(text: str, mask: str, opened: re.Match[str], end: int, number: int, line: int) -> Task:
    attributes = _attributes(opened[2])
    children = _children(text, mask, opened.end(), end)
    first = dict(reversed(children))
    kind = _kind(attributes.get("type", ""))
    block = first.get("verify", "")
    automated = [command for each in _automated(block) if (command := plain(each).strip())]
    # An empty element is no command, and neither is the tag itself.
    verify = "\n".join(automated) or ("" if "<automated>" in block else _unfenced(block))
    name = plain(first.get("name", "")) or attributes.get("name", "")
    if not name and kind.is_checkpoint:
        name = "Checkpoint: " + kind.value.partition(":")[2]
    return Task(
        number=number,
        name=visible(" ".join(name.split()), keep=JOINERS),
        kind=kind,
        files=comma_list(plain(first.get("files", ""))),
        action=plain(first.get("action", "") or first.get("implementation", "")),
        verify=verify,
        done=plain(first.get("done", "")),
        criteria=_criteria(plain(first.get("acceptance_criteria", ""))),
        read_first=comma_list(plain(first.get("read_first", ""))),
        precondition=plain(first.get("precondition", "")),
        gate=attributes.get("gate", ""),
        body=tuple((tag, plain(inner)) for tag, inner in children),
        source=text[opened.start(1) - 1 : end].rstrip() + f"\n</{opened[1]}>",
        is_automated=bool(automated),
        line=line,
    )


def _children(text: str, mask: str, start: int, end: int) -> list[tuple[str, str]]:
    """Return the child elements in order; tags inside a child are text."""
    inner = mask[start:end]
    found: list[tuple[str, str]] = []
    absent: set[str] = set()  # closing tags that do not occur any more
    at = 0
    while child := _CHILD.search(inner, at):
        closing = f"</{child[1]}>"
        close = -1 if closing in absent else _closed(inner, closing, child.end())
        at = close + len(closing)
        if close < 0:  # never closed: it ends at the next child
            absent.add(closing)
            following = _CHILD.search(inner, child.end())
            at = close = following.start() if following else len(inner)
        found.append((child[1], text[start + child.end() : start + close]))
    return found


def _closed(inner: str, closing: str, start: int) -> int:
    """Return where a child ends: at the first closing tag before another child, else at the first."""
    first = close = inner.find(closing, start)
    for _ in range(_MAX_CLOSING_TAGS):
        if close < 0 or _FOLLOWS.match(inner, close + len(closing)):
            break
        close = inner.find(closing, close + 1)
    else:
        return first
    return close if close >= 0 else first


def _attributes(text: str) -> dict[str, str]:
    return {name: plain(one or other) for name, one, other in _ATTRIBUTE.findall(text)}


def _kind(word: str) -> TaskKind:
    if word in tuple(TaskKind):
        return TaskKind(word)
    # An unknown checkpoint is left to a person.
    return TaskKind.HUMAN_ACTION if word.startswith("checkpoint") else TaskKind.AUTO


def _notes(task: Task, attributes: str, line: int) -> list[PlanFinding]:
    notes = []
    kind = _attributes(attributes).get("type", "")
    if kind.startswith("checkpoint") and kind not in tuple(TaskKind):
        notes.append(PlanFinding(Severity.ERROR, f"{kind!r} is not a kind of checkpoint", line))
    elif kind and kind not in tuple(TaskKind):
        notes.append(PlanFinding(Severity.WARNING, f"type {kind!r} is read as auto", line))
    number = task_number(task.name)
    if number is not None and number != task.number:
        what = f"{task.name!r} is task {task.number} of its plan"
        notes.append(PlanFinding(Severity.WARNING, what, line))
    return notes


def _automated(verify: str) -> list[str]:
    """Return the commands of a verify block that are marked as automated."""
    parts = (part.partition("</automated>") for part in verify.split("<automated>")[1:])
    return [inner for inner, end, _ in parts if end]


def _unfenced(verify: str) -> str:
    """Return the command of a verify block, without a fence around it."""
    lines = plain(verify).splitlines()
    if len(lines) > 2 and _FENCE.match(lines[0]) and not lines[-1].strip().strip("`~"):
        lines = lines[1:-1]
    return "\n".join(lines).strip()


def _criteria(text: str) -> tuple[str, ...]:
    lines = (line.strip() for line in text.splitlines())
    return tuple(line.removeprefix("- ").removeprefix("[ ] ").strip() for line in lines if line)
