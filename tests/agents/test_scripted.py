"""The scripted agent: it carries out small plans, stumbles as its script says, and judges."""

import json
import subprocess
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.model import EndKind, FileChanged
from tests.support.agents import an_order, called

NONCE = "n0nce-for-this-call"
RESULT = {"nonce": NONCE, "status": "success | failure | blocked", "task_name": "Task 1: Greet"}
VERDICT = {"nonce": NONCE, "verdict": "APPROVED | REJECTED", "task_name": "Task 1: Greet"}


def framed(name: str, text: str) -> str:
    return "\n".join(
        (f"[[{name} abcd1234", *(f"| {each}" for each in text.splitlines()), f"{name} abcd1234]]")
    )


def a_prompt(files, verify, *, plan="04-02", attempt=1, earlier="", answer=RESULT) -> str:
    task = f"<task type='auto'>\n<name>Task 1: Greet</name>\n<files>{files}</files>\n"
    task += (
        f"<action>Write it.</action>\n<verify>{verify}</verify>\n<done>It greets.</done>\n</task>"
    )
    retry = framed("earlier", f"This is attempt {attempt}.\n{earlier}") if attempt > 1 else ""
    template = "```json\n" + json.dumps(answer, indent=2) + "\n```\n"
    place = f"Plan {plan} · attempt {attempt}"
    return f"You are it.\n{retry}\n{place}\n\n{framed('task', task)}\n\nEnd so:\n\n{template}"


def asked(folder: Path, prompt: str, **more):
    return called(registry.agent("scripted"), an_order(folder, prompt=prompt, **more))


def answer_of(call) -> dict:
    assert call.ending.kind is EndKind.OK, call.ending
    return json.loads(call.ending.text.split("```json\n")[1].removesuffix("\n```\n"))


@pytest.mark.parametrize(
    ("files", "verify"),
    [
        ("a.md", "test -f a.md"),
        (
            "src/greet.py",
            "python3 -c 'import sys; sys.path.insert(0, \"src\"); from greet import hello'",
        ),
        ("docs/b.txt, c.json", "grep -q 'hello, world' docs/b.txt && python3 -m json.tool c.json"),
        ("run.sh", "test -s run.sh && sh run.sh"),
    ],
)
def test_a_small_plan_passes_its_own_verify_command(files, verify, tmp_path):
    call = asked(tmp_path, a_prompt(files, verify))

    assert answer_of(call)["status"] == "success"
    assert [e.path for e in call.events if isinstance(e, FileChanged)] == files.split(", ")
    assert subprocess.run(["sh", "-c", verify], cwd=tmp_path / "work").returncode == 0


def test_the_first_task_fails_its_verify_then_the_review_then_passes(tmp_path):
    work, seen = tmp_path / "work", []
    for attempt, earlier in ((1, ""), (2, "VERIFY_FAILURE"), (3, "ARCHITECT_REJECTION")):
        fields = {"plan": "04-01", "attempt": attempt, "earlier": earlier}
        asked(tmp_path, a_prompt("a.md", "test -f a.md", **fields))
        review = asked(tmp_path, a_prompt("a.md", "test -f a.md", **fields, answer=VERDICT))
        seen.append(((work / "a.md").exists(), answer_of(review)["verdict"]))
        (work / "a.md").unlink(missing_ok=True)

    assert seen == [(False, "REJECTED"), (True, "REJECTED"), (True, "APPROVED")]


def test_after_a_rejection_the_work_is_done_at_once(tmp_path):
    fields = {"plan": "04-01", "attempt": 2, "earlier": "ARCHITECT_REJECTION"}
    asked(tmp_path, a_prompt("a.md", "true", **fields))

    review = asked(tmp_path, a_prompt("a.md", "true", **fields, answer=VERDICT))

    assert answer_of(review)["verdict"] == "APPROVED"


def test_the_same_prompt_has_the_same_answer(tmp_path):
    prompt = a_prompt("a.md, b.py", "grep -q x a.md")
    first, second = tmp_path / "1", tmp_path / "2"
    answers = []
    for folder in (first, second):
        folder.mkdir()
        call = asked(folder, prompt)
        answers.append((call.ending.text, (folder / "work" / "b.py").read_text()))

    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "path", ["../out.txt", "/etc/x", ".planning/STATE.md", ".git/config", "~/x"]
)
def test_it_writes_nothing_outside_its_folder_nor_our_documents(path, tmp_path):
    asked(tmp_path, a_prompt(path, "true"))

    assert sorted(each.name for each in tmp_path.rglob("*") if each.is_file()) == [
        "prompt.txt",
        "stderr.log",
        "stdout.log",
    ]


def test_a_prompt_without_a_task_is_answered(tmp_path):
    call = asked(tmp_path, "Answer with the word ready.")

    assert (call.ending.kind, call.ending.text, call.ending.cost_usd) == (EndKind.OK, "ready", 0)
