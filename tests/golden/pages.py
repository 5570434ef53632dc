"""Golden files of commands: their options, and what comes of running them in sample projects."""

import json
import os
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click

from fairlead.interfaces.cli.main import cli
from tests.golden.cases import Case, cases_of
from tests.golden.samples import Result, Samples, filled
from tests.golden.worlds import project_key

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 80
SERVICE = {".git", ".fairlead", ".fairlead-install"}  # folders whose files are no documents

Page = dict[str, Any]


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """Every command and group by its full name, the root first with an empty name."""
    yield from _commands_below(cli, "", _context(cli, "fairlead"))


def _commands_below(
    command: click.Command, name: str, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    yield name, command, context
    if not isinstance(command, click.Group):
        return
    for word in command.list_commands(context):
        found = command.get_command(context, word)
        assert found is not None
        inner = _context(found, word, context)
        yield from _commands_below(found, f"{name} {word}".strip(), inner)


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    return click.Context(command, parent=parent, info_name=name, **settings)


def parameters(command: click.Command) -> list[Page]:
    """The options by their flags, after the arguments in their order; no wording."""
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    options = [each for each in command.params if isinstance(each, click.Option)]
    described = [{"argument": number, **_facts(each)} for number, each in enumerate(arguments, 1)]
    found = [
        {
            "option": [*each.opts, *each.secondary_opts],
            "hidden": each.hidden,
            **_facts(each),
            **(_flag_facts(each) if each.is_flag else {}),
        }
        for each in options
    ]
    return described + sorted(found, key=lambda each: str(each["option"]))


def _facts(parameter: click.Parameter) -> Page:
    kind = parameter.type
    facts: Page = {
        "type": kind.name,
        "required": parameter.required,
        "multiple": parameter.multiple,
        "nargs": parameter.nargs,
        "default": _plain(parameter.default),
    }
    if isinstance(kind, click.Choice):
        facts["choices"] = [_plain(each) for each in kind.choices]
        facts["case_sensitive"] = kind.case_sensitive
    if isinstance(kind, click.IntRange | click.FloatRange):
        facts["range"] = [kind.min, kind.max]
    return facts


def _flag_facts(option: click.Option) -> Page:
    """Versions of click differ in what a flag has that was given neither value nor default."""
    value = option.flag_value if isinstance(option.flag_value, str) else True
    default = _plain(option.default)
    return {"type": "flag", "value": value, "default": False if default is None else default}


def _plain(value: object) -> object:
    """A value as JSON has it; what click uses for `not given` differs from version to version."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else None


# --- invocations -----------------------------------------------------------------------


def shape_of(document: object) -> dict[str, str]:
    """The paths of a JSON document with the types found there; elements of a list are united."""
    found: dict[str, set[str]] = {}
    _add_shape(document, "", found)
    return {path: "|".join(sorted(found[path])) for path in sorted(found)}


def _add_shape(value: object, path: str, found: dict[str, set[str]]) -> None:
    kind = "null" if value is None else type(value).__name__
    found.setdefault(path or ".", set()).add(kind)
    if isinstance(value, dict):
        for key, inner in value.items():
            _add_shape(inner, f"{path}.{key}", found)
    elif isinstance(value, list):
        for inner in value:
            _add_shape(inner, f"{path}[]", found)


def page_of(
    name: str, command: click.Command, context: click.Context, samples: Samples, stored: Page | None
) -> Page:
    """The golden file of a command. With a stored one, its slow invocations are taken over."""
    is_group = isinstance(command, click.Group)
    behaviour: Page = {
        "hidden": command.hidden,
        "params": parameters(command),
        "subcommands": sorted(command.list_commands(context))
        if isinstance(command, click.Group)
        else [],
        "exits": {},
        "json": {},
    }
    # click keeps the first help option it made, also one that was made without our settings.
    vars(command)["_help_option"] = None
    wording: Page = {"help": command.get_help(context).splitlines(), "outputs": {}}
    has_json = any("--json" in each.opts for each in command.params)
    for case in cases_of(name, is_group=is_group):
        title = case.name(name)
        if case.is_slow and stored is not None:
            _take_over(title, stored["behaviour"], behaviour)
            continue
        observe(name, case, samples, behaviour, wording, has_json=has_json)
    return {"behaviour": behaviour, "wording": wording}


def _take_over(title: str, stored: Page, behaviour: Page) -> None:
    for part in ("exits", "json"):
        if title in stored[part]:
            behaviour[part][title] = stored[part][title]


def observe(
    command: str, case: Case, samples: Samples, behaviour: Page, wording: Page, *, has_json: bool
) -> None:
    """Run one invocation, once for people and once for programs."""
    title = case.name(command)
    entry: Page = {}
    behaviour["exits"][title] = entry
    if not case.is_slow and not (case.is_derived and has_json):
        result, world, writes = _invoke(command, case, samples)
        entry["exit"] = result.exit_code
        entry["writes"] = writes
        said = [*result.stdout.splitlines(), *(f"! {each}" for each in result.stderr.splitlines())]
        wording["outputs"][title] = [normal(line, world) for line in said]
    if has_json:
        result, world, writes = _invoke(command, case, samples, "--json")
        entry["json_exit"] = result.exit_code
        if case.is_derived:
            entry["writes"] = writes
        document = _document(result)
        error = document.get("error") if isinstance(document, dict) else None
        entry["error"] = error["code"] if isinstance(error, dict) else None
        behaviour["json"][title] = shape_of(document)
        if case.is_derived and isinstance(error, dict):
            wording["outputs"][title] = [
                normal(f"{key}: {error.get(key)}", world) for key in ("message", "hint")
            ]


def _invoke(
    command: str, case: Case, samples: Samples, *more: str
) -> tuple[Result, Path, list[str]]:
    world = samples.copy(case.sample)
    before = _contents(world)
    argv = [filled(word, world) for word in case.argv(command)]
    at = argv.index("--") if "--" in argv else len(argv)
    argv[at:at] = more
    result = samples.run(world, argv, case.stdin, is_timeless=not case.is_slow)
    after = _contents(world)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if changed:
        samples.drop(world)
    else:
        samples.give_back(case.sample, world)
    writes = {normal(name, world) for name in changed if not SERVICE.intersection(name.split("/"))}
    return result, world, sorted(writes)


def _document(result: Result) -> object:
    """The JSON document of a command, which is on stderr for some errors."""
    for text in (result.stdout, result.stderr):
        try:
            return json.loads(text)
        except ValueError:
            continue
    return None


def _contents(world: Path) -> dict[str, bytes]:
    """The files of a world, without those of git."""
    found = {}
    for folder, folders, files in os.walk(world):
        folders[:] = [each for each in folders if each != ".git"]
        for name in files if folder != str(world) else ():
            path = f"{folder}/{name}"
            with open(path, "rb") as file:
                found[path.removeprefix(f"{world}/")] = file.read()
    return found


_VARYING = (
    (re.compile(r"^(\+ +)\d+(,?)$"), r"\1<number>\2"),  # in a receipt: lengths of paths count
    (re.compile(r"\b\d{8}-\d{6}\b"), "<moment>"),
    (re.compile(r"\bprocess \d+"), "process <number>"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"\b2\d{5}-[0-9a-z]{3}\b"), "<quick>"),
    (re.compile(r"\bj_\d{8}_\d{4}\b"), "<job>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
)


def normal(text: str, world: Path) -> str:
    """A line without what depends on the machine or the moment."""
    key = project_key(world / "project")
    for found, name in (
        (key, "<key>"),
        (str(world), "<world>"),
        (str(world.parents[1]), "<scratch>"),
        (sys.executable, "<python>"),
        (str(ROOT), "<tree>"),
    ):
        text = text.replace(found, name)
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text
