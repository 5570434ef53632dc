"""The script of everyday work: how a rehearsal plans a quick task and looks for a fault.

It answers from the prompt alone. The debugger is not sure at first and knows the cause in its
second round; both plans change one small file and are proven by a command that could fail.
"""

import json
import os
import re

_OUTPUT = "fairlead-output"


def answer(text: str) -> str:
    """What is said to a prompt of everyday work; empty if it is none."""
    quick = re.search(r"^Role: planner · Quick task (\S+)", text, re.MULTILINE)
    debug = re.search(r"^Role: debugger .*round (\d+)", text, re.MULTILINE)
    if quick:
        return _planned(text, quick[1])
    return _debugged(text, int(debug[1])) if debug else ""


def _planned(text: str, name: str) -> str:
    folder = _first(r"^ +phase: (\S+)", text) or name
    wanted = _first(r"^\| (.*)", text.partition("[[request ")[2]) or "the task"
    plain = re.sub(r"[^\w .,-]", " ", wanted).strip()[:80] or "the task"
    path = f"notes/{name}.md"
    os.makedirs(_OUTPUT, exist_ok=True)
    with open(f"{_OUTPUT}/{name}-PLAN.md", "w", encoding="utf-8") as file:
        file.write(_PLAN.format(folder=folder, path=path, plain=plain))
    return _block(text, {"status": "done", "reason": ""})


def _debugged(text: str, number: int) -> str:
    if number == 1:
        tried = {"hypothesis": "the file is empty", "test": "looked at it", "evidence": "it is not"}
        return _block(
            text,
            {
                "status": "inconclusive",
                "hypotheses": [{**tried, "result": "refuted"}],
                "next_action": "look at what is written first",
            },
        )
    seen = {"hypothesis": "the note is missing", "test": "looked for it", "evidence": "none"}
    return _block(
        text,
        {
            "status": "root_cause",
            "hypotheses": [{**seen, "result": "confirmed"}],
            "root_cause": "notes/fault.md:1 does not say what is wanted",
            "fix": "write the note",
            "files": ["notes/fault.md"],
            "verify": "grep -q 'the fault is named' notes/fault.md",
        },
    )


_PLAN = """\
---
phase: {folder}
plan: 1
type: execute
wave: 1
depends_on: []
files_modified: [{path}]
autonomous: true
requirements: []
must_haves:
  truths:
    - "{plain}"
---

<objective>
{plain}
</objective>

<tasks>
<task type="auto">
  <name>Task 1: {plain}</name>
  <files>{path}</files>
  <action>Write down what is wanted.</action>
  <verify><automated>grep -q "{plain}" {path}</automated></verify>
  <done>{path} says it</done>
</task>
</tasks>
"""


def _block(text: str, answer: "dict[str, object]") -> str:
    nonce = re.findall(r'"nonce": "([^"]+)"', text)[-1:]
    held = json.dumps({"nonce": "".join(nonce), **answer}, indent=2, ensure_ascii=False)
    return f"Done.\n\n```json\n{held}\n```\n"


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""
