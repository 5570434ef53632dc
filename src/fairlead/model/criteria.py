"""Exit criteria: which are met, by what evidence, and what would satisfy the others.

The four default criteria are known by their text, wherever they stand in the file's list; any
other is a person's, met by a confirmation, a file, or the recorded result of a command that the
person allowed. Nothing is run here and nothing read: `store.facts` brings what the disk says.
Standard library only and few imports, because the stop hook decides by this.
"""

from fairlead.model.planning import COMPLETE, DEFAULT_CRITERIA, REVIEWING, Criterion, Plan

MET, UNMET, STALE = "met", "unmet", "stale"

_REQUIREMENTS, _MODULES, _ISSUES, _APPROVAL = DEFAULT_CRITERIA


class Result:
    """What a command of a criterion came to."""

    __slots__ = ("at", "code", "content", "head")

    def __init__(self, code: int, at: str, head: str, content: str) -> None:
        self.code = code
        self.at = at
        self.head = head  # the commit that was checked out
        self.content = content  # the hash of the plan


class Facts:
    """What the disk says about a plan."""

    __slots__ = ("allowed", "faults", "head", "requirements", "results")

    def __init__(self) -> None:
        self.requirements: str | None = None  # the text of the requirements document
        self.faults: dict[str, str] = {}  # what is wrong with a file that a criterion names
        self.head = ""  # the commit that is checked out; empty without git
        self.allowed: dict[str, str] = {}  # commands by their hash, and when they were allowed
        self.results: dict[str, Result] = {}  # the last result of each


class Judgement:
    """One criterion, judged."""

    __slots__ = ("command", "criterion", "evidence", "state")

    def __init__(self, criterion: Criterion, state: str, evidence: str, command: str = "") -> None:
        self.criterion = criterion
        self.state = state
        self.evidence = evidence
        self.command = command  # what would satisfy it; empty when it is met

    @property
    def is_met(self) -> bool:
        """Whether nothing is left to do. Stale evidence is none."""
        return self.state == MET


def evaluate(plan: Plan, facts: Facts) -> "list[Judgement]":
    """Judge every criterion of the file, in the file's order."""
    return [_judged(plan, facts, number, each) for number, each in enumerate(plan.criteria, 1)]


def is_personal(plan: Plan, criterion: Criterion) -> bool:
    """Whether only a person can say that it is met."""
    return not (criterion.file or criterion.command or _default(plan, criterion))


def _is_default(plan: Plan, criterion: Criterion) -> bool:
    return not (criterion.file or criterion.command) and bool(_default(plan, criterion))


def unready(plan: Plan, facts: Facts) -> "list[str]":
    """Everything that keeps the plan from being reviewed or approved, all of it at once."""
    return _requirement_faults(plan, facts) + _module_faults(plan)


def unapprovable(plan: Plan, facts: Facts) -> "list[str]":
    """Everything that keeps the plan from being approved; what approval itself brings does not."""
    own = [each for each in evaluate(plan, facts) if not _is_default(plan, each.criterion)]
    return unready(plan, facts) + [
        f"{each.criterion.text}: {each.evidence}" for each in own if not each.is_met
    ]


def content_hash(plan: Plan, requirements: "str | None") -> str:
    """The hash that an approval and a confirmation hold for.

    It covers the frontmatter but for what changes on the way (statuses, issue numbers, flags and
    our own records), and the whole requirements document. Comments, quoting and the body of the
    plan file may change; a goal, a module, a priority or a criterion may not.
    """
    return _sha256(plan.content + _counted("-" if requirements is None else "+" + requirements))


def command_hash(command: "tuple[str, ...]") -> str:
    """The hash by which a person allows a command: program and every argument."""
    return _sha256("".join(_counted(word) for word in command))


def unfilled(text: str, names: "tuple[str, ...]") -> "list[str]":
    """What is wrong with a requirements document: headings are missing, or text under them."""
    filled = _headings(text)
    missing = [repr(name) for name in names if _folded(name) not in filled]
    empty = [repr(name) for name in names if filled.get(_folded(name)) is False]
    found = (("heading", missing), ("text under", empty))
    return [f"has no {what} {', '.join(which)}" for what, which in found if which]


# --- the four defaults -------------------------------------------------------------------


def _judged(plan: Plan, facts: Facts, number: int, criterion: Criterion) -> Judgement:
    confirm = f"fairlead planning confirm {number}"
    if criterion.file:
        return Judgement(criterion, *_file(facts, criterion.file))
    if criterion.command:
        return Judgement(criterion, *_command(plan, facts, criterion.command, confirm))
    kind = _default(plan, criterion)
    if not kind:
        return Judgement(criterion, *_person(plan, facts, criterion.text, confirm))
    judges = {
        _REQUIREMENTS: _requirements,
        _MODULES: _modules,
        _ISSUES: _issues,
        _APPROVAL: _approval,
    }
    return Judgement(criterion, *judges[kind](plan, facts))


def _default(plan: Plan, criterion: Criterion) -> str:
    """Which of the four defaults it is; nothing if it is a person's own."""
    text = _folded(criterion.text)
    if text == _folded(f"{plan.requirements_file} complete"):
        return _REQUIREMENTS
    return next((each for each in DEFAULT_CRITERIA if _folded(each) == text), "")


def _requirements(plan: Plan, facts: Facts) -> "tuple[str, ...]":
    faults = _requirement_faults(plan, facts)
    if faults:
        return UNMET, "; ".join(faults), _requirements_way(plan, facts)
    return MET, f"{plan.requirements_file} has text for each of {len(plan.sections)} sections"


def _requirement_faults(plan: Plan, facts: Facts) -> "list[str]":
    document = plan.requirements_file
    if facts.requirements is None:
        faults = [f"{document} {facts.faults.get(document) or 'does not exist'}"]
    elif not facts.requirements.strip():
        faults = [f"{document} is empty"]
    else:
        names = tuple(section.name for section in plan.sections)
        faults = [f"{document} {fault}" for fault in unfilled(facts.requirements, names)]
    if not plan.sections:
        faults.append("no requirement sections are defined")
    still = [f"{each.name!r} is {each.status}" for each in plan.sections if each.status != COMPLETE]
    return faults + ([f"requirement {', '.join(still)}"] if still else [])


def _requirements_way(plan: Plan, facts: Facts) -> str:
    document = quoted(plan.requirements_file)
    names = tuple(section.name for section in plan.sections)
    if not names:
        return "fairlead planning add requirement NAME"
    if facts.requirements is None:
        return f"fairlead planning export --format requirements > {document}"
    if not facts.requirements.strip() or unfilled(facts.requirements, names):
        return f"write the text of each section into {document}"
    open_one = next(each.name for each in plan.sections if each.status != COMPLETE)
    return f"fairlead planning modify requirement {quoted(open_one)} --status complete"


def _modules(plan: Plan, facts: Facts) -> "tuple[str, ...]":  # noqa: ARG001
    faults = _module_faults(plan)
    if not faults:
        return MET, f"each has them: {', '.join(module.id for module in plan.modules)}"
    bare = next((module.id for module in plan.modules if not module.criteria.strip()), "")
    way = f"modify module {bare}" if bare else "add module NAME"
    return UNMET, "; ".join(faults), f"fairlead planning {way} --criteria TEXT"


def _module_faults(plan: Plan) -> "list[str]":
    if not plan.modules:
        return ["no modules are defined"]
    return [
        f"module {module.id!r} has no acceptance criteria"
        for module in plan.modules
        if not module.criteria.strip()
    ]


def _issues(plan: Plan, facts: Facts) -> "tuple[str, ...]":
    without = [module.id for module in plan.modules if not module.issue]
    if plan.modules and not without:
        return MET, f"issues {', '.join(module.issue for module in plan.modules)}"
    if plan.modules and plan.issues_waived:
        return MET, f"waived at {plan.issues_waived}"
    evidence = f"no issue for: {', '.join(without)}" if without else "no modules are defined"
    return UNMET, evidence, _approval_way(plan, facts)


def _approval(plan: Plan, facts: Facts) -> "tuple[str, ...]":
    if not plan.is_complete:
        return UNMET, f"the plan is {plan.status}", _approval_way(plan, facts)
    if not plan.approved_hash:
        return MET, "approved, without a record of what was approved"
    if plan.approved_hash == content_hash(plan, facts.requirements):
        return MET, f"approved as {plan.approved_hash[:19]}"
    way = "fairlead planning reset --reopen --confirm"
    return STALE, "the plan was changed after its approval", way


def _approval_way(plan: Plan, facts: Facts) -> str:
    ready = plan.status == REVIEWING and not unready(plan, facts)
    return f"fairlead planning {'approve' if ready else 'review'}"


# --- a person's own ----------------------------------------------------------------------


def _person(plan: Plan, facts: Facts, text: str, way: str) -> "tuple[str, ...]":
    given = [each for each in plan.confirmations if each.text == text]
    if not given:
        return UNMET, "a person has to confirm it", way
    evidence = f"confirmed at {given[-1].at}"
    if given[-1].hash == content_hash(plan, facts.requirements):
        return MET, evidence
    return STALE, f"{evidence}, and the plan was changed since", way


def _file(facts: Facts, path: str) -> "tuple[str, ...]":
    fault = facts.faults.get(path, "was not looked at")
    if fault:
        return UNMET, f"{path} {fault}", f"write {quoted(path)}"
    return MET, f"{path} holds something"


def _command(plan: Plan, facts: Facts, command: "tuple[str, ...]", way: str) -> "tuple[str, ...]":
    shown = " ".join(quoted(word) for word in command)
    name = command_hash(command)
    result = facts.results.get(name)
    if name not in facts.allowed:
        return UNMET, f"nobody has allowed: {shown}", way
    if result is None:
        return UNMET, f"not run yet: {shown}", way
    evidence = f"{shown} ended with {result.code} at {result.at}"
    if result.head != facts.head or result.content != content_hash(plan, facts.requirements):
        return STALE, f"{evidence}, for another state", way
    return (UNMET, evidence, way) if result.code else (MET, evidence)


# --- texts -------------------------------------------------------------------------------


def quoted(word: str) -> str:
    """A word as a shell takes it literally; it is shown, never run."""
    is_plain = bool(word) and all(
        (mark.isascii() and mark.isalnum()) or mark in "-_./" for mark in word
    )
    return word if is_plain else "'" + word.replace("'", "'\\''") + "'"


def _headings(text: str) -> "dict[str, bool]":
    """Every heading of a document, and whether anything is written below it."""
    filled: dict[str, bool] = {}
    above: list[tuple[int, str]] = []
    fence = ""
    for line in _without_comments(text).splitlines():
        bare = line.strip()
        mark = bare[:3] if bare[:3] in ("```", "~~~") else ""
        if mark and fence in ("", mark):
            fence = "" if fence else mark
        level = len(bare) - len(bare.lstrip("#"))
        if not fence and 1 <= level <= 6 and bare[level : level + 1] in (" ", "\t"):
            title = _folded(bare[level:].rstrip("#"))
            above = [each for each in above if each[0] < level]
            above.append((level, title))
            filled.setdefault(title, False)
        elif bare and not mark:
            for _, title in above:
                filled[title] = True
    return filled


def _without_comments(text: str) -> str:
    """What a template says in comments is not what a person has written."""
    head, *rest = text.split("<!--")
    return head + "".join(part.partition("-->")[2] for part in rest)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _counted(text: str) -> str:
    """A text with its length before it, so that no two sequences of texts look alike."""
    return f"{len(text)}:{text},"


def _sha256(text: str) -> str:
    import hashlib  # a fifth of the interpreter's start, and most plans need no hash

    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
