"""Schedules plans: waves by dependency, and which plans may start now.

The wave of a plan is the longest dependency path to it. Of plans that declare the same files, the
later one moves to a later wave, with a warning. The plan on which most of the remaining work
depends starts first. A dependency cycle is an error that names its plans. Pure.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field
from fairlead.plans.errors import PlanCycle, PlanTwice


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A plan in the dependency graph."""

    id: str
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # a folder ends with a slash; `src/*` is the folder `src/`
    weight: int = 1
    is_done: bool = False
    is_halted: bool = False  # its summary says that it stopped, so plans that need it cannot run
    provider: str = ""  # whose concurrency limit applies


@dataclass(frozen=True, slots=True)
class ConcurrencyLimits:
    """How many plans may run at once, in total and per provider."""

    total: int = 1
    by_provider: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The waves of plans and their dependencies."""

    nodes: tuple[PlanNode, ...]
    waves: tuple[tuple[str, ...], ...]
    needs: Mapping[str, tuple[str, ...]]  # plan -> ids of its dependencies
    blocked_by: Mapping[str, tuple[str, ...]]  # plan -> halted plans that it needs, directly or not
    priority: Mapping[str, int]  # plan -> weight of the longest path that begins with it
    warnings: tuple[str, ...]

    def wave_of(self) -> dict[str, int]:
        """The wave of each plan, counted from 1."""
        return {name: at for at, wave in enumerate(self.waves, 1) for name in wave}

    @property
    def ids(self) -> tuple[str, ...]:
        """The plans, each after those that it needs."""
        return tuple(name for wave in self.waves for name in wave)


@dataclass(frozen=True, slots=True)
class DependencyOrder:
    """The dependencies of plans without their waves."""

    ids: tuple[str, ...]  # the plans, each after those that it needs
    needs: Mapping[str, tuple[str, ...]]
    priority: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StartChoice:
    """The plans that may start now, most urgent first, and why the others have to wait."""

    start: tuple[str, ...]
    waiting: Mapping[str, str]


class FileClaims:
    """Declared files and their owners."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[int, str]] = {}
        self._below: dict[str, tuple[int, str]] = {}  # folder -> owner of a file in it

    def add(self, files: Iterable[str], owner: str, rank: int = 0) -> None:
        """Claim files; of several owners the one with the highest rank is kept."""
        claim = (rank, owner)
        for path in map(normal_path, files):
            self._paths[path] = max(claim, self._paths.get(path, claim))
            for folder in _folders(path):
                self._below[folder] = max(claim, self._below.get(folder, claim))

    def clash(self, files: Iterable[str]) -> tuple[int, str, str] | None:
        """Return rank, owner and file of the highest claim on any of these files."""
        clashes: list[tuple[int, str, str]] = []
        for path in map(normal_path, files):
            claims = [(path, self._paths.get(path))]
            if path.endswith("/"):
                claims.append((path, self._below.get(path)))
            claims += [(each, self._paths.get(each)) for each in _folders(path)]
            clashes += [(*claim, shared) for shared, claim in claims if claim]
        return max(clashes, default=None)


class CountedClaims:
    """Declared files, each as often as it is claimed: a claim can be given back."""

    def __init__(self) -> None:
        self._paths: Counter[str] = Counter()
        self._below: Counter[str] = Counter()  # folder -> claims of files in it

    def add(self, files: Iterable[str]) -> None:
        """Claim files."""
        self._count(files, 1)

    def remove(self, files: Iterable[str]) -> None:
        """Give files back that were claimed."""
        self._count(files, -1)

    def _count(self, files: Iterable[str], number: int) -> None:
        for path in map(normal_path, files):
            self._paths[path] += number
            for folder in _folders(path):
                self._below[folder] += number

    def has_any(self, files: Iterable[str]) -> bool:
        """Whether any of these files is claimed; see `FileClaims.clash`."""
        paths, below = self._paths, self._below
        return any(
            paths.get(path)
            or (path.endswith("/") and below.get(path))
            or any(map(paths.get, _folders(path)))
            for path in map(normal_path, files)
        )


_UNUSUAL = lazy_pattern(r"[\s`\\*?\[]|^\./")


def normal_path(path: str) -> str:
    """Normalize a declared path: forward slashes, no `./`, a pattern as its folder."""
    if not _UNUSUAL.search(path):
        return path
    plain = path.strip().strip("`").replace("\\", "/")
    while plain.startswith("./"):
        plain = plain[2:]
    fixed = min((at for mark in "*?[" if (at := plain.find(mark)) >= 0), default=-1)
    # Brackets occur in file names: `[id].ts`. Only a star makes a pattern.
    if fixed >= 0 and "*" in plain:
        return plain[:fixed].rpartition("/")[0] + "/"
    return plain


def schedule(plans: Sequence[PlanNode]) -> Schedule:
    """Arrange plans in waves."""
    warnings: list[str] = []
    order, needs = _in_order(plans, warnings)
    return Schedule(
        tuple(plans),
        _waves(order, needs, warnings),
        needs,
        _blocked(order, needs),
        _priority(order, needs),
        tuple(warnings),
    )


def dependency_order(plans: Sequence[PlanNode]) -> DependencyOrder:
    """Arrange plans by their dependencies only, which is all that urgency depends on."""
    order, needs = _in_order(plans, [])
    return DependencyOrder(tuple(node.id for node in order), needs, _priority(order, needs))


def _in_order(
    plans: Sequence[PlanNode], warnings: list[str]
) -> tuple[list[PlanNode], dict[str, tuple[str, ...]]]:
    by_name = _by_name(plans)
    needs = {node.id: _needs(node, by_name, warnings) for node in plans}
    return _sorted(plans, needs), needs


def may_start(
    plan: Schedule, running: Collection[str], done: Collection[str], wip: ConcurrencyLimits
) -> tuple[str, ...]:
    """Return the plans that may start now, together, most urgent first."""
    return choose(plan, running, done, wip).start


def choose(
    plan: Schedule, running: Collection[str], done: Collection[str], wip: ConcurrencyLimits
) -> StartChoice:
    """Decide which plans may start beside the running ones, and why the others wait."""
    nodes = {node.id: node for node in plan.nodes}
    finished = set(done) | {node.id for node in plan.nodes if node.is_done}
    claims, busy = FileClaims(), dict.fromkeys(wip.by_provider, 0)
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
    return StartChoice(tuple(start), waiting)


def transitive_needs(
    plan: Schedule | DependencyOrder, names: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return plan -> those of `names` that it needs, directly or not."""
    found: dict[str, tuple[str, ...]] = {}
    for node in plan.ids:
        below: dict[str, None] = {}
        for name in plan.needs[node]:
            below |= dict.fromkeys((*((name,) if name in names else ()), *found.get(name, ())))
        if below:
            found[node] = tuple(below)
    return found


def unfinished_needs_note(plan: str, undone: Collection[str]) -> str:
    """Describe a plan that needs plans which are not done."""
    return f"{plan} needs what is not done, as its summary says: {', '.join(undone)}"


def _reason(plan: Schedule, node: PlanNode, finished: Collection[str]) -> str:
    if node.is_halted:
        return "it is halted"
    blocked = plan.blocked_by.get(node.id)
    if blocked:
        return f"blocked by {', '.join(blocked)}"
    missing = [name for name in plan.needs[node.id] if name not in finished]
    return f"waits for {', '.join(missing)}" if missing else ""


def _by_name(plans: Sequence[PlanNode]) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in plans:
        name = node.id.casefold()
        if name in known:
            raise PlanTwice(known[name], node.id)
        known[name] = node.id
    return known


def _needs(node: PlanNode, by_name: Mapping[str, str], warnings: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for reference in node.depends_on:
        name = by_name.get(reference.casefold())
        if name is None:
            warnings.append(f"{node.id} depends on {reference}, which is not a plan of this phase")
        else:
            found[name] = None
    return tuple(found)


def _sorted(plans: Sequence[PlanNode], needs: Mapping[str, tuple[str, ...]]) -> list[PlanNode]:
    """Sort plans by level, the longest path to them; keep the given order within a level."""
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
    """Find one cycle by following dependencies until a plan repeats."""
    seen: dict[str, int] = {}
    name = next(iter(needs))
    while name not in seen:
        seen[name] = len(seen)
        name = next(each for each in needs[name] if each in needs)
    path = list(seen)[seen[name] :]
    return (*reversed(path), path[-1])


def _waves(
    order: Sequence[PlanNode], needs: Mapping[str, tuple[str, ...]], warnings: list[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the waves, with plans of the same files in different waves.

    The claims of a file rise with the waves, so one look at the highest claim is enough.
    """
    claims, wave_of = FileClaims(), dict[str, int]()
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
    order: Sequence[PlanNode], needs: Mapping[str, tuple[str, ...]]
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


def _priority(order: Sequence[PlanNode], needs: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    longest = {node.id: 0 for node in order}
    priority: dict[str, int] = {}
    for node in reversed(order):
        priority[node.id] = longest[node.id] + (0 if node.is_done else node.weight)
        for name in needs[node.id]:
            longest[name] = max(longest[name], priority[node.id])
    return priority


def _folders(path: str) -> Iterable[str]:
    """Yield the folders of a path: `/`, `src/`, `src/api/`."""
    if path != "/":
        yield "/"
    at = path.find("/")
    while 0 <= at < len(path) - 1:
        yield path[: at + 1]
        at = path.find("/", at + 1)
