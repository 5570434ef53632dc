"""Documents of real projects, damaged at random, and the permitted outcomes.

Either the command works and every unrelated line survives, or it is refused with a message, a hint
and a correct exit code, and every byte stays. Content that cannot be represented (invalid UTF-8,
conflict markers) is never rewritten.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.project.state.documents import Decision
from tests.support.corpus import CORPUS
from tests.support.documents import mutated
from tests.support.programs import fairlead, run
from tests.support.subjects import FINISHED, PROJECT, product_subjects
from tests.support.trees import Tree, documents, read_tree

MAIN = ("STATE.md", "ROADMAP.md", "REQUIREMENTS.md", "PROJECT.md", "config.json")
MOST_FOLDERS = 2  # phases per project; more would only take longer
TRUE_CODES = frozenset({2, 3, 4, 6})
ENTRY = "an entry that must be there"
A_REAL_COMMAND_EVERY = 250

Damage = Callable[[bytes, Random], bytes]
Verb = Callable[[App], object]


def _bytes_changed(content: bytes, random: Random) -> bytes:
    damaged = bytearray(content or b"x")
    for _ in range(random.randint(1, 8)):
        damaged[random.randrange(len(damaged))] = random.randrange(256)
    return bytes(damaged)


def _text_changed(content: bytes, random: Random) -> bytes:
    return mutated(content.decode("utf-8", "replace"), random).encode("utf-8", "surrogatepass")


def _inserted(*pieces: bytes) -> Damage:
    def insert(content: bytes, random: Random) -> bytes:
        lines = content.splitlines(keepends=True)
        lines.insert(random.randrange(len(lines) + 1), random.choice(pieces))
        return b"".join(lines)

    return insert


def _marked(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    end = min(len(lines), start + random.randrange(5))
    theirs = [b"=======\n", b"theirs\n", b">>>>>>> theirs\n"]
    return b"".join([*lines[:start], b"<<<<<<< ours\n", *lines[start:end], *theirs, *lines[end:]])


DAMAGES: tuple[Damage, ...] = (
    _bytes_changed,
    _text_changed,
    _text_changed,
    _marked,
    _inserted(b"\0\n", b"caf\xe9\n", b"\xff\xfe\n", b"\xed\xa0\x80\n", b"\xc2\x85\n"),
    _inserted(b"---\n", b"...\n", b"--- \n", b"```\n", b"~~~~\n", b"<details>\n", b"<!--\n"),
    _inserted(b"status: a\n", b"progress:\n", b"  percent: 7\n", b"a: &x [*x]\n", b"t: !!set {}\n"),
    _inserted(b"[" * 300 + b"\n", b"- " * 200 + b"x\n", b"x" * 70_000 + b"\n", b"|" * 500 + b"\n"),
    lambda content, random: content[: random.randrange(len(content) + 1)],
    lambda content, random: content[random.randrange(len(content) + 1) :],
    lambda content, random: content.replace(b"\n", random.choice([b"\r\n", b"\r", b"\n\n"])),
    lambda content, random: random.choice([b"\xef\xbb\xbf", b"\n", b" "]) + content,
    lambda content, _: content.decode("utf-8", "replace").encode("utf-16"),
    lambda _, random: random.randbytes(random.choice([0, 1, 64, 4096])),
    lambda content, random: content * random.randint(2, 3),
)

VERBS: dict[str, Verb] = {
    "status": lambda app: app.overview.status(),
    "check": lambda app: app.doctor.repairs(),
    "doctor": lambda app: app.doctor.fix(),
    "add-decision": lambda app: app.memory.add_decision(Decision("1", ENTRY, "")),
    "add-blocker": lambda app: app.events.blocker_added(ENTRY),
    "sync": lambda app: app.events.sync(),
    "set": lambda app: app.events.set_value("Status", ENTRY),
    "pause": lambda app: app.events.paused(ENTRY),
    "begin-phase": lambda app: app.events.execution_started("1"),
    "phase-add": lambda app: app.phases.add(ENTRY),
}
READING = frozenset({"status", "check"})
ADDING = frozenset({"add-decision", "add-blocker"})


@dataclass(frozen=True, slots=True)
class Source:
    """A copy of a project to be damaged, and its content."""

    folder: Path
    tree: Tree
    names: tuple[str, ...]


def sources(scratch: Path) -> list[Source]:
    """Copies of the corpus, and a generated project, which is all a clean clone has."""
    product_subjects()["add-decision"].prepare(scratch / "own")
    generated_project = scratch / "own" / PROJECT
    for path, text in FINISHED.items():
        (generated_project / path).parent.mkdir(parents=True, exist_ok=True)
        (generated_project / path).write_text(text, "utf-8")
    folders = [generated_project]
    for planning in sorted(CORPUS.glob("*/.planning")):
        folders.append(scratch / "corpus" / planning.parent.name)
        _copy_the_main_part(planning, folders[-1] / ".planning")
    return [_source(folder) for folder in folders]


def _copy_the_main_part(planning: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in planning.iterdir():
        if path.is_file() and path.suffix in {".md", ".json"}:
            shutil.copy(path, target)
    for phase in sorted(planning.glob("phases/*"))[:MOST_FOLDERS]:
        if phase.is_dir():
            shutil.copytree(phase, target / "phases" / phase.name, symlinks=True)


def _source(folder: Path) -> Source:
    tree = documents(read_tree(folder))
    names = [name for name in tree if name.endswith((".md", ".json")) and tree[name]]
    main = [f".planning/{name}" for name in MAIN if f".planning/{name}" in tree]
    # Half of the damage goes to the main documents.
    return Source(folder, tree, (*names, *main * (1 + len(names) // max(1, len(main)))))


def try_mutation(projects: list[Source], seed: int, number: int) -> str:
    """Damage one document of one project, run one command, check the result, restore everything."""
    random = Random(f"{seed}/{number}")
    source = random.choice(projects)
    name = random.choice(source.names)
    damaged = random.choice(DAMAGES)(source.tree[name], random)
    verb = random.choice(list(VERBS))
    place = source.folder / name
    place.write_bytes(damaged)
    before = {**source.tree, name: damaged}
    try:
        if number % A_REAL_COMMAND_EVERY == 0:
            faults = _by_command(source.folder, before)
        else:
            faults = _in_process(source.folder, verb, before)
    finally:
        _put_back(source)
    return "; ".join(
        f"{verb} with a damaged {source.folder.name}/{name}: {fault}" for fault in faults
    )


def judged(before: Tree, after: Tree, verb: str, *, is_refused: bool) -> list[str]:
    """The faults in the files after a command that worked or was refused."""
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    if is_refused or verb in READING:
        return [f"{name} was changed" for name in changed]
    faults = [
        f"{name} cannot be represented, and was rewritten"
        for name in changed
        if not _is_representable(before.get(name, b""))
    ]
    if verb in ADDING:
        if not any(ENTRY.encode() in after[name] for name in changed if name in after):
            faults.append("success, and the entry is not there")
        # Entries may move to the archive as list items, so all changed files are compared together.
        lines_before, lines_after = (
            Counter(line for name in changed for line in tree.get(name, b"").splitlines())
            for tree in (before, after)
        )
        gone = lines_before - lines_after
        kept = b"\n".join(after.get(name, b"") for name in changed)
        missing = [line for line in gone if not _may_go(line) and line.strip() not in kept]
        faults += [f"the line {line!r:.100} is gone" for line in missing]
    return faults


def _in_process(folder: Path, verb: str, before: Tree) -> list[str]:
    try:
        VERBS[verb](App(str(folder)))
    except FairleadError as error:
        after = documents(read_tree(folder))
        return _poor_refusal(error) + judged(before, after, verb, is_refused=True)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
        return [f"{type(error).__name__}: {error}"]
    return judged(before, documents(read_tree(folder)), verb, is_refused=False)


def _by_command(folder: Path, before: Tree) -> list[str]:
    words = ("state", "add-decision", "--phase", "1", "--summary", ENTRY, "--json")
    done = run(fairlead().command(folder, *words))
    after = documents(read_tree(folder))
    faults = judged(before, after, "add-decision", is_refused=done.code != 0)
    if "Traceback" in done.text or done.code not in {0, *TRUE_CODES}:
        faults.append(f"the command: {done.describe()}")
    if done.code and (f'"exit_code": {done.code}' not in done.text or not done.errors):
        faults.append(f"exit code, JSON and message disagree: {done.describe()}")
    return faults


def _poor_refusal(error: FairleadError) -> list[str]:
    if error.exit_code not in TRUE_CODES:
        return [f"exit code {error.exit_code} for a damaged document: {error}"]
    return [] if error.message and error.hint else [f"a refusal without a hint: {error}"]


def _is_representable(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    lines = content.splitlines()
    marks = (b"<<<<<<< ", b">>>>>>> ")
    return not all(any(line.startswith(mark) for line in lines) for mark in marks)


def _may_go(line: bytes) -> bool:
    """Whether an entry may replace this line: a placeholder, or a timestamp."""
    words = line.strip(b"-*_() \t\r").lower()
    return words.startswith((b"last", b"updated")) or (
        len(words) < 40 and (not words or words.startswith((b"none", b"no ", b"keine")))
    )


def _put_back(source: Source) -> None:
    now = documents(read_tree(source.folder))
    for name in {*now, *source.tree}:
        if now.get(name) != source.tree.get(name):
            place = source.folder / name
            place.unlink(missing_ok=True)
            if name in source.tree:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(source.tree[name])
    shutil.rmtree(source.folder / ".planning" / ".fairlead", ignore_errors=True)


def private_home(scratch: Path) -> None:
    """Point this process at a scratch home, because the product reads the user's settings there."""
    os.environ["XDG_CONFIG_HOME"] = str(scratch / "home" / "config")
