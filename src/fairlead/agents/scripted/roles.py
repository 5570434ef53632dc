"""The answers of the scripted agent in the roles of workflows.

The first plans of a phase lack a connection, which the plan checker finds; the revised plans have
it. The debugger is not sure in its first round and knows the cause in its second. Every plan
creates small files and is proven by a command that could fail.
"""

import json
import os
import re

_OUTPUT = "fairlead-output"
_ID = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")


class RolePrompt:
    """The parts of a prompt for a role."""

    def __init__(self, text: str) -> None:
        found = re.search(r"^Role: ([\w-]+)(.*)$", text, re.MULTILINE)
        self.role = found[1] if found else ""
        self.line = found[2] if found else ""
        nonces = re.findall(r'"nonce": "([^"]+)"', text)
        self.nonce = nonces[-1] if nonces else ""
        self.text = text

    def piece(self, name: str) -> str:
        """A framed section of the prompt, without its frame."""
        found = re.search(
            rf"^\[\[{name} (\w+)\n(.*?)^{name} \1\]\]$", self.text, re.MULTILINE | re.DOTALL
        )
        lines = found[2].splitlines() if found else []
        return "\n".join(line.removeprefix("| ") for line in lines)

    def headings(self) -> "list[str]":
        """The indented headings of the document form in the prompt."""
        return re.findall(r"^    (#{1,3} .+)$", self.text, re.MULTILINE)


def answer(text: str) -> str:
    """The answer to a prompt for a role; empty if this script does not know the role."""
    prompt = RolePrompt(text)
    quick = re.search(r"^Role: planner · Quick task (\S+)", text, re.MULTILINE)
    if quick:
        return _quick_plan(prompt, quick[1])
    respond = _ROLES.get(prompt.role)
    return respond(prompt) if respond else ""


def _document(prompt: RolePrompt, name: str = "") -> str:
    """Write a document in the form of the prompt, with a sentence in every section."""
    file_name = name or _first(rf"`{_OUTPUT}/([\w.*-]+)`", prompt.text)
    subject = _first(r"\*\*Goal\*\*: (.+)", prompt.piece("phase")) or "the goal"
    lines = []
    for heading in prompt.headings():
        lines += [heading, ""]
        if heading.startswith("## File Classification"):
            lines += [
                "| New/Modified File | Role | Data Flow | Closest Analog | Match Quality |",
                "|---|---|---|---|---|",
                "| `part.py` | module | call | none | none |",
                "",
            ]
        if not heading.startswith("# "):
            title = heading.lstrip("# ").removesuffix(" (RESOLVED)")
            lines += [f"{title}, looked at for {subject.strip()} [ASSUMED].", ""]
    _write(file_name, "\n".join(lines))
    return _block(prompt, {"status": "done", "reason": ""})


def _plan(prompt: RolePrompt) -> str:
    phase = _first(r"Phase (\S+)", prompt.line)
    padded = _first(r"`" + _OUTPUT + r"/([\w.]+)-\*-PLAN\.md`", prompt.text)
    folder = _first(r"^    phase: (\S+)$", prompt.text)
    section = prompt.piece("phase")
    ids = _ID.findall(_first(r"\*\*Requirements\*\*: (.+)", section))
    requirements = list(dict.fromkeys(ids))
    criteria = re.findall(r"^\s*[0-9]+\. (.+)$", section, re.MULTILINE)
    decisions = list(dict.fromkeys(re.findall(r"\*\*(D-\d+)", prompt.piece("context"))))
    first = int(_first(r"begin with (\d+)", prompt.piece("numbering")) or 1)
    count = 2 if len(requirements) > 1 else 1
    for at in range(count):
        number = first + at
        plan = {
            "phase": folder,
            "home": "phase_" + re.sub(r"\W", "_", phase),
            "name": f"part_{number}",
            "number": str(number),
            "wave": str(at + 1),
            "before": f'"{padded}-{number - 1:02d}"' if at else "",
            "ids": ", ".join(requirements[at::count]),
            "truths": "\n".join(
                f'    - "{criterion}"'
                for criterion in criteria[at::count] or [f"part_{number} works"]
            ).replace("\\", ""),
            "reason": f" This carries out {', '.join(decisions)}." if decisions and not at else "",
            "links": _LINKS.rstrip() if prompt.piece("faults") else "  key_links: []",
        }
        text = _PLAN.replace("{links}", plan.pop("links"))
        for key, value in plan.items():
            text = text.replace("{" + key + "}", value)
        _write(f"{padded}-{number:02d}-PLAN.md", text)
    return _block(prompt, {"status": "done", "reason": ""})


_LINKS = """\
  key_links:
    - from: tests/test_{home}_{name}.py
      to: {home}/{name}.py
      via: "it is imported and called"
      pattern: "from {home}.{name} import"
"""
_PLAN = """\
---
phase: {phase}
plan: {number}
type: execute
wave: {wave}
depends_on: [{before}]
files_modified: [{home}/{name}.py, tests/test_{home}_{name}.py]
autonomous: true
requirements: [{ids}]
must_haves:
  truths:
{truths}
  artifacts:
    - path: {home}/{name}.py
      provides: "what goes in comes out again, in order"
      contains: "def {name}"
{links}
---

<objective>
{name}: what is given to it comes back in order, and a test shows it.
</objective>

<tasks>
<task type="auto">
  <name>Task 1: Write {name} and its test</name>
  <files>{home}/{name}.py, tests/test_{home}_{name}.py</files>
  <action>Write the function and the test that calls it.{reason}
  In {home}/{name}.py write:
    def {name}(values):
        kept = []
        for value in values:
            kept.append(value)
        return sorted(kept)
  In tests/test_{home}_{name}.py write:
    import unittest

    from {home}.{name} import {name}


    class Shown(unittest.TestCase):
        def test_what_goes_in_comes_out_in_order(self):
            self.assertEqual({name}([3, 1, 2]), [1, 2, 3])

        def test_nothing_comes_of_nothing(self):
            self.assertEqual({name}([]), [])
  </action>
  <verify><automated>python3 -B -m unittest tests/test_{home}_{name}.py</automated></verify>
  <done>{name} gives back in order what it is given</done>
</task>
</tasks>
"""


def _quick_plan(prompt: RolePrompt, name: str) -> str:
    folder = _first(r"^ +phase: (\S+)", prompt.text) or name
    request = _first(r"^\| (.*)", prompt.text.partition("[[request ")[2]) or "the task"
    plain = re.sub(r"[^\w .,-]", " ", request).strip()[:80] or "the task"
    text = _QUICK_PLAN.format(folder=folder, path=f"notes/{name}.md", plain=plain)
    _write(f"{name}-PLAN.md", text)
    return _block(prompt, {"status": "done", "reason": ""})


def _debug(prompt: RolePrompt) -> str:
    if _first(r"round (\d+)", prompt.line) == "1":
        tried = {"hypothesis": "the file is empty", "test": "looked at it", "evidence": "it is not"}
        return _block(
            prompt,
            {
                "status": "inconclusive",
                "hypotheses": [{**tried, "result": "refuted"}],
                "next_action": "look at what is written first",
            },
        )
    seen = {"hypothesis": "the note is missing", "test": "looked for it", "evidence": "none"}
    return _block(
        prompt,
        {
            "status": "root_cause",
            "hypotheses": [{**seen, "result": "confirmed"}],
            "root_cause": "notes/fault.md:1 does not say what is wanted",
            "fix": "write the note",
            "files": ["notes/fault.md"],
            "verify": "grep -q 'the fault is named' notes/fault.md",
        },
    )


_QUICK_PLAN = """\
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


def _check(prompt: RolePrompt) -> str:
    plans = prompt.piece("plans")
    unconnected = re.findall(
        r"^plan: (\d+)$(?:(?!^---$).)*?^  key_links: \[\]$", plans, re.MULTILINE | re.DOTALL
    )
    issues = [
        {
            "plan": number,
            "task": 1,
            "dimension": "links",
            "severity": "blocker",
            "description": "nothing connects what the plan makes with who uses it",
            "fix_hint": "name the connection among the key_links",
        }
        for number in unconnected
    ]
    return _block(prompt, {"verdict": "ISSUES" if issues else "PASSED", "issues": issues})


def _criticise(prompt: RolePrompt) -> str:
    remark = {
        "severity": "info",
        "where": "the phase",
        "objection": "what comes after it is not thought of",
        "settled_by": "the next phase",
    }
    return _block(prompt, {"verdict": "SOUND", "objections": [remark]})


def _assume(prompt: RolePrompt) -> str:
    phase = _first(r"Phase (\S+)", prompt.line)
    area = {
        "name": "Shape of the result",
        "question": "Is the result a library or a command?",
        "assumption": "a library, since nothing else is there",
        "why": "the folder holds no command line",
        "if_wrong": "a command has to be added later",
        "confidence": "likely",
    }
    other = {**area, "name": "Errors", "question": "What happens with a wrong value?"}
    return _block(
        prompt,
        {
            "boundary": f"phase {phase}, and nothing beyond its goal",
            "areas": [area, other],
            "insights": ["README.md is where people begin"],
            "references": ["README.md"],
            "deferred": [],
        },
    )


def _advise(prompt: RolePrompt) -> str:
    scores = {"fit": 4, "simplicity": 5, "risk": 4, "reversibility": 5}
    plain = {"name": "the plain way", "pros": "little to go wrong", "cons": "less to offer"}
    rich = {"name": "the rich way", "pros": "more to offer", "cons": "more to go wrong"}
    options = [{**plain, "scores": scores}, {**rich, "scores": {**scores, "simplicity": 2}}]
    reason = "it can be changed later, and less can go wrong"
    return _block(prompt, {"options": options, "recommended": "the plain way", "rationale": reason})


def _product_manager(prompt: RolePrompt) -> str:
    """First questions about the idea, then requirements."""
    idea = " ".join(prompt.piece("idea").split()).rstrip(".!? ") or "a thing"
    title = re.split(r"[.!?;:] ", idea)[0]  # the first sentence
    title = title[:1].upper() + title[1:]
    core = f"People have {idea}"
    if "questions" in prompt.line:
        topic = {"topic": "users", "question": "Who uses it?", "options": ["one person", "a team"]}
        answer = {"title": title, "what_this_is": f"{idea}.", "core_value": core}
        return _block(prompt, {**answer, "questions": [topic]})
    requirements = [
        ("CORE-01", "Core", "A user can give a value and get it back", "v1"),
        ("CORE-02", "Core", "A user can use what they got back", "v1"),
        ("MORE-01", "More", "A user can do the same with a second value", "v1"),
        ("MORE-02", "More", "A user can look at earlier values", "v2"),
    ]
    return _block(
        prompt,
        {
            "what_this_is": f"{idea}.",
            "core_value": core,
            "context": ["It begins from nothing"],
            "constraints": [{"type": "Tech", "what": "Python alone", "why": "it is there"}],
            "requirements": [
                {"id": name, "category": category, "text": text, "when": when}
                for name, category, text, when in requirements
            ],
            "out_of_scope": [{"feature": "A web page", "reason": "nobody asked for it"}],
            "decisions": [{"decision": "Begin small", "rationale": "less can go wrong"}],
        },
    )


def _roadmap(prompt: RolePrompt) -> str:
    """A roadmap with one phase per category of requirements."""
    title = _first(r"^    # Roadmap: (.+)$", prompt.text)
    number = int(_first(r"Number the phases from (\d+)", prompt.text) or 1)
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(
        re.findall(r"^([A-Z][A-Z0-9]*-[0-9]+):", prompt.piece("project"), re.MULTILINE)
    ):
        groups.setdefault(name.partition("-")[0], []).append(name)
    phases = [
        (number + at, word.capitalize(), ids) for at, (word, ids) in enumerate(groups.items())
    ]
    lines = [f"# Roadmap: {title}", "", "## Overview", "", "Step by step.", "", "## Phases", ""]
    lines += [f"- [ ] **Phase {at}: {name}** - {name} works" for at, name, _ in phases]
    lines += ["", "## Phase Details", ""]
    for at, name, ids in phases:
        before = f"Phase {at - 1}" if at > number else "Nothing (first phase)"
        lines += [
            f"### Phase {at}: {name}",
            "",
            f"**Goal**: {name} works for a user",
            f"**Depends on**: {before}",
            f"**Requirements**: [{', '.join(ids)}]",
            "**Risk**: LOW - little is new",
            "**Success Criteria** (what must be TRUE):",
            "",
            *(f"  {n}. {each} can be seen to work" for n, each in enumerate(ids, 1)),
            "",
            "**Plans**: TBD",
            "",
        ]
    lines += ["## Progress", "", "| Phase | Plans Complete | Status | Completed |"]
    lines += ["|-------|----------------|--------|-----------|"]
    lines += [f"| {at}. {name} | 0/TBD | Not started | - |" for at, name, _ in phases]
    _write("ROADMAP.md", "\n".join(lines) + "\n")
    return _block(prompt, {"status": "done", "reason": ""})


def _write(name: str, text: str) -> None:
    os.makedirs(_OUTPUT, exist_ok=True)
    with open(os.path.join(_OUTPUT, os.path.basename(name)), "w", encoding="utf-8") as file:
        file.write(text)


def _block(prompt: RolePrompt, answer: "dict[str, object]") -> str:
    block = json.dumps({"nonce": prompt.nonce, **answer}, indent=2, ensure_ascii=False)
    return f"This is what I found.\n\n```json\n{block}\n```\n"


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


_ROLES = {
    "phase-researcher": _document,
    "pattern-mapper": _document,
    "project-researcher": _document,
    "research-synthesizer": _document,
    "planner": _plan,
    "plan-checker": _check,
    "debugger": _debug,
    "pm": _product_manager,
    "critic": _criticise,
    "roadmapper": _roadmap,
    "assumptions-analyzer": _assume,
    "advisor-researcher": _advise,
}
