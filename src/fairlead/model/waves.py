"""Waves: plans in the order of their dependencies, and which of them may run now.

A plan's wave is the longest path to it; plans that declare the same files are kept apart, the
later one moves to a later wave and the reason is told. What starts first is what most of the
remaining work hangs on. A cycle is an error that names its plans.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.errors import PlanCycle, PlanTwice
from fairlead.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Node:
    """A plan, as far as its order is concerned."""

    id: str
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # a folder ends with a slash; `src/*` is the folder `src/`
    weight: int = 1
    is_done: bool = False
    is_halted: bool = False  # its summary says that it stopped: nothing that needs it can run
    provider: str = ""  # whose limit it counts against


@dataclass(frozen=True, slots=True)
class Wip:
    """How much may run at once, in all and by provider."""

    total: int = 1
    by_provider: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of plans."""

    nodes: tuple[Node, ...]
    waves: tuple[tuple[str, ...], ...]
    needs: Mapping[str, tuple[str, ...]]  # by plan, the ids that its dependencies resolved to
    blocked_by: Mapping[str, tuple[str, ...]]  # the halted plans that it needs, directly or not
    priority: Mapping[str, int]  # the weight of the longest path that begins with it
    warnings: tuple[str, ...]

    def wave_of(self) -> dict[str, int]:
        """The wave of each plan, counted from 1."""
        return {name: at for at, wave in enumerate(self.waves, 1) for name in wave}


@dataclass(frozen=True, slots=True)
class Choice:
    """What may start now, most urgent first, and why the rest may not."""

    start: tuple[str, ...]
    waiting: Mapping[str, str]


class Claims:
    """Which declared files are taken, and by whom."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[int, str]] = {}
        self._below: dict[str, tuple[int, str]] = {}  # by folder, of what is in it

    def add(self, files: Iterable[str], owner: str, rank: int = 0) -> None:
        """Take these files; of several owners the one of the highest rank is remembered."""
        claim = (rank, owner)
        for path in map(normal_path, files):
            self._paths[path] = max(claim, self._paths.get(path, claim))
            for folder in _folders(path):
                self._below[folder] = max(claim, self._below.get(folder, claim))

    def clash(self, files: Iterable[str]) -> tuple[int, str, str] | None:
        """The highest rank of those who took any of these files, its owner, and the file."""
        found: list[tuple[int, str, str]] = []
        for path in map(normal_path, files):
            held = [(path, self._paths.get(path))]
            if path.endswith("/"):
                held.append((path, self._below.get(path)))
            held += [(each, self._paths.get(each)) for each in _folders(path)]
            found += [(*claim, shared) for shared, claim in held if claim]
        return max(found, default=None)


def normal_path(path: str) -> str:
    """A declared path for comparison: forward slashes, no `./`, a pattern as its folder."""
    plain = path.strip().strip("`").replace("\\", "/")
    while plain.startswith("./"):
        plain = plain[2:]
    fixed = min((at for mark in "*?[" if (at := plain.find(mark)) >= 0), default=-1)
    # A bracket is also a part of a file's name: `[id].ts`. Only a star makes it a pattern.
    if fixed >= 0 and "*" in plain:
        return plain[:fixed].rpartition("/")[0] + "/"
    return plain


def schedule(plans: Sequence[Node]) -> Schedule:
    """Put plans in waves."""
    by_name = _by_name(plans)
    warnings: list[str] = []
    needs = {node.id: _needs(node, by_name, warnings) for node in plans}
    order = _sorted(plans, needs)
    return Schedule(
        tuple(plans),
        _waves(order, needs, warnings),
        needs,
        _blocked(order, needs),
        _priority(order, needs),
        tuple(warnings),
    )


def may_start(
    plan: Schedule, running: Collection[str], done: Collection[str], wip: Wip
) -> tuple[str, ...]:
    """The plans that may start now, together, most urgent first."""
    return choose(plan, running, done, wip).start


def choose(plan: Schedule, running: Collection[str], done: Collection[str], wip: Wip) -> Choice:
    """What may start now beside what runs, and the reason for all that may not."""
    nodes = {node.id: node for node in plan.nodes}
    finished = set(done) | {node.id for node in plan.nodes if node.is_done}
    claims, busy = Claims(), dict.fromkeys(wip.by_provider, 0)
    for name in running:
        claims.add(nodes[name].files, name)
        busy[nodes[name].provider] = busy.get(nodes[name].provider, 0) + 1
    start: list[str] = []
    waiting: dict[str, str] = {}
    rest = [node for node in plan.nodes if node.id not in finished and node.id not in running]
    for node in sorted(rest, key=lambda node: -plan.priority[node.id]):
        reason = _reason(plan, node, finished)
        if not reason and len(running) + len(start) >= wip.total:
            reason = f"all {wip.total} slots are taken"
        limit = wip.by_provider.get(node.provider)
        if not reason and limit is not None and busy[node.provider] >= limit:
            reason = f"{node.provider} runs {limit} at once"
        if not reason and (clash := claims.clash(node.files)):
            reason = f"{clash[1]} changes {clash[2]} too"
        if reason:
            waiting[node.id] = reason
            continue
        start.append(node.id)
        claims.add(node.files, node.id)
        busy[node.provider] = busy.get(node.provider, 0) + 1
    return Choice(tuple(start), waiting)


def standing_on(plan: Schedule, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """By plan, those of these plans that it needs, directly or not."""
    found: dict[str, tuple[str, ...]] = {}
    for node in (each for wave in plan.waves for each in wave):
        below: dict[str, None] = {}
        for name in plan.needs[node]:
            below |= dict.fromkeys((*((name,) if name in names else ()), *found.get(name, ())))
        if below:
            found[node] = tuple(below)
    return found


def lack_of(plan: str, undone: Collection[str]) -> str:
    """What is to be known of a plan that stands on plans which were not done."""
    return f"{plan} needs what is not done, as its summary says: {', '.join(undone)}"


def _reason(plan: Schedule, node: Node, finished: Collection[str]) -> str:
    if node.is_halted:
        return "it is halted"
    blocked = plan.blocked_by.get(node.id)
    if blocked:
        return f"blocked by {', '.join(blocked)}"
    missing = [name for name in plan.needs[node.id] if name not in finished]
    return f"waits for {', '.join(missing)}" if missing else ""


def _by_name(plans: Sequence[Node]) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in plans:
        name = node.id.casefold()
        if name in known:
            raise PlanTwice(known[name], node.id)
        known[name] = node.id
    return known


def _needs(node: Node, by_name: Mapping[str, str], warnings: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for wanted in node.depends_on:
        name = by_name.get(wanted.casefold())
        if name is None:
            warnings.append(f"{node.id} depends on {wanted}, which is no plan of this phase")
        else:
            found[name] = None
    return tuple(found)


def _sorted(plans: Sequence[Node], needs: Mapping[str, tuple[str, ...]]) -> list[Node]:
    """The plans by level, and in a level as they were given; a level is the longest path."""
    left = {name: len(wanted) for name, wanted in needs.items()}
    dependants: dict[str, list[str]] = {name: [] for name in needs}
    for name, wanted in needs.items():
        for each in wanted:
            dependants[each].append(name)
    levels: dict[str, int] = {}
    level, ready = 0, [name for name, count in left.items() if not count]
    while ready:
        levels |= dict.fromkeys(ready, level)
        following: list[str] = []
        for each in (each for name in ready for each in dependants[name]):
            left[each] -= 1
            if not left[each]:
                following.append(each)
        level, ready = level + 1, following
    if len(levels) < len(needs):
        raise PlanCycle(_cycle({name: needs[name] for name in needs if name not in levels}))
    return sorted(plans, key=lambda node: levels[node.id])


def _cycle(needs: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """One cycle, by walking along what is needed until a plan comes again."""
    seen: dict[str, int] = {}
    name = next(iter(needs))
    while name not in seen:
        seen[name] = len(seen)
        name = next(each for each in needs[name] if each in needs)
    path = list(seen)[seen[name] :]
    return (*reversed(path), path[-1])


def _waves(
    order: Sequence[Node], needs: Mapping[str, tuple[str, ...]], warnings: list[str]
) -> tuple[tuple[str, ...], ...]:
    """The waves, with plans of the same files kept apart.

    A file goes from plan to plan in rising waves, so each plan is looked at once, however many
    plans declare the same file.
    """
    claims, wave_of = Claims(), dict[str, int]()
    waves: dict[int, list[str]] = {}
    for node in order:
        earliest = max((wave_of[name] + 1 for name in needs[node.id]), default=0)
        wave = earliest
        clash = claims.clash(node.files)
        if clash and clash[0] >= earliest:
            wave = clash[0] + 1
            warnings.append(f"{node.id} runs after {clash[1]}: both change {clash[2]}")
        wave_of[node.id] = wave
        claims.add(node.files, node.id, wave)
        waves.setdefault(wave, []).append(node.id)
    return tuple(tuple(waves[number]) for number in sorted(waves))


def _blocked(
    order: Sequence[Node], needs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    halted = {node.id for node in order if node.is_halted}
    blocked: dict[str, tuple[str, ...]] = {}
    if not halted:
        return blocked
    for node in order:
        found: dict[str, None] = {}
        for name in needs[node.id]:
            found |= dict.fromkeys((name,) if name in halted else blocked.get(name, ()))
        if found and not node.is_done:
            blocked[node.id] = tuple(found)
    return blocked


def _priority(order: Sequence[Node], needs: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    longest = {node.id: 0 for node in order}
    priority: dict[str, int] = {}
    for node in reversed(order):
        priority[node.id] = longest[node.id] + (0 if node.is_done else node.weight)
        for name in needs[node.id]:
            longest[name] = max(longest[name], priority[node.id])
    return priority


def _folders(path: str) -> Iterable[str]:
    """The folders that hold a path: `/` for all, `src/`, `src/api/`."""
    if path != "/":
        yield "/"
    at = path.find("/")
    while 0 <= at < len(path) - 1:
        yield path[: at + 1]
        at = path.find("/", at + 1)
