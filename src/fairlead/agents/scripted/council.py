"""The answers of the scripted agent as PM, seat and synthesiser of a council.

In the first round one seat asks for a change; when the revision answers it, all approve. The plan
is small and executable: a notes file and a checklist that name the goal, each with a verify
command.
"""

import re

_ITEM = "the plan does not say how its work is taken back when it turns out to be wrong"


def answer(text: str) -> str:
    """The answer to a prompt of a council; empty for any other prompt."""
    first = text.partition("\n")[0]
    seat = re.match(r"You hold the (\w+) seat", first)
    if "synthesiser of a council" in first:
        return _master_plan(text)
    if seat and "Vote on the master plan" in text:
        return _ballot(text, seat[1])
    if seat:
        return _plan(text, seat[1])
    if "project manager of a council" not in first:
        return ""
    for name, respond in _PASSES.items():
        if f"pass: {name}" in first:
            return respond(text)
    return ""


def _refined(text: str) -> str:
    goal = _goal(text)
    return (
        f"## Goal\n{goal}\n\n## Scope\n- in: notes on the goal, and a list to check it by\n"
        "- out: anything that needs a network\n\n## Constraints\n- plain files only\n\n"
        "## Requirements\n"
        f"- R1: the goal is written down\n  - criterion: `notes/goal.md` exists and names the goal\n"
        "- R2: it can be checked\n  - criterion: `notes/checks.md` exists and lists 1 check or more\n\n"
        "## Open questions\nNone\n"
    )


def _audited(text: str) -> str:
    lines = _framed(text, "files").splitlines()
    files = [line for line in lines if line and " " not in line and line[0] != "("]
    exists = f"- {files[0]}: the project as it is" if files else "None"
    return (
        f"## What exists\n{exists}\n\n"
        "## Touched\n- notes/goal.md: is new\n- notes/checks.md: is new\n\n"
        "## Risks\n- notes/goal.md: says less than was asked\n\n## Conflicts\nNone\n\n"
        "## Gaps\n- G1: whether a folder for notes is there already\n"
    )


def _researched(_: str) -> str:
    return (
        "## Answers\n- G1: it is made where it is missing | source: the list of files | "
        "confidence: high\n\n## Findings\n"
        "- a file that is verified by a command cannot be claimed | source: the brief | "
        "confidence: high\n"
    )


def _verified(text: str) -> str:
    nonce = _first(r"^VERIFY (\S+): OK$", text)
    return f"None\n\nVERIFY {nonce}: OK\n"


_PASSES = {
    "refine the request": _refined,
    "audit what": _audited,
    "research the gaps": _researched,
    "verify the brief": _verified,
}


def _plan(text: str, seat: str) -> str:
    goal = _goal(text)
    return (
        f"## Summary\nSeen by the {seat}: write the goal down, then a list to check it by.\n\n"
        "## Approach\nTwo small files, made one after the other, each verified by a command that "
        "fails while its file is missing. Nothing that exists is changed.\n\n"
        f"## Steps\n1. notes/goal.md, verified by `test -f notes/goal.md`: it names {goal}\n"
        "2. notes/checks.md, verified by `test -f notes/checks.md`: it lists one check or more\n\n"
        f"## Risks\n- the {seat} sees none that two files could not bear\n\n"
        "## Test plan\n- both commands, once more, after the merge\n\n## Open questions\nNone\n"
    )


def _master_plan(text: str) -> str:
    goal = _goal(text)
    items = re.findall(r"^([a-z]+-\d+)\b", _framed(text, "items"), re.MULTILINE)
    undo = " Each step is one commit, so that a revert takes it back." if items else ""
    rows = "".join(f"| {item} | changed | step 1 says how it is taken back |\n" for item in items)
    answers = f"\n## Answers\n| id | answer | reason |\n|---|---|---|\n{rows}" if items else ""
    return (
        f"# Notes on {_short(goal)}\n\n## Goal\n{goal}{undo}\n\n"
        "## Requirements\n| id | requirement | steps |\n|---|---|---|\n"
        "| R1 | the goal is written down | 1 |\n| R2 | it can be checked | 2 |\n\n"
        "## Decisions\n- two plain files | rejected: one long one | from: A, B\n\n"
        "## Steps\n\n### Wave 1\n\n#### Step 1: write the goal down\n- files: notes/goal.md\n"
        f"- action: Write notes/goal.md; it says what is wanted.{undo}\n"
        "- verify: `test -f notes/goal.md`\n- done: notes/goal.md names the goal\n"
        "- requirements: R1\n\n### Wave 2\n\n#### Step 2: list what to check\n"
        "- files: notes/checks.md\n- action: Write notes/checks.md with one check or more.\n"
        "- verify: `test -f notes/checks.md`\n- done: notes/checks.md lists one check or more\n"
        "- requirements: R2\n\n"
        "## Tests\n- `test -f notes/goal.md` and `test -f notes/checks.md`\n\n"
        "## Risks\n- a file is left out | answer: its verify command fails\n\n"
        "## Dissent\n- a third file with examples | from: C | why: nobody asked for it\n"
        f"{answers}"
    )


def _ballot(text: str, seat: str) -> str:
    nonce = _first(r"^VERDICT (\S+): VETO$", text)
    if seat == "operator" and "a revert takes it back" not in _framed(text, "plan"):
        return f"- [ops] step 1: {_ITEM} | say that each step is one commit\n\nVERDICT {nonce}: REVISE\n"
    return f"The plan covers what the {seat} looks for.\n\nVERDICT {nonce}: APPROVE\n"


def _goal(text: str) -> str:
    """The goal, from the request itself or from the brief."""
    request = _framed(text, "request")
    if request:
        return " ".join(request.split())
    brief = _framed(text, "brief") or _framed(text, "refined")
    found = re.search(r"^## Goal\n+(.+)", brief, re.MULTILINE)
    return found[1].strip() if found else "the goal"


def _short(goal: str) -> str:
    words = re.sub(r"[^\w ]+", " ", goal).split()
    return " ".join(words[:6]).lower() or "the goal"


def _first(pattern: str, text: str) -> str:
    found = re.findall(pattern, text, re.MULTILINE)
    return found[-1] if found else ""


def _framed(text: str, name: str) -> str:
    """A framed section of the prompt, without its frame."""
    found = re.search(rf"^\[\[{name} (\S+)\n(.*?)^{name} \1\]\]$", text, re.MULTILINE | re.DOTALL)
    lines = found[2].splitlines() if found else []
    return "\n".join(line.removeprefix("| ") for line in lines)
