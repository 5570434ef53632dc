"""Small real packages, and a model that builds them in two plans, the way agents do.

The model of a package makes a mistake first, so that a verify command fails. It corrects it and
runs the command itself, leaves one file that its plan does not declare and names, and one that it
does not name. In the second plan it asks a person before it writes anything.
"""

import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.model_server import Call, Request, Turn
from tests.support.real_agents import answer_of, command_call
from tests.support.repositories import a_repository

QUESTION = "Should the output be in upper or in lower case?"
NAMED, UNNAMED = "NOTES.md", "scratch.txt"  # undeclared files
_PLACE = re.compile(r"/[^\s\"'`]*/worktrees/[\w.-]+")
_RESULT = re.compile(r'"(?:type|role)": ?"(?:tool_result|function_call_output|tool)"')


@dataclass(frozen=True, slots=True)
class Package:
    """A package and the work that its two plans ask for."""

    files: Mapping[str, str]
    first: Mapping[str, str]  # the files of the first plan
    mistaken: tuple[str, str]  # what stands in place of the right text at the first attempt
    second: Mapping[str, str]
    verify: tuple[str, str]  # the command of each plan
    settings: Mapping[str, str]
    prepare: Callable[[Path], None] = lambda _: None

    def project(self, folder: Path) -> Path:
        """The package as a project with two plans, committed."""
        plans = {
            "01-01": _plan("01-01", self.first, self.verify[0], ""),
            "01-02": _plan("01-02", self.second, self.verify[1], "01-01"),
        }
        documents = {f".planning/phases/01-work/{id_}-PLAN.md": text for id_, text in plans.items()}
        prepared = folder.with_name("prepared")
        prepared.mkdir()
        self.prepare(prepared)
        made = {path.relative_to(prepared).as_posix(): path for path in prepared.rglob("*")}
        a_repository(folder, {**_PLANNING, **self.files, **documents})
        for name, path in made.items():
            if path.is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / name)
        for words in (["add", "--all"], ["commit", "-q", "--allow-empty", "-m", "the package"]):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
        return folder

    def model(self, request: Request) -> Turn:
        """The next turn of the model, in any role and at any attempt."""
        said = request.conversation
        if '"verdict": ' in said:
            return Turn(answer_of(said, verdict="APPROVED", confidence="high"))
        if "Task 2" in said or next(iter(self.second)) in said:
            return self._second(request)
        is_again = "This is attempt 2" in said
        files = dict(self.first)
        right, wrong = self.mistaken
        if not is_again:
            files = {path: text.replace(right, wrong) for path, text in files.items()}
            return _worked(request, files, (), evidence="written as described")
        files |= {NAMED: "How it was made.\n", UNNAMED: "remember to delete this\n"}
        return _worked(
            request,
            files,
            (self.verify[0],),
            files_modified=[*self.first, NAMED],
            evidence="the tests pass",
            decisions=["one function, because nothing else needs it"],
            deviations=[f"{NAMED} was added, because the README is too short for it"],
            concerns=["very long texts were not tried"],
        )

    def _second(self, request: Request) -> Turn:
        said = request.conversation
        if "The answer is: " not in said:
            error = "it depends on a choice"
            asked = {"question": QUESTION, "options": ["upper", "lower"], "error": error}
            return Turn(answer_of(said, status="blocked", done_criteria_met=False, **asked))
        case = "upper" if "The answer is: upper" in said else "lower"
        files = {
            path: text.replace("toCASECase", f"to{case.title()}Case").replace("CASE", case)
            for path, text in self.second.items()
        }
        words = {"evidence": "the tests pass", "files_modified": [*files]}
        return _worked(request, files, (self.verify[1],), **words)


def _worked(
    request: Request, files: Mapping[str, str], commands: Sequence[str], **answer: object
) -> Turn:
    """Write the files one after the other, run the commands, and report success."""
    place = next(iter(_PLACE.findall(request.conversation)), "")
    calls = [_writing(request.tools, place, *file) for file in files.items()]
    calls += [call for line in commands if (call := command_call(request.tools, line))]
    done = len(_RESULT.findall(json.dumps(request.body)))
    if done < len(calls):
        return Turn(calls=(calls[done],))
    fields = {"status": "success", "done_criteria_met": True, **answer}
    return Turn(answer_of(request.conversation, **fields))


def _writing(tools: tuple[str, ...], place: str, path: str, text: str) -> Call:
    if "Write" in tools:
        return Call("Write", {"file_path": f"{place}/{path}", "content": text})
    encoded = base64.b64encode(text.encode()).decode()
    folder = Path(path).parent.as_posix()
    line = f"mkdir -p {folder} && printf %s {encoded} | base64 -d > {path}"
    return Call("exec_command", {"cmd": line})


def _plan(id_: str, files: Mapping[str, str], verify: str, needs: str) -> str:
    listed = ", ".join(files)
    depends = f'"{needs}"' if needs else ""
    return (
        f"---\nphase: 01-work\nplan: {id_[-2:]}\ntype: execute\nwave: 1\ndepends_on: [{depends}]\n"
        f"files_modified: [{listed}]\nautonomous: true\nmust_haves:\n  truths: []\n---\n\n"
        f"<objective>\nWrite {listed}, with tests.\n</objective>\n\n<tasks>\n"
        f'<task type="auto">\n  <name>Task 1: Write {listed}</name>\n  <files>{listed}</files>\n'
        f"  <action>Write {listed}.</action>\n  <verify>{verify}</verify>\n"
        "  <done>The tests pass</done>\n</task>\n</tasks>\n"
    )


_PLANNING = {
    ".planning/STATE.md": "---\ngsd_state_version: '1.0'\nstatus: executing\n---\n\n# State\n\n"
    "## Current Position\n\nPhase: 1 of 1 (Work)\nPlan: 1 of 2 in current phase\n"
    "Status: Ready to execute\n\n## Accumulated Context\n\n### Blockers/Concerns\n\nNone yet.\n",
    ".planning/ROADMAP.md": "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Work**\n\n"
    "## Phase Details\n\n### Phase 1: Work\n**Goal**: It works\n",
}

PYTHON = Package(
    files={
        "pyproject.toml": '[project]\nname = "greeter"\nversion = "0.1.0"\n',
        "greeter/__init__.py": '"""Greetings."""\n',
        "README.md": "# greeter\n",
    },
    first={
        "greeter/words.py": "def greeting(name: str) -> str:\n    return f'hello, {name}'\n",
        "tests/test_words.py": "from greeter.words import greeting\n\n\n"
        "def test_it_names_the_person():\n    assert greeting('Ada') == 'hello, Ada'\n",
    },
    mistaken=("return f'hello, {name}'", "return f'hello, {nam}'"),
    second={
        "greeter/shout.py": "from greeter.words import greeting\n\n\n"
        "def shout(name: str) -> str:\n    return greeting(name).CASE()\n",
        "tests/test_shout.py": "from greeter.shout import shout\n\n\n"
        "def test_it_changes_the_case():\n    assert shout('Ada') == 'hello, Ada'.CASE()\n",
    },
    verify=(
        f"{sys.executable} -m pytest -q tests/test_words.py",
        f"{sys.executable} -m pytest -q tests",
    ),
    settings={},
)


def _packed_dependency(folder: Path) -> None:
    """A dependency as npm packs it, and a lock file that installs it without the network."""
    source = folder.with_name("dependency")
    source.mkdir()
    manifest = {"name": "plain-pad", "version": "1.0.0", "main": "index.js"}
    (source / "package.json").write_text(json.dumps(manifest))
    (source / "index.js").write_text("module.exports = (text, size) => text.padEnd(size, '.');\n")
    (folder / "vendor").mkdir()
    _npm(source, "pack", "--pack-destination", str(folder / "vendor"))
    board = {"name": "board", "version": "0.1.0", "scripts": {"test": "node --test"}}
    wanted = {"dependencies": {"plain-pad": "file:vendor/plain-pad-1.0.0.tgz"}}
    (folder / "package.json").write_text(json.dumps({**board, **wanted}, indent=2) + "\n")
    _npm(folder, "install", "--offline", "--package-lock-only")


def _npm(folder: Path, *words: str) -> None:
    home = folder.with_name("npm-home")
    home.mkdir(exist_ok=True)
    npm = shutil.which("npm")
    assert npm
    subprocess.run(
        [npm, *words, "--no-audit", "--no-fund"],
        cwd=folder,
        check=True,
        capture_output=True,
        env={"PATH": f"{Path(npm).parent}:/usr/bin:/bin", "HOME": str(home)},
    )


NPM = Package(
    files={".gitignore": "node_modules/\n", "README.md": "# board\n"},
    first={
        "lib/row.js": "const pad = require('plain-pad');\n\n"
        "exports.row = (text) => pad(text, 5);\n",
        "test/row.test.js": "const test = require('node:test');\n"
        "const assert = require('node:assert');\nconst { row } = require('../lib/row.js');\n\n"
        "test('a row is filled up', () => assert.equal(row('ab'), 'ab...'));\n",
    },
    mistaken=("pad(text, 5)", "pad(text, 4)"),
    second={
        "lib/board.js": "const { row } = require('./row.js');\n\n"
        "exports.board = (rows) => rows.map((each) => row(each)).join('|').toCASECase();\n",
        "test/board.test.js": "const test = require('node:test');\n"
        "const assert = require('node:assert');\nconst { board } = require('../lib/board.js');\n\n"
        "test('rows are joined', () => assert.equal(board(['a']), 'a....'.toCASECase()));\n",
    },
    verify=("node --test test/row.test.js", "node --test test"),
    settings={"fairlead.execution.setup": "npm ci --offline --no-audit --no-fund"},
    prepare=_packed_dependency,
)
