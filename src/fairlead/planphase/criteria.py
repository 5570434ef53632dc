"""Decides which exit criteria are met, by what evidence, and what would satisfy the others.

The four default criteria are recognised by their text, anywhere in the list. Any other criterion
is met by a person's confirmation, by a file, or by the recorded result of a command that a
person allowed. Pure: nothing is read or run here, `facts` collects the evidence. The stop hook
loads this module, so it imports nothing but `model`.
"""

from fairlead.planphase.model import (
    APPROVED,
    COMPLETE,
    DEFAULT_CRITERIA,
    REVIEWING,
    Criterion,
    PlanFile,
)

MET, UNMET, STALE = "met", "unmet", "stale"

_REQUIREMENTS, _MODULES, _ISSUES, _APPROVAL = DEFAULT_CRITERIA


class CheckResult:
    """The recorded result of a criterion's command."""

    __slots__ = ("at", "code", "content", "head")

    def __init__(self, code: int, at: str, head: str, content: str) -> None:
        self.code = code
        self.at = at
        self.head = head  # the commit that was checked out
        self.content = content  # the hash of the plan


class Facts:
    """The evidence about a plan that `facts.facts_of` collects from the disk."""

    __slots__ = (
        "allowed", "approved", "confirmed", "faults", "head", "released", "requirements",
        "results", "waived",
    )  # fmt: skip

    def __init__(self) -> None:
        self.requirements: str | None = None  # the text of the requirements document
        self.faults: dict[str, str] = {}  # by file that a criterion names: what is wrong with it
        self.head = ""  # the commit that is checked out; empty without git
        self.allowed: dict[str, str] = {}  # command hash -> when a person allowed it
        self.results: dict[str, CheckResult] = {}  # command hash -> its last result
        # What a person said, by the hash of what they saw; the plan file alone proves nothing.
        self.approved: dict[str, str] = {}
        self.waived: dict[str, str] = {}  # work without GitHub issues
        self.released: dict[str, str] = {}
        self.confirmed: dict[str, str] = {}  # by `confirmation_hash`


class Judgement:
    """One criterion with its state, the evidence, and the command that would satisfy it."""

    __slots__ = ("command", "criterion", "evidence", "state")

    def __init__(self, criterion: Criterion, state: str, evidence: str, command: str = "") -> None:
        self.criterion = criterion
        self.state = state
        self.evidence = evidence
        self.command = command  # empty when the criterion is met

    @property
    def is_met(self) -> bool:
        """Whether nothing is left to do. Stale evidence does not count."""
        return self.state == MET


def evaluate(plan: PlanFile, facts: Facts) -> "list[Judgement]":
    """Judge every criterion, in the order of the file."""
    return [
        Judgement(criterion, *_judged(plan, facts, number, criterion))
        for number, criterion in enumerate(plan.criteria, 1)
    ]


def approval_of(plan: PlanFile, facts: Facts) -> Judgement:
    """Judge the approval of the plan, whether or not its criteria name it."""
    return Judgement(Criterion(_APPROVAL), *_approval(plan, facts))


def needs_confirmation(plan: PlanFile, criterion: Criterion) -> bool:
    """Whether only a person can confirm the criterion."""
    return not (criterion.file or criterion.command or _default(plan, criterion))


def review_blockers(plan: PlanFile, facts: Facts) -> "list[str]":
    """List everything that keeps the plan from being reviewed."""
    return _requirement_faults(plan, facts) + _module_faults(plan)


def approval_blockers(plan: PlanFile, facts: Facts) -> "list[str]":
    """List everything that keeps the plan from being approved.

    The default criteria are left out: approval itself satisfies them.
    """
    return review_blockers(plan, facts) + [
        f"{judgement.criterion.text}: {judgement.evidence}"
        for judgement in evaluate(plan, facts)
        if not judgement.is_met and not _is_default(plan, judgement.criterion)
    ]


def content_hash(plan: PlanFile, requirements: "str | None") -> str:
    """Return the hash for which an approval or a confirmation is valid.

    It covers the requirements document and the frontmatter, except for the fields that change
    during the work (statuses, issue numbers, flags, the key `fairlead`). Comments, quoting and
    the body of the plan file may change; a goal, module, priority or criterion may not.
    """
    return _sha256(
        plan.content + _length_prefixed("-" if requirements is None else "+" + requirements)
    )


def confirmation_hash(text: str, content: str) -> str:
    """Return the hash by which a person confirms a criterion for one content of the plan."""
    return _sha256(_length_prefixed(text) + content)


def command_hash(command: "tuple[str, ...]") -> str:
    """Return the hash by which a person allows a command: program and every argument."""
    return _sha256("".join(_length_prefixed(word) for word in command))


def heading_faults(text: str, names: "tuple[str, ...]") -> "list[str]":
    """List what a requirements document lacks: headings, or text below them."""
    filled = _headings(text)
    missing = [repr(name) for name in names if _folded(name) not in filled]
    empty = [repr(name) for name in names if filled.get(_folded(name)) is False]
    faults = (("heading", missing), ("text under", empty))
    return [f"has no {what} {', '.join(which)}" for what, which in faults if which]


def _judged(plan: PlanFile, facts: Facts, number: int, criterion: Criterion) -> "tuple[str, ...]":
    """Return state, evidence and, unless it is met, the command that would satisfy it."""
    confirm = f"fairlead planning confirm {number}"
    if criterion.file:
        return _file(facts, criterion.file)
    if criterion.command:
        return _command(plan, facts, criterion.command, confirm)
    default = _default(plan, criterion)
    if not default:
        return _confirmation(plan, facts, criterion.text, confirm)
    rules = {
        _REQUIREMENTS: _requirements,
        _MODULES: _modules,
        _ISSUES: _issues,
        _APPROVAL: _approval,
    }
    return rules[default](plan, facts)


# --- the four defaults -------------------------------------------------------------------


def _default(plan: PlanFile, criterion: Criterion) -> str:
    """Return the default criterion that this text means; empty if it means none."""
    text = _folded(criterion.text)
    if text == _folded(f"{plan.requirements_file} complete"):
        return _REQUIREMENTS
    return next((default for default in DEFAULT_CRITERIA if _folded(default) == text), "")


def _is_default(plan: PlanFile, criterion: Criterion) -> bool:
    return not (criterion.file or criterion.command) and bool(_default(plan, criterion))


def _requirements(plan: PlanFile, facts: Facts) -> "tuple[str, ...]":
    faults = _requirement_faults(plan, facts)
    if faults:
        return UNMET, "; ".join(faults), _requirements_command(plan, facts)
    return MET, f"{plan.requirements_file} has text for each of {len(plan.sections)} sections"


def _requirement_faults(plan: PlanFile, facts: Facts) -> "list[str]":
    document = plan.requirements_file
    if facts.requirements is None:
        faults = [f"{document} {facts.faults.get(document) or 'does not exist'}"]
    elif not facts.requirements.strip():
        faults = [f"{document} is empty"]
    else:
        names = tuple(section.name for section in plan.sections)
        faults = [f"{document} {fault}" for fault in heading_faults(facts.requirements, names)]
    if not plan.sections:
        faults.append("no requirement sections are defined")
    unfinished = [
        f"{section.name!r} is {section.status}"
        for section in plan.sections
        if section.status != COMPLETE
    ]
    return faults + ([f"requirement {', '.join(unfinished)}"] if unfinished else [])


def _requirements_command(plan: PlanFile, facts: Facts) -> str:
    document = shell_quoted(plan.requirements_file)
    names = tuple(section.name for section in plan.sections)
    if not names:
        return "fairlead planning add requirement NAME"
    if facts.requirements is None:
        return f"fairlead planning export --format requirements > {document}"
    if not facts.requirements.strip() or heading_faults(facts.requirements, names):
        return f"write the text of each section into {document}"
    unfinished = next(section.name for section in plan.sections if section.status != COMPLETE)
    return f"fairlead planning modify requirement {shell_quoted(unfinished)} --status complete"


def _modules(plan: PlanFile, facts: Facts) -> "tuple[str, ...]":  # noqa: ARG001
    faults = _module_faults(plan)
    if not faults:
        return MET, f"acceptance criteria: {', '.join(module.id for module in plan.modules)}"
    bare = next((module.id for module in plan.modules if not module.criteria.strip()), "")
    verb = f"modify module {bare}" if bare else "add module NAME"
    return UNMET, "; ".join(faults), f"fairlead planning {verb} --criteria TEXT"


def _module_faults(plan: PlanFile) -> "list[str]":
    if not plan.modules:
        return ["no modules are defined"]
    return [
        f"module {module.id!r} has no acceptance criteria"
        for module in plan.modules
        if not module.criteria.strip()
    ]


def _issues(plan: PlanFile, facts: Facts) -> "tuple[str, ...]":
    without = [module.id for module in plan.modules if not module.issue]
    if plan.modules and not without:
        return MET, f"issues {', '.join(module.issue for module in plan.modules)}"
    if plan.modules and plan.issues_waived:
        if content_hash(plan, facts.requirements) in facts.waived:
            return MET, f"waived at {plan.issues_waived}"
        return UNMET, "no waiver of a person is recorded", _approval_command(plan, facts)
    evidence = f"no issue for: {', '.join(without)}" if without else "no modules are defined"
    return UNMET, evidence, _approval_command(plan, facts)


def _approval(plan: PlanFile, facts: Facts) -> "tuple[str, ...]":
    if not plan.is_approved:
        return UNMET, f"the plan is {plan.status}", _approval_command(plan, facts)
    command = "fairlead planning reset --reopen --confirm"
    content = content_hash(plan, facts.requirements)
    if plan.approved_hash and plan.approved_hash != content:
        return STALE, "the plan changed after its approval", command
    if content not in facts.approved:
        # The file says so, but any agent can write that line.
        return UNMET, "no approval of this plan by a person is recorded", command
    if not (plan.is_complete and plan.status == APPROVED):
        return UNMET, "status and plan_phase_complete contradict each other", command
    return MET, f"approved as {content[:19]}"


def _approval_command(plan: PlanFile, facts: Facts) -> str:
    is_ready = plan.status == REVIEWING and not review_blockers(plan, facts)
    return f"fairlead planning {'approve' if is_ready else 'review'}"


# --- criteria that a person added --------------------------------------------------------


def _confirmation(plan: PlanFile, facts: Facts, text: str, command: str) -> "tuple[str, ...]":
    given = [confirmation for confirmation in plan.confirmations if confirmation.text == text]
    if not given:
        return UNMET, "a person must confirm it", command
    evidence = f"confirmed at {given[-1].at}"
    content = content_hash(plan, facts.requirements)
    if confirmation_hash(text, given[-1].hash) not in facts.confirmed:
        return UNMET, "no confirmation of a person is recorded", command
    if given[-1].hash == content:
        return MET, evidence
    return STALE, f"{evidence}, but the plan changed since", command


def _file(facts: Facts, path: str) -> "tuple[str, ...]":
    fault = facts.faults.get(path, "was not read")
    if fault:
        return UNMET, f"{path} {fault}", f"write {shell_quoted(path)}"
    return MET, f"{path} is not empty"


def _command(
    plan: PlanFile, facts: Facts, command: "tuple[str, ...]", confirm: str
) -> "tuple[str, ...]":
    line = " ".join(shell_quoted(word) for word in command)
    name = command_hash(command)
    result = facts.results.get(name)
    if name not in facts.allowed:
        return UNMET, f"nobody has allowed: {line}", confirm
    if result is None:
        return UNMET, f"not run yet: {line}", confirm
    evidence = f"{line} exited with {result.code} at {result.at}"
    if result.head != facts.head or result.content != content_hash(plan, facts.requirements):
        return STALE, f"{evidence}, for another commit or plan", confirm
    return (UNMET, evidence, confirm) if result.code else (MET, evidence)


# --- texts -------------------------------------------------------------------------------


def shell_quoted(word: str) -> str:
    """Quote a word for a shell. It is only shown; `shlex` is too slow to import in the hook."""
    is_plain = bool(word) and all(
        (char.isascii() and char.isalnum()) or char in "-_./" for char in word
    )
    return word if is_plain else "'" + word.replace("'", "'\\''") + "'"


def _headings(text: str) -> "dict[str, bool]":
    """Return every heading of a document, and whether there is text below it."""
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
            above = [heading for heading in above if heading[0] < level]
            above.append((level, title))
            filled.setdefault(title, False)
        elif bare and not mark:
            # Text counts for its heading and for every heading above that one.
            for _, title in above:
                filled[title] = True
    return filled


def _without_comments(text: str) -> str:
    """Remove HTML comments: the comments of a template are not requirements."""
    head, *rest = text.split("<!--")
    return head + "".join(part.partition("-->")[2] for part in rest)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _length_prefixed(text: str) -> str:
    """Prefix a text with its length, so that no two sequences of texts are hashed alike."""
    return f"{len(text)}:{text},"


def _sha256(text: str) -> str:
    import hashlib  # a fifth of the interpreter's start-up, and most plans need no hash

    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
