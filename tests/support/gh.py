"""A scripted `gh`: a real program on PATH that keeps its issues in a folder and fails on request.

The program reads its fault from a file beside itself, because the product passes only a reduced
environment to other programs.
"""

import json
import os
from pathlib import Path

from tests.support.programs import interpreter

SCRIPT = """#!{python} -IS
import json, os, sys, time
sys.dont_write_bytecode = True
home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
def read(name):
    try:
        return open(os.path.join(home, name)).read().split()
    except FileNotFoundError:
        return []
def leave(text, code):
    sys.stderr.write(text + "\\n")
    sys.exit(code)
words = sys.argv[1:]
with open(os.path.join(home, "calls"), "a") as calls:
    calls.write(json.dumps(words) + "\\n")
fault, *details = read("fault") or [""]
issues = os.path.join(home, "issues")
numbers = sorted(int(name) for name in os.listdir(issues))
if fault == "hangs":
    time.sleep(3600)
if fault == "not-logged-in":
    leave("To get started with GitHub CLI, please run:  gh auth login", 4)
if words[:2] == ["issue", "list"]:
    assert "--label" not in words and "--search" not in words, "an index that is late"
    if fault == "odd-list":
        sys.exit(print("<html>"))
    most = int(words[words.index("--limit") + 1])
    wanted = words[words.index("--json") + 1].split(",")
    found = [json.load(open(os.path.join(issues, str(number)))) for number in numbers[::-1][:most]]
    sys.exit(print(json.dumps([{{key: each[key] for key in wanted}} for each in found])))
if words[:2] != ["issue", "create"]:
    leave("unknown command", 1)
if fault == "hangs-at-create":
    time.sleep(3600)
body = sys.stdin.read()
labels = [words[at + 1] for at, word in enumerate(words) if word == "--label"]
if fault == "no-label" and set(details) & set(labels):
    leave("could not add label: '" + (set(details) & set(labels)).pop() + "' not found", 1)
if fault == "fails-at" and len(numbers) + 1 >= int(details[0]):
    leave("HTTP 502: bad gateway", 1)
if fault == "late":
    os.kill(os.getppid(), 9)
    time.sleep(1)
number = max(numbers, default=40) + 1
issue = dict(number=number, title=words[words.index("--title") + 1], body=body, labels=labels,
             createdAt="2026-01-02T03:04:05Z")
whole = os.path.join(home, "writing-" + str(os.getpid()))
with open(whole, "w") as file:
    json.dump(issue, file)
os.rename(whole, os.path.join(issues, str(number)))
if fault == "kills-its-parent":
    os.kill(os.getppid(), 9)
if fault == "silent":
    sys.exit(print("done"))
print("https://github.com/somebody/something/issues/" + str(number))
"""


class ScriptedGh:
    """The program, its issues and its current fault."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "bin"

    @classmethod
    def put(cls, home: Path) -> "ScriptedGh":
        """Install it in a folder of its own."""
        gh = cls(home)
        gh.folder.mkdir(parents=True)
        (home / "issues").mkdir()
        program = gh.folder / "gh"
        program.write_text(SCRIPT.format(python=interpreter()), "utf-8")
        program.chmod(0o755)
        return gh

    @property
    def path(self) -> str:
        """A PATH that starts with its folder."""
        return f"{self.folder}{os.pathsep}/usr/local/bin:/usr/bin:/bin"

    def has(self, fault: str) -> None:
        """Set the fault; an empty one removes it."""
        (self.home / "fault").write_text(fault, "utf-8")

    def issues(self) -> list[dict[str, object]]:
        """All issues, the oldest first."""
        files = sorted((self.home / "issues").iterdir(), key=lambda file: int(file.name))
        return [json.loads(file.read_text("utf-8")) for file in files]

    def calls(self, *verb: str) -> list[list[str]]:
        """The arguments of every call."""
        log = self.home / "calls"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        called = [json.loads(line) for line in lines]
        return [words for words in called if words[: len(verb)] == list(verb)]
