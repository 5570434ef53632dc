"""What a mistyped command was meant to be.

Every reading of the unknown word has a cost, and the cheapest reading wins. Readings are: names of
other tools and everyday words (`stop`, `delete`), names on other levels (`execute` is `phase
execute`), a noun and a verb in either order (`task-view` is `phase show`), and spelling. Swapped
and missing letters are common mistakes and therefore cheap; a wrong letter is dear unless it is
the neighbour on the keyboard.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache

import click

from fairlead.interfaces.cli.neighbour_names import KINDRED_VERBS, NEIGHBOUR_NAMES, NOUNS, TOOLS

_MISSING, _SWAPPED, _DOUBLED, _EXTRA, _KEY, _WRONG = 0.9, 0.85, 0.7, 1.0, 0.95, 1.15
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
# The groups in which a bare verb such as `complete` is looked for first.
_GROUP_ORDER = ("phase", "planning", "job", "milestone", "state", "config")
_TIE = 0.04  # costs that differ less are both shown
_MOST = 3
_FAR = 99.0

_Found = tuple[float, str]  # the cost of a reading, and the command


def suggestions(words: Sequence[str], level: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The commands that were probably meant, best first; empty if nothing is close.

    `words` begins with the unknown word, `level` has the names of the groups before it, and
    `paths` are all commands, such as `phase execute`.
    """
    prefix = "".join(f"{name} " for name in level)
    found: dict[str, float] = {}
    for cost, path in _readings(words, prefix, paths):
        found[path] = min(cost, found.get(path, cost))
    ranked = sorted(found.items(), key=lambda item: (item[1], _group_rank(item[0]), item[0]))
    close = [path for path, cost in ranked if cost <= ranked[0][1] + _TIE]
    return close[:_MOST]


def meant_command(problem: click.ClickException, command: str) -> str:
    """The command with the option or value that was probably meant; empty if nothing is close."""
    parameter, close, names = getattr(problem, "param", None), list[str](), list[str]()
    if isinstance(problem, click.NoSuchOption):
        # A value such as -1 is taken for an option, unless -- ends the options.
        is_number = problem.option_name[1:].isdecimal()
        close = ["-- …"] if is_number else list(problem.possibilities or ())[:1]
    elif parameter is not None and isinstance(parameter.type, click.Choice):
        given = str(getattr(problem, "message", "")).partition("' is not one of ")[0].lstrip("'")
        close = get_close_matches(given, parameter.type.choices, 1)
        names = parameter.opts[:1] if isinstance(parameter, click.Option) else []
    return " ".join([command, *names, *close]) if close else ""


def _readings(words: Sequence[str], prefix: str, paths: Sequence[str]) -> Iterator[_Found]:
    tokens = _tokens(words[0])
    word = "-".join(tokens)
    if not word:
        return
    names = {path.removeprefix(prefix): path for path in paths if _is_at(path, prefix)}
    for name, path in names.items():
        # The next word decides between names that are equally close: `stat add-decision`.
        bonus = 1.3 if len(words) > 1 and f"{path} {words[1]}" in paths else 0.0
        yield from ((cost - bonus, path) for cost in _name_costs(word, tokens, name))
    own = next((path for name, path in names.items() if _singular(name) == _singular(word)), "")
    # `phases` may be `phase list`, and `hooks` is `hook` and not what others call hooks.
    yield from (found for found in _neighbours(word, prefix) if found[1].startswith(own))
    yield from _kindred(word, names)
    yield from _elsewhere(tokens, prefix, paths)
    if not prefix:
        yield from _bare_verb(word, paths)
        yield from _compound(tokens, paths)
        if len(words) > 1 and len(tokens) == 1:  # `task list` is what `task-list` is
            pair = [*tokens, *_tokens(words[1])]
            both = (*_compound(pair, paths), *_neighbours("-".join(pair), prefix))
            yield from ((cost - 1, path) for cost, path in both if cost < 1)


def _is_at(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and " " not in path[len(prefix) :]


def _name_costs(word: str, tokens: list[str], name: str) -> Iterator[float]:
    """How well a word fits a name of the same level."""
    if word == name:  # it differs in case, `_` or a leading slash only
        yield 0.0
    parts = name.split("-")
    if _singular(word) == _singular(name):
        yield 0.3
    if len(parts) > 1 and _stems(tokens) == _stems(parts):
        yield 0.35
    if len(parts) > 1 and len(tokens) == 1 and len(word) > 3 and _stems(tokens) & _stems(parts):
        yield 1.9  # `decision` for `add-decision`
    for spelling in {word, _singular(word)}:
        cost = spelling_cost(spelling, name)
        if cost <= _limit(name):
            yield 0.5 + cost + 0.02 * (spelling != word) + 0.02 * (spelling[:1] != name[:1])
    if len(word) > 2 and len(name) > len(word):
        cost = spelling_cost(word, name[: len(word)])
        if cost <= (1 if len(word) > 3 else 0):  # the beginning of a name: `exce` for `execute`
            yield 1.3 + cost + 0.1 * (len(name) - len(word))


def _neighbours(word: str, prefix: str) -> Iterator[_Found]:
    """Commands of other tools, also mistyped ones."""
    for command, names in NEIGHBOUR_NAMES.items():
        away = 0.0 if command.startswith(prefix) else 1.5
        cost = min(_neighbour_cost(word, name) for name in names.split())
        if cost < _FAR:
            yield cost + away, command


def _neighbour_cost(word: str, name: str) -> float:
    if _singular(name) == _singular(word):
        return 0.1 + 0.05 * (name != word)
    cost = spelling_cost(word, name) if len(name) > 4 else _FAR
    return 0.8 + cost if cost <= _limit(name) else _FAR


def _kindred(word: str, names: dict[str, str]) -> Iterator[_Found]:
    """Another word for a verb of this level: `job stop` is `job cancel`."""
    by_verb: dict[str, list[str]] = {}
    for name, path in names.items():
        for verb in {name, name.partition("-")[0]}:
            by_verb.setdefault(verb, []).append(path)
    for verbs in (group.split() for group in KINDRED_VERBS):
        is_close = any(len(verb) > 4 and spelling_cost(word, verb) <= 1 for verb in verbs)
        if word in verbs or is_close:
            base = 0.4 if word in verbs else 1.7
            ranked = [
                (rank, path) for rank, verb in enumerate(verbs) for path in by_verb.get(verb, ())
            ]
            yield from ((base + 0.07 * rank, path) for rank, path in ranked)


def _bare_verb(word: str, paths: Sequence[str]) -> Iterator[_Found]:
    """Another word for a verb of a group: `rm` is `phase remove`."""
    for rank, group in enumerate(_GROUP_ORDER):
        names = {path.partition(" ")[2]: path for path in paths if path.startswith(f"{group} ")}
        yield from ((cost + 1 + 0.1 * rank, path) for cost, path in _kindred(word, names))


def _compound(tokens: Sequence[str], paths: Sequence[str]) -> Iterator[_Found]:
    """A noun and a verb (`task-view`), else the first word that is known (`quick-batch`)."""
    for at, token in enumerate(tokens if len(tokens) > 1 else ()):
        noun = _singular(token)
        group = next((name for name, nouns in NOUNS.items() if noun in nouns.split()), noun)
        names = {path.partition(" ")[2]: path for path in paths if path.startswith(f"{group} ")}
        for verb in (*tokens[:at], *tokens[at + 1 :]):
            if verb in names:
                yield 0.5, names[verb]
            yield from ((cost + 0.4, path) for cost, path in _kindred(verb, names))
        if token in paths:
            yield 1.8 + 0.1 * at, token
        yield from (
            (cost + 1.8 + 0.1 * at, path) for cost, path in _neighbours(token, "") if cost < 0.2
        )


def _elsewhere(tokens: list[str], prefix: str, paths: Sequence[str]) -> Iterator[_Found]:
    """Commands of other levels: `execute`, `plan-phase`, `phase-execute`, `phaseexecute`."""
    stems, away = _stems(tokens), 0.8 if prefix else 0.0
    for path in paths:
        if _is_at(path, prefix):
            continue
        parts = path.replace("-", " ").split()
        last = path.rpartition(" ")[2]
        if len(tokens) > 1 and stems == _stems(parts):
            yield away + 0.2, path
        elif "-".join(tokens) == last:  # the name itself is worth more than a word for another
            yield away + 0.35, path
        elif "".join(tokens) in ("".join(parts), "".join(reversed(parts))):
            yield away + 0.6, path
        elif _singular("-".join(tokens)) == _singular(last):
            yield away + 0.7, path
        elif len(last) > 3 and (cost := spelling_cost("-".join(tokens), last)) <= 1:
            yield away + 1.2 + cost, path
        elif len(tokens) > 1 and (cost := _path_cost("-".join(tokens), path)) <= 2:
            yield away + 1.2 + cost, path


def _path_cost(word: str, path: str) -> float:
    """The spelling cost of a whole path in either order: `exectue-phase`."""
    parts = path.split()
    return min(spelling_cost(word, "-".join(order)) for order in (parts, parts[::-1]))


def _tokens(word: str) -> list[str]:
    text = "".join(character if character.isalnum() else " " for character in word.casefold())
    tokens = text.split()
    return tokens[1:] if len(tokens) > 1 and tokens[0] in TOOLS else tokens


def _stems(tokens: Sequence[str]) -> set[str]:
    return {_singular(token) for token in tokens}


@lru_cache(maxsize=1024)  # the names of all commands are compared again and again
def _singular(word: str) -> str:
    for ending, stem in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("uses", "us"), ("s", "")):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word if word.endswith(("ss", "us")) else word.removesuffix(ending) + stem
    return word


def _limit(name: str) -> float:
    """The cost above which a word is not a spelling of a name."""
    length = len(name)
    return 1.2 if length < 6 else 2.1 if length < 10 else 3.1


def _group_rank(path: str) -> int:
    group = path.partition(" ")[0]
    return _GROUP_ORDER.index(group) if group in _GROUP_ORDER else len(_GROUP_ORDER)


def spelling_cost(typed: str, name: str) -> float:
    """The cost of the cheapest mistakes that turn a name into what was typed."""
    # Most pairs have little in common, and are not worth comparing letter by letter.
    if abs(len(typed) - len(name)) > 3 or len(set(typed) ^ set(name)) > 4:
        return _FAR
    before: list[float] = []
    above = [j * _EXTRA for j in range(len(typed) + 1)]
    for i, wanted in enumerate(name, 1):
        row = [i * _MISSING]
        for j, got in enumerate(typed, 1):
            extra = _DOUBLED if j > 1 and got == typed[j - 2] else _EXTRA
            cost = min(
                above[j] + _MISSING, row[-1] + extra, above[j - 1] + _letter_cost(wanted, got)
            )
            if i > 1 and j > 1 and wanted == typed[j - 2] and got == name[i - 2]:
                cost = min(cost, before[j - 2] + _SWAPPED)
            row.append(cost)
        before, above = above, row
    return above[-1]


@lru_cache(maxsize=1024)
def _letter_cost(wanted: str, got: str) -> float:
    if wanted == got:
        return 0.0
    return _KEY if any(wanted + got in row or got + wanted in row for row in _KEYBOARD) else _WRONG
