"""A mistyped command gets the right suggestion, at every level.

The typos come from two seeded generators that share nothing with the suggester or each other: they
damage the names of the command tree in different ways, and take the words that other tools use from
lists of their own.
"""

import json
import random
from collections.abc import Callable, Iterator

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


# Commands of other tools that have an equivalent here, and every command that is a good answer.
OF_NEIGHBOURS = """
log: job list, job watch, status
diff: check
revert: undo
reset: undo, planning reset
restore: undo
stash: pause
blame: explain
reflog: undo
rm: phase remove
gc: state prune
fsck: check, doctor
tag: milestone complete
describe: explain, phase show
clone: init, new
audit-fix: debug, doctor
audit-milestone: milestone complete, phase verify
audit-uat: phase verify
add-tests: phase verify
code-review: phase verify
cleanup: state prune
explore: new, phase discuss
fast: quick
forensics: debug, check
inbox: capture
ingest-docs: new
manager: status
map-codebase: phase plan, init
milestone-summary: status, milestone list
mvp-phase: phase plan
onboard: help, demo
quick-batch: quick, run
review: phase verify, planning review
secure-phase: phase verify
ship: milestone complete
spec-phase: phase discuss, phase plan
spike: quick, debug
thread: capture
validate-phase: phase verify
/gsd:next: next
add-phase: phase add
list-phase-assumptions: phase discuss
research-phase: phase plan
plan-milestone-gaps: phase plan, milestone new
clarify: phase discuss
plan: phase plan
checklist: phase verify
taskstoissues: planning export
/speckit.implement: phase execute
speckit-plan: phase plan
draft: capture
browser: serve
instructions: help
task-create: capture
task-list: phase plans, phase list
task-view: phase show
task-archive: phase complete, milestone complete
milestones: milestone list
completions: completion
sequence: phase plans
close: phase complete
remove-task: phase remove
validate: check
propose: new
apply: phase execute
archive: milestone complete
compact: state prune
rewind: undo
ps: job list
attach: job watch
stop: job cancel, pause
web: serve
dag: graph
webhook: notify
rehearse: rehearsal
"""
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


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


def near_key(letter: str, chance: random.Random) -> str:
    """A key beside, above or below the key of a letter."""
    places = [(row, keys.index(letter)) for row, keys in enumerate(ROWS) if letter in keys]
    keys = [
        ROWS[row + down][at + right]
        for row, at in places
        for down, right in ((0, -1), (0, 1), (-1, 0), (1, 0))
        if 0 <= row + down < len(ROWS) and 0 <= at + right < len(ROWS[row + down])
    ]
    return chance.choice(keys) if keys else letter


def keystrokes(name: str, chance: random.Random) -> Iterator[str]:
    """What fingers make of a name: each key may come late, fail, bounce or hit its neighbour."""
    keys = list(name)
    slip = chance.randrange(len(keys))
    kind = chance.choice(["late", "failed", "bounced", "beside", "brushed"])
    for at, key in enumerate(keys):
        if at != slip:
            yield key
        elif kind == "late" and at + 1 < len(keys):
            yield keys[at + 1]
            keys[at + 1] = key
        elif kind in ("bounced", "brushed"):
            yield key
            yield key if kind == "bounced" else near_key(key, chance)
        elif kind == "beside":
            yield near_key(key, chance)


def plural(name: str) -> str:
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def typed_lines(seed: int, count: int) -> Iterator[tuple[list[str], str, tuple[str, ...]]]:
    """The second generator: keys that slip, plurals, and the commands of neighbours.

    Half of the commands are those of the top level, as in a first hour.
    """
    chance = random.Random(f"keys {seed}")
    table = [line.rpartition(": ") for line in OF_NEIGHBOURS.split("\n") if line]
    top = [path for path in PATHS if " " not in path]
    for number in range(count):
        if number % 4 == 0:
            word, _, meant = chance.choice(table)
            yield [], word, tuple(meant.split(", "))
            continue
        groups: list[str] = []
        word = path = ""
        while not word or " ".join((*groups, word)) in PATHS:
            path = chance.choice(top if number % 2 else PATHS)
            *groups, name = path.split()
            word = plural(name) if number % 4 == 2 else "".join(keystrokes(name, chance))
        yield groups, word, (path,)


def is_right(groups: list[str], word: str, meant: tuple[str, ...]) -> bool:
    first = suggestions([word], groups, PATHS)[:1]
    # `phases` may be answered with `phase list`: the group, and what the plural asks for.
    return any(found == path or found.startswith(f"{path} ") for found in first for path in meant)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("generated", [typos, typed_lines])
def test_of_200_typos_at_least_190_get_the_right_suggestion(
    generated: Callable[[int, int], Iterator[tuple[list[str], str, tuple[str, ...]]]], seed: int
) -> None:
    cases = list(generated(seed, 200))
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
        ("task view", "did you mean: fairlead phase show"),
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


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("rehearsal shwo", "fairlead rehearsal show"),
        ("notify tset", "fairlead notify test"),
        ("cluster stauts", "fairlead cluster status"),
        ("status --jsn", "fairlead status --json"),
        ("--vesion", "fairlead --version"),
        ("install cladue", "fairlead install claude"),
        ("explain progres", "fairlead explain progress"),
        ("graph --format svgg", "fairlead graph --format svg"),
        ("config set fairlead.budget.run_usd -1", "fairlead config set -- …"),
    ],
)
def test_a_mistyped_subcommand_option_or_value_is_suggested_as_a_whole_command(
    fairlead: Fairlead, words: str, meant: str
) -> None:
    done = fairlead(*words.split(), "--json")
    assert done.exit_code == 2
    error = json.loads(done.stdout)["error"]
    assert error["hint"].startswith(f"did you mean: {meant}")
    assert "mean" not in error["message"]
    assert "{" not in error["message"]
