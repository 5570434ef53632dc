"""The script of the roles that plan, research and advise; loaded by the scripted program alone.

Like that program it knows nothing but the prompt and the folder. Its first plans lack a
connection, which its checker finds; revised, they have it.
"""

import json
import os
import re

_OUTPUT = "fairlead-output"
_ID = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")


class Asked:
    """What a prompt says."""

    def __init__(self, text: str) -> None:
        found = re.search(r"^Role: ([\w-]+)(.*)$", text, re.MULTILINE)
        self.role = found[1] if found else ""
        self.line = found[2] if found else ""
        nonces = re.findall(r'"nonce": "([^"]+)"', text)
        self.nonce = nonces[-1] if nonces else ""
        self.text = text

    def piece(self, name: str) -> str:
        """A piece of data from between its marks, without the bars."""
        found = re.search(
            rf"^\[\[{name} (\w+)\n(.*?)^{name} \1\]\]$", self.text, re.MULTILINE | re.DOTALL
        )
        lines = found[2].splitlines() if found else []
        return "\n".join(line.removeprefix("| ") for line in lines)

    def headings(self) -> "list[str]":
        """The form that the prompt shows: its indented headings."""
        return re.findall(r"^    (#{1,3} .+)$", self.text, re.MULTILINE)


def answer(text: str) -> str:
    """The answer to a prompt for a role; empty where the role has no part in this script."""
    asked = Asked(text)
    play = _PLAYS.get(asked.role)
    return play(asked) if play else ""


def _document(asked: Asked, name: str = "") -> str:
    """A document in the form that the prompt shows, every section with a sentence in it."""
    wanted = name or _first(rf"`{_OUTPUT}/([\w.*-]+)`", asked.text)
    subject = _first(r"\*\*Goal\*\*: (.+)", asked.piece("phase")) or "the goal"
    lines = []
    for heading in asked.headings():
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
    _write(wanted, "\n".join(lines))
    return _block(asked, {"status": "done", "reason": ""})


def _plan(asked: Asked) -> str:
    phase = _first(r"Phase (\S+)", asked.line)
    padded = _first(r"`" + _OUTPUT + r"/([\w.]+)-\*-PLAN\.md`", asked.text)
    folder = _first(r"^    phase: (\S+)$", asked.text)
    told = asked.piece("phase")
    wanted = list(dict.fromkeys(_ID.findall(_first(r"\*\*Requirements\*\*: (.+)", told))))
    criteria = re.findall(r"^\s*[0-9]+\. (.+)$", told, re.MULTILINE)
    decisions = list(dict.fromkeys(re.findall(r"\*\*(D-\d+)", asked.piece("context"))))
    first = int(_first(r"begin with (\d+)", asked.piece("numbering")) or 1)
    count = 2 if len(wanted) > 1 else 1
    for at in range(count):
        number = first + at
        plan = {
            "phase": folder,
            "home": "phase_" + re.sub(r"\W", "_", phase),
            "name": f"part_{number}",
            "number": str(number),
            "wave": str(at + 1),
            "before": f'"{padded}-{number - 1:02d}"' if at else "",
            "ids": ", ".join(wanted[at::count]),
            "truths": "\n".join(
                f'    - "{each}"' for each in criteria[at::count] or [f"part_{number} works"]
            ).replace("\\", ""),
            "told": f" This carries out {', '.join(decisions)}." if decisions and not at else "",
            "links": _LINKS.rstrip() if asked.piece("faults") else "  key_links: []",
        }
        text = _PLAN.replace("{links}", plan.pop("links"))
        for key, value in plan.items():
            text = text.replace("{" + key + "}", value)
        _write(f"{padded}-{number:02d}-PLAN.md", text)
    return _block(asked, {"status": "done", "reason": ""})


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
  <action>Write the function and the test that calls it.{told}
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


def _check(asked: Asked) -> str:
    plans = asked.piece("plans")
    loose = re.findall(
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
        for number in loose
    ]
    return _block(asked, {"verdict": "ISSUES" if issues else "PASSED", "issues": issues})


def _doubt(asked: Asked) -> str:
    remark = {
        "severity": "info",
        "where": "the phase",
        "objection": "what comes after it is not thought of",
        "settled_by": "the next phase",
    }
    return _block(asked, {"verdict": "SOUND", "objections": [remark]})


def _assume(asked: Asked) -> str:
    phase = _first(r"Phase (\S+)", asked.line)
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
        asked,
        {
            "boundary": f"phase {phase}, and nothing beyond its goal",
            "areas": [area, other],
            "insights": ["README.md is where people begin"],
            "references": ["README.md"],
            "deferred": [],
        },
    )


def _advise(asked: Asked) -> str:
    scores = {"fit": 4, "simplicity": 5, "risk": 4, "reversibility": 5}
    plain = {"name": "the plain way", "pros": "little to go wrong", "cons": "less to offer"}
    rich = {"name": "the rich way", "pros": "more to offer", "cons": "more to go wrong"}
    options = [{**plain, "scores": scores}, {**rich, "scores": {**scores, "simplicity": 2}}]
    told = "it can be changed later, and less can go wrong"
    return _block(asked, {"options": options, "recommended": "the plain way", "rationale": told})


def _wish(asked: Asked) -> str:
    """The product manager: first what is meant, then what is wanted."""
    idea = " ".join(asked.piece("idea").split())[:120] or "a thing"
    title = " ".join(re.findall(r"[A-Za-z]+", idea)[:3]).capitalize() or "Thing"
    core = f"People have {idea}"
    if "questions" in asked.line:
        topic = {"topic": "users", "question": "Who uses it?", "options": ["one person", "a team"]}
        answer = {"title": title, "what_this_is": f"{idea}.", "core_value": core}
        return _block(asked, {**answer, "questions": [topic]})
    wanted = [
        ("CORE-01", "Core", "A user can give a value and get it back", "v1"),
        ("CORE-02", "Core", "A user can use what they got back", "v1"),
        ("MORE-01", "More", "A user can do the same with a second value", "v1"),
        ("MORE-02", "More", "A user can look at earlier values", "v2"),
    ]
    return _block(
        asked,
        {
            "what_this_is": f"{idea}.",
            "core_value": core,
            "context": ["It begins from nothing"],
            "constraints": [{"type": "Tech", "what": "Python alone", "why": "it is there"}],
            "requirements": [
                {"id": name, "category": category, "text": text, "when": when}
                for name, category, text, when in wanted
            ],
            "out_of_scope": [{"feature": "A web page", "reason": "nobody asked for it"}],
            "decisions": [{"decision": "Begin small", "rationale": "less can go wrong"}],
        },
    )


def _map_out(asked: Asked) -> str:
    """A roadmap with a phase for each category of requirements."""
    title = _first(r"^    # Roadmap: (.+)$", asked.text)
    number = int(_first(r"Number the phases from (\d+)", asked.text) or 1)
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(
        re.findall(r"^([A-Z][A-Z0-9]*-[0-9]+):", asked.piece("project"), re.MULTILINE)
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
    return _block(asked, {"status": "done", "reason": ""})


def _write(name: str, text: str) -> None:
    os.makedirs(_OUTPUT, exist_ok=True)
    with open(os.path.join(_OUTPUT, os.path.basename(name)), "w", encoding="utf-8") as file:
        file.write(text)


def _block(asked: Asked, answer: "dict[str, object]") -> str:
    told = json.dumps({"nonce": asked.nonce, **answer}, indent=2, ensure_ascii=False)
    return f"This is what I found.\n\n```json\n{told}\n```\n"


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


_PLAYS = {
    "phase-researcher": _document,
    "pattern-mapper": _document,
    "project-researcher": _document,
    "research-synthesizer": _document,
    "planner": _plan,
    "plan-checker": _check,
    "pm": _wish,
    "critic": _doubt,
    "roadmapper": _map_out,
    "assumptions-analyzer": _assume,
    "advisor-researcher": _advise,
}
