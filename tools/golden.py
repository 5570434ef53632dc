"""Compare the public behaviour and wording of the command line with the golden files.

    tools/golden.py                    compare this tree with tests/golden; exit 1 if behaviour differs
    tools/golden.py --strict           exit 1 also if only wording differs
    tools/golden.py --update           rewrite the golden files
    tools/golden.py --wording REV      show how the wording changed since a git revision
    tools/golden.py --behaviour REV    exit 1 if the behaviour is not that of a git revision

Behaviour is what a script can depend on: commands, options, exit codes, error codes, the shape of
--json, the files that a command writes, settings and public names. Wording is what a person reads:
help, output and messages. Each golden file of a command keeps the two apart.

Commands run in this process in scratch projects. Beyond the entry point of the command line no
module is imported by its name, so that modules can move: error classes and settings are found by
walking the package.
"""

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # for use as a script
from tests.golden.pages import Page, commands, page_of  # noqa: E402
from tests.golden.samples import Samples, scratch_place  # noqa: E402
from tests.golden.tables import error_codes, modules, public_names, settings  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
COMMANDS = "commands"
ERROR_CODES = "error_codes.txt"
SETTINGS = "settings.json"
PUBLIC_NAMES = "public_names.txt"
LINE_LENGTH = 160


def file_of(command: str) -> str:
    """The golden file of a command, below tests/golden."""
    return f"{COMMANDS}/{command.replace(' ', '-') or 'fairlead'}.json"


def captured(samples: Samples, stored: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every golden file as this tree would write it."""
    found = {
        ERROR_CODES: error_codes(modules()),
        SETTINGS: _json(settings(samples)) + "\n",
        PUBLIC_NAMES: public_names(samples),
    }
    for name, command, context in commands():
        file = file_of(name)
        before = json.loads(stored[file]) if stored and file in stored else None
        found[file] = _json(page_of(name, command, context, samples, before)) + "\n"
    return found


def stored_files(revision: str = "") -> dict[str, str]:
    """The golden files in the working tree, or at a git revision."""
    if not revision:
        paths = [*GOLDEN.glob(f"{COMMANDS}/*.json"), GOLDEN / SETTINGS, *GOLDEN.glob("*.txt")]
        return {
            path.relative_to(GOLDEN).as_posix(): path.read_text("utf-8")
            for path in paths
            if path.is_file()
        }
    lead = GOLDEN.relative_to(ROOT).as_posix()
    names = _git("ls-tree", "-r", "--name-only", revision, f"{lead}/").splitlines()
    wanted = [
        name
        for name in (each.removeprefix(f"{lead}/") for each in names)
        if name in (ERROR_CODES, SETTINGS, PUBLIC_NAMES) or name.startswith(f"{COMMANDS}/")
    ]
    if not wanted:
        raise SystemExit(f"{revision} has no golden files")
    return {name: _git("show", f"{revision}:{lead}/{name}") for name in wanted}


def part_of(files: Mapping[str, str], part: str) -> dict[str, str]:
    """The behaviour or the wording of golden files, as text that can be compared."""
    found = {}
    for name, text in files.items():
        if name.startswith(f"{COMMANDS}/"):
            found[name] = _lines(json.loads(text)[part])
        elif part == "behaviour":
            found[name] = text
    return found


def differences(old: Mapping[str, str], new: Mapping[str, str], part: str) -> list[str]:
    """A diff of one part of two sets of golden files."""
    before, after = part_of(old, part), part_of(new, part)
    lines: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        texts = (before.get(name, ""), after.get(name, ""))
        first, second = (each.splitlines() for each in texts)
        lines += difflib.unified_diff(first, second, f"a/{name}", f"b/{name}", lineterm="", n=2)
    return lines


def _lines(part: Page) -> str:
    """One fact a line, each with its full path, so that a diff can be read without its context."""
    return "\n".join(_facts_below(part, "")) + "\n"


def _facts_below(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _facts_below(inner, f"{path}/{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        yield f"{path}:"
        yield from (f"    {each}" for each in value)
    elif isinstance(value, list) and value:
        for each in value:
            lead = each.get("option") or each.get("argument") if isinstance(each, dict) else ""
            yield f"{path}[{lead}]: {json.dumps(each, ensure_ascii=False)}"
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def _json(value: object, indent: int = 0) -> str:
    """JSON with what is short on one line, for small files and small diffs."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent < LINE_LENGTH or not isinstance(value, dict | list):
        return flat
    space = " " * (indent + 1)
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {_json(each, indent + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(space + each for each in inner) + f"\n{space[1:]}}}"
    inner = [_json(each, indent + 1) for each in value]
    return "[\n" + ",\n".join(space + each for each in inner) + f"\n{space[1:]}]"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, check=False, capture_output=True, encoding="utf-8"
    )
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return done.stdout


def write(files: Mapping[str, str]) -> None:
    """Make the golden files exactly these."""
    (GOLDEN / COMMANDS).mkdir(parents=True, exist_ok=True)
    for name in stored_files().keys() - files.keys():
        (GOLDEN / name).unlink()
    for name, text in files.items():
        (GOLDEN / name).write_text(text, "utf-8")


def main(arguments: list[str]) -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(prog="golden.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--update", action="store_true", help="rewrite the golden files")
    parser.add_argument("--strict", action="store_true", help="exit 1 for wording, too")
    parser.add_argument("--fast", action="store_true", help="do not run agents")
    parser.add_argument("--wording", metavar="REV", help="show wording changed since REV")
    parser.add_argument("--behaviour", metavar="REV", help="compare the behaviour with REV")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="golden-", dir=scratch_place()) as folder:
        now = captured(Samples(Path(folder) / "scratch"), stored_files() if options.fast else None)
    if options.update:
        write(now)
        print(f"wrote {len(now)} golden files")
        return 0
    base = stored_files(options.wording or options.behaviour or "")
    behaviour = differences(base, now, "behaviour")
    wording = differences(base, now, "wording")
    if options.wording:
        print("\n".join(wording) or "the wording is the same")
        return 0
    print("\n".join(behaviour) or "the behaviour is the same")
    if wording and not options.behaviour:
        print("\n".join(["", "only wording:" if not behaviour else "wording:", *wording]))
    return 1 if behaviour or (wording and options.strict) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
