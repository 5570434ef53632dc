"""A mistyped command gets the right suggestion, at every level.

The typos come from a seeded generator that shares nothing with the suggester: it damages the names
of the command tree, and takes the words that other tools use from a list of its own.
"""

import json
import random
from collections.abc import Iterator

import click
import pytest

from fairlead.interfaces.cli.lazy_group import command_paths
from fairlead.interfaces.cli.main import cli
from fairlead.interfaces.cli.neighbour_names import NEIGHBOUR_NAMES
from fairlead.interfaces.cli.suggestions import suggestions
from tests.conftest import Fairlead

PATHS = list(command_paths(cli, click.Context(cli, info_name="fairlead")))
WANTED = 190
# What people know from elsewhere, and the commands that do it here.
FROM_ELSEWHERE = {
    "plan-phase": ("phase plan",),
    "/gsd-execute-phase": ("phase execute",),
    "gsd:discuss-phase": ("phase discuss",),
    "verify-work": ("phase verify",),
    "new-project": ("new", "init"),
    "add-todo": ("capture",),
    "pause-work": ("pause",),
    "resume-work": ("resume",),
    "new-milestone": ("milestone new",),
    "complete-milestone": ("milestone complete",),
    "insert-phase": ("phase insert",),
    "remove-phase": ("phase remove",),
    "progress": ("status",),
    "health": ("check", "doctor"),
    "settings": ("config list", "config"),
    "ready": ("next",),
    "specify": ("new",),
    "/speckit.clarify": ("phase discuss",),
    "tasks": ("phase plans",),
    "implement": ("phase execute",),
    "analyze": ("check", "roadmap analyze"),
    "constitution": ("planning start",),
    "board": ("board", "status"),
    "overview": ("status",),
    "decision": ("state add-decision",),
    "parse-prd": ("new",),
    "expand": ("phase plan",),
    "stats": ("status",),
    "blocked": ("roadmap analyze", "state add-blocker"),
    "jobs": ("job list", "job"),
    "logs": ("job watch",),
    "kill": ("job cancel",),
    "revert": ("undo",),
    "login": ("doctor agents",),
    "agents": ("doctor agents",),
    "council": ("run",),
    "execute": ("phase execute",),
    "autonomous": ("run",),
}


def damaged(name: str, chance: random.Random) -> str:
    """A name with one or two mistakes of a person who types quickly."""
    at = chance.randrange(len(name) - 1)
    match chance.choice(["swap", "omit", "plural", "double", "swap and omit"]):
        case "swap":
            return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        case "omit":
            return name[:at] + name[at + 1 :]
        case "plural":
            return f"{name}es" if name.endswith("s") else f"{name}s"
        case "double":
            return name[:at] + name[at] + name[at:]
        case _ if len(name) > 6:
            swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
            gone = (at + 3) % len(swapped)
            return swapped[:gone] + swapped[gone + 1 :]
        case _:
            return name[:at] + name[at + 1 :]


def typos(seed: int, count: int) -> Iterator[tuple[list[str], str, tuple[str, ...]]]:
    """Groups before the word, the word, and the commands of which one was meant."""
    chance = random.Random(seed)
    elsewhere = sorted(FROM_ELSEWHERE)
    for number in range(count):
        if number % 5 == 4:
            word = chance.choice(elsewhere)
            yield [], word, FROM_ELSEWHERE[word]
            continue
        while True:
            path = chance.choice(PATHS)
            *groups, name = path.split()
            word = damaged(name, chance)
            if " ".join((*groups, word)) not in PATHS:
                break
        yield groups, word, (path,)


def is_right(groups: list[str], word: str, meant: tuple[str, ...]) -> bool:
    first = suggestions([word], groups, PATHS)[:1]
    # `phases` may be answered with `phase list`: the group, and what the plural asks for.
    return any(found == path or found.startswith(f"{path} ") for found in first for path in meant)


@pytest.mark.parametrize("seed", range(2))
def test_of_200_typos_at_least_190_get_the_right_suggestion(seed: int) -> None:
    cases = list(typos(seed, 200))
    wrong = [
        (*each, suggestions([each[1]], each[0], PATHS)) for each in cases if not is_right(*each)
    ]
    assert len(cases) - len(wrong) >= WANTED, wrong


def test_a_suggestion_is_a_command_that_exists() -> None:
    for target in NEIGHBOUR_NAMES:
        assert target in PATHS, target


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("statsu", "did you mean: fairlead status"),
        ("phase exectue 3", "did you mean: fairlead phase execute 3"),
        ("phases", "did you mean: fairlead phase list"),
        ("stat add-decision", "did you mean: fairlead state add-decision"),
        ("help phase exectue", "did you mean: fairlead phase execute"),
        ("config remove fairlead.slots", "did you mean: fairlead config unset fairlead.slots"),
        ("xyzzy-plugh", "see: fairlead --help"),
    ],
)
def test_an_unknown_command_ends_with_code_2_and_a_hint(
    fairlead: Fairlead, typed: str, hint: str
) -> None:
    done = fairlead(*typed.split())
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"  → {hint}")
    document = json.loads(fairlead(*typed.split(), "--json").stdout)
    assert document["error"]["code"] == "usage"
    assert document["error"]["hint"].startswith(hint)


def test_a_word_that_resembles_nothing_gets_no_suggestion() -> None:
    assert suggestions(["xyzzy-plugh"], [], PATHS) == []
    assert suggestions(["--"], [], PATHS) == []
