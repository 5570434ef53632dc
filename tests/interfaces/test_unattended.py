"""Unattended runs: without a policy every question waits, and an answer continues the job."""

import shlex
from pathlib import Path

import pytest

from tests.support.journey import Journey, a_journey


def answered(journey: Journey, *words: str) -> list[str]:
    """Run a workflow, give the first answer to each question, and return the questions."""
    asked: list[str] = []
    for _ in range(20):
        done = journey.run(*words, "--json")
        if done.returncode == 0:
            return asked
        assert done.returncode == 6, f"{words}: {done.stdout}{done.stderr}"
        (waits,) = waiting(journey) if words[0] == "new" else journey.do("next")["waiting"]
        asked.append(waits["question"])
        again = journey.do("job", "answer", waits["job"], first_option(waits["command"]))
        words = tuple(shlex.split(again["next"])[1:])
    raise AssertionError(f"{words} asks without end: {asked}")


def waiting(journey: Journey) -> list[dict[str, str]]:
    """The waiting question in a folder without documents."""
    jobs = journey.do("job", "list")["jobs"]
    shown = journey.do("job", "show", jobs[-1]["id"])
    asked = next(question for question in shown["questions"] if not question["answer"])
    command = f'fairlead job answer {jobs[-1]["id"]} "{asked["options"][0]}"'
    return [{"job": jobs[-1]["id"], "question": asked["text"], "command": command}]


def first_option(command: str) -> str:
    return command.rpartition(' "')[2].rstrip('"')


@pytest.mark.walk
def test_questions_of_new_and_discuss_can_be_answered_later(
    tmp_path: Path,
) -> None:
    journey = a_journey(tmp_path)
    assert len(answered(journey, "new", "A tracker for tickets")) >= 3
    assert len(answered(journey, "phase", "discuss", "1")) >= 1
    assert answered(journey, "quick", "Greet people") != []
    assert journey.run("check").returncode == 0
