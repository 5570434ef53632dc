"""Unattended: without a policy every question waits as a record, and an answer goes on."""

import shlex
from pathlib import Path

from tests.support.journey import Journey, a_journey


def answered(journey: Journey, *words: str) -> list[str]:
    """A workflow, gone on with as told after each first answer; the questions it asked."""
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
    """What waits in a folder that has no documents yet."""
    held = journey.do("job", "list")["jobs"]
    shown = journey.do("job", "show", held[-1]["id"])
    asked = next(each for each in shown["questions"] if not each["answer"])
    command = f'fairlead job answer {held[-1]["id"]} "{asked["options"][0]}"'
    return [{"job": held[-1]["id"], "question": asked["text"], "command": command}]


def first_option(command: str) -> str:
    return command.rpartition(' "')[2].rstrip('"')


def test_each_question_of_a_new_project_and_its_discussion_can_be_answered_later(
    tmp_path: Path,
) -> None:
    journey = a_journey(tmp_path)
    assert len(answered(journey, "new", "A desk for tickets")) >= 3
    assert len(answered(journey, "phase", "discuss", "1")) >= 1
    assert answered(journey, "quick", "Greet people") != []
    assert journey.run("check").returncode == 0
