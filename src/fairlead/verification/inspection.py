"""Compares what the plans of a phase promise with the files, the commands and the summaries.

It works backward from the goal: success criteria of the roadmap, truths, artifacts, links,
commands, files, then the claims of the summaries. Pure: `Evidence` contains everything it needs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field, replace
from fairlead.execution.judge import ran_no_test
from fairlead.plans.check import cannot_fail
from fairlead.plans.model import Artifact, Link, PlanDocument
from fairlead.project.summary import Summary, read_summary
from fairlead.verification import claims, empty_tests, placeholders, stubs, usage
from fairlead.verification.model import (
    CheckKind,
    CheckState,
    HumanItem,
    Override,
    RepositoryFacts,
    RuleFinding,
    VerificationCheck,
    VerificationResult,
    VerifyCommand,
    is_alike,
    share_of,
    tokens,
)
from fairlead.verification.source_code import CODE, language_of

# Truths about behaviour over time. A file cannot prove them, only a command can.
_BEHAVIOUR = lazy_pattern(
    r"\b(?:retr(?:y|ies)|cancel\w*|clean(?:s|ed)? ?up|restart\w*|persist\w*|surviv\w*|concurren\w*"
    r"|race|idempotent|order(?:ed|ing)|rollback|roll(?:s|ed)? back|expires?|timeout|transition\w*"
    r"|recover\w*)\b",
    re.IGNORECASE,
)
_NOT_MADE = r"(?:not|instead|skip|unn|delet|remov|renam|moved)"
_MIN_SHARE = 0.3  # of a criterion's words that plans or code must contain
_NO_SUMMARY = Summary("", 0, "", "")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that an inspection needs."""

    plans: tuple[PlanDocument, ...]
    summaries: Mapping[str, tuple[str, str]]  # plan -> path and text
    sources: usage.SourceIndex
    repository: RepositoryFacts
    special_files: Mapping[str, str] = field(default_factory=dict)  # path -> "a link", …
    commands: tuple[VerifyCommand, ...] = ()
    criteria: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()  # that the roadmap assigns to the phase
    questions: tuple[HumanItem, ...] = ()  # known before the inspection
    issues: tuple[RuleFinding, ...] = ()  # reported by a person or by the verifier
    overrides: tuple[Override, ...] = ()
    answered: tuple[str, ...] = ()  # tests that a person has passed


def inspect_phase(evidence: Evidence) -> VerificationResult:
    """Check everything that the plans of a phase promise."""
    return _Inspection(evidence).result()


class _Inspection:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._sources = evidence.sources
        self._summaries = {
            plan: read_summary(text) for plan, (_, text) in evidence.summaries.items()
        }
        self._checks: list[VerificationCheck] = []
        self._findings: list[RuleFinding] = list(evidence.issues)
        self._questions: list[HumanItem] = list(evidence.questions)

    def result(self) -> VerificationResult:
        # The order matters: artifacts use the findings of files, truths use all checks of a plan.
        for plan in self._evidence.plans:
            if plan.id in self._evidence.summaries:
                path, text = self._evidence.summaries[plan.id]
                self._findings += claims.findings_of(path, text, plan, self._evidence.repository)
            self._findings += self._file_findings(plan)
            self._checks += self._command_checks(plan)
            self._checks += [self._artifact_check(plan, each) for each in plan.must_haves.artifacts]
            self._checks += [self._link_check(plan, link) for link in plan.must_haves.links]
        self._checks += self._requirement_checks()
        truths = [check for plan in self._evidence.plans for check in self._truth_checks(plan)]
        self._checks = [*truths, *self._criterion_checks(truths), *self._checks]
        self._questions += [
            HumanItem(check.what, check.detail or check.what, "no command and no file proves it")
            for check in self._checks
            if check.state is CheckState.UNCERTAIN
        ]
        return self._with_overrides()

    # -- files ------------------------------------------------------------------------------

    def _file_findings(self, plan: PlanDocument) -> Iterator[RuleFinding]:
        summary = self._summaries.get(plan.id, _NO_SUMMARY)
        promised = {artifact.path: artifact for artifact in plan.must_haves.artifacts}
        existing = {path for path in summary.modified if path not in promised}
        for path in self._declared_files(plan, summary):
            if path in self._evidence.special_files:
                why = f"it is {self._evidence.special_files[path]}, not a file"
                yield RuleFinding("not-a-file", path, 0, why, "put a file there", plan=plan.id)
            elif path not in self._sources.texts:
                yield from self._missing_file(plan, path, is_promised=path in promised)
            else:
                exports = promised[path].exports if path in promised else ()
                yield from self._content(plan, path, exports, is_existing=path in existing)

    def _declared_files(self, plan: PlanDocument, summary: Summary) -> list[str]:
        named = (
            *(artifact.path for artifact in plan.must_haves.artifacts),
            *plan.files,
            *(path for task in plan.tasks for path in task.files),
            # A name with escapes is not the name on disk.
            *(path for path in (*summary.created, *summary.modified) if "\\" not in path),
        )
        paths = dict.fromkeys(path.strip().removeprefix("./") for path in named)
        return [
            path
            for path in paths
            if path and path not in plan.deleted and not path.startswith((".planning/", "/", "~"))
            if not set("*{}<> ") & set(path) and not path.endswith("/")
        ]

    def _missing_file(
        self, plan: PlanDocument, path: str, *, is_promised: bool
    ) -> Iterator[RuleFinding]:
        if self._evidence.repository.has_file(path):
            return  # a folder, or a file that is not text
        _, summary = self._evidence.summaries.get(plan.id, ("", ""))
        name = re.escape(path)
        # A summary may explain why a declared file was not needed.
        is_explained = re.search(rf"{_NOT_MADE}[^\n]*{name}|{name}[^\n]*{_NOT_MADE}", summary)
        yield RuleFinding(
            "missing-file",
            path,
            0,
            "the plan declares it, and it does not exist",
            "create it",
            plan=plan.id,
            is_blocking=is_promised or not is_explained,
        )

    def _content(
        self, plan: PlanDocument, path: str, exports: tuple[str, ...], *, is_existing: bool
    ) -> Iterator[RuleFinding]:
        text, sources = self._sources.texts[path], self._sources
        findings = stubs.findings_of(
            path,
            text,
            wanted=exports,
            is_subclassed=sources.is_subclassed,
            has_sibling=sources.has_sibling,
        )
        stub_count = sum(each.is_blocking and each.rule == "stub-body" for each in findings)
        functions = max(1, len(re.findall(r"\b(?:def|func|function|fn)\b|=>", text)))
        findings += placeholders.findings_of(path, text)
        findings += empty_tests.findings_of(path, text)
        # A file that existed before may contain unfinished parts that this phase did not write.
        is_spared = is_existing and stub_count * 2 < functions
        spared = ("stub-body", "unfinished", "placeholder") if is_spared else ()
        for finding in findings:
            is_blocking = finding.is_blocking and finding.rule not in spared
            yield replace(finding, plan=plan.id, is_blocking=is_blocking)
        if not is_existing and (unused := usage.unused(path, sources)):
            yield replace(unused, plan=plan.id)

    # -- must-haves -------------------------------------------------------------------------

    def _artifact_check(self, plan: PlanDocument, artifact: Artifact) -> VerificationCheck:
        path = artifact.path.strip().removeprefix("./")
        artifact = replace(artifact, path=path)
        what = f"{path}: {artifact.provides}" if artifact.provides else path or artifact.provides
        check = VerificationCheck(
            CheckKind.ARTIFACT, what, CheckState.VERIFIED, path, plan.id, path=path
        )
        known = [each for each in self._findings if each.path == path and each.is_blocking]
        faults = list(self._artifact_faults(artifact, plan.id))
        self._findings += faults
        if not re.fullmatch(r"\S+", path) or (path not in self._sources.texts and not known):
            if self._evidence.repository.has_file(path):
                return check
            return replace(check, state=CheckState.UNCERTAIN, detail=f"{what} names no file")
        if known or faults:
            first = (known + faults)[0]
            return replace(check, state=CheckState.FAILED, detail=first.why, evidence=first.place)
        lines = len(self._sources.texts[path].splitlines())
        users = self._sources.users_of(path)[:1] if language_of(path) in CODE else []
        used = f", used by {users[0]}" if users else ""
        return replace(check, evidence=f"{path}:1 ({lines} lines{used})")

    def _artifact_faults(self, artifact: Artifact, plan: str) -> Iterator[RuleFinding]:
        path, text = artifact.path, self._sources.texts.get(artifact.path)
        if text is None:
            return
        fault = partial(RuleFinding, path=path, plan=plan)
        lines = len(text.splitlines())
        if artifact.min_lines and lines < artifact.min_lines:
            why = f"it has {lines} lines, {artifact.min_lines} were promised"
            yield fault("too-short", line=lines, why=why, cure="write the rest")
        elif artifact.min_lines and (thin := stubs.padding_of(path, text, artifact.min_lines)):
            yield replace(thin, plan=plan)
        if artifact.contains and not usage.contains(path, text, artifact.contains):
            why = f"{artifact.contains!r} is not in it, or only in a comment"
            subject = artifact.contains[:40]
            yield fault("lacks-text", line=1, why=why, cure="write it as code", subject=subject)
        for name in usage.missing_exports(artifact, self._sources):
            why = f"{name} is promised, and not defined or not exported there"
            cure = f"define and export {name}"
            yield fault("lacks-export", line=1, why=why, cure=cure, subject=name)

    def _link_check(self, plan: PlanDocument, link: Link) -> VerificationCheck:
        what = f"{link.from_} → {link.to}" if link.from_ else link.via
        plain = replace(link, from_=link.from_.removeprefix("./"), to=link.to.removeprefix("./"))
        fault, place = usage.link_fault(plain, self._sources)
        check = VerificationCheck(
            CheckKind.LINK, what, CheckState.VERIFIED, place, plan.id, path=plain.from_
        )
        if fault:
            cure = f"connect them: {link.via}" if link.via else "connect them"
            self._findings.append(
                RuleFinding("not-wired", plain.from_, 0, fault, cure, link.to[:60], plan=plan.id)
            )
            return replace(check, state=CheckState.FAILED, detail=fault)
        if place:
            return check
        return replace(check, state=CheckState.UNCERTAIN, detail=link.via or what)

    def _command_checks(self, plan: PlanDocument) -> Iterator[VerificationCheck]:
        for command in self._evidence.commands:
            if command.plan != plan.id:
                continue
            check = VerificationCheck(
                CheckKind.COMMAND, command.line, CheckState.VERIFIED, "", plan.id
            )
            result = command.result
            if result is None:
                detail = f"run it: {command.line}"
                yield replace(check, state=CheckState.UNCERTAIN, detail=detail)
                continue
            rule = why = cure = ""
            if result.problem:
                rule, why = "command-failed", result.problem
            elif result.is_timeout:
                rule, why = "command-failed", "it did not finish in time"
            elif result.exit_code:
                rule, why = "command-failed", f"it exited with {result.exit_code}"
            elif idle := ran_no_test(result.tail):
                rule, why = "command-idle", f"it succeeded without running a test: {idle}"
                cure = "let it run tests"
            if not rule:
                yield replace(check, evidence=result.summary)
                continue
            self._findings.append(
                RuleFinding(
                    rule,
                    "",
                    0,
                    f"`{command.line}`: {why}",
                    cure or "make it succeed",
                    command.line[:60],
                    plan=plan.id,
                )
            )
            yield replace(check, state=CheckState.FAILED, detail=why, evidence=result.summary)

    # -- conclusions ------------------------------------------------------------------------

    def _truth_checks(self, plan: PlanDocument) -> Iterator[VerificationCheck]:
        checks = [check for check in self._checks if check.plan == plan.id]
        failed = [check for check in checks if check.state is CheckState.FAILED]
        blocking = [each for each in self._findings if each.plan == plan.id and each.is_blocking]
        evidence = [check for check in checks if _is_evidence(check)]
        commands = [check for check in evidence if check.kind is CheckKind.COMMAND]
        for truth in plan.must_haves.truths:
            check = VerificationCheck(CheckKind.TRUTH, truth, CheckState.VERIFIED, "", plan.id)
            if truth in plan.must_haves.backstops:
                detail = "it needs evidence of its own"
                yield replace(check, state=CheckState.UNCERTAIN, detail=detail)
            elif failed or blocking:
                detail = (
                    failed[0].detail if failed else f"{blocking[0].place} {blocking[0].why}".strip()
                )
                yield replace(check, state=CheckState.FAILED, detail=detail)
            elif commands or (evidence and not _BEHAVIOUR.search(truth)):
                yield replace(check, evidence=_shown(commands or evidence))
            else:
                yield replace(check, state=CheckState.UNCERTAIN, detail=f"check it: {truth}")
        if not (plan.must_haves.truths or failed or blocking or evidence):
            what = plan.objective.split("\n")[0][:120] or f"plan {plan.id}"
            yield VerificationCheck(
                CheckKind.TRUTH, what, CheckState.UNCERTAIN, "", plan.id, "nothing of it is checked"
            )

    def _criterion_checks(self, truths: list[VerificationCheck]) -> Iterator[VerificationCheck]:
        words: frozenset[str] | None = None
        evidence = [check for check in self._checks if _is_evidence(check)]
        has_gaps = any(check.state is CheckState.FAILED for check in self._checks)
        for criterion in self._evidence.criteria:
            if any(is_alike(truth.what, criterion) for truth in truths):
                continue  # the truth is checked instead
            check = VerificationCheck(CheckKind.CRITERION, criterion, CheckState.VERIFIED)
            words = words if words is not None else self._words()
            if share_of(criterion, words) < _MIN_SHARE:
                detail = "no plan and no file mentions it"
                yield replace(check, state=CheckState.UNCERTAIN, detail=detail)
            elif has_gaps:
                yield replace(check, state=CheckState.FAILED, detail="the work for it has gaps")
            elif evidence:
                yield replace(check, evidence=_shown(evidence))
            else:
                detail = "nothing of it is checked"
                yield replace(check, state=CheckState.UNCERTAIN, detail=detail)

    def _words(self) -> frozenset[str]:
        """Return every word of the plans and of the files that they declare."""
        words: set[str] = set()
        for plan in self._evidence.plans:
            haves = plan.must_haves
            summary = self._summaries.get(plan.id, _NO_SUMMARY)
            texts = (
                plan.objective,
                *haves.truths,
                *(f"{each.path} {each.provides} {each.contains}" for each in haves.artifacts),
                *(f"{task.name} {task.action} {task.done} {task.verify}" for task in plan.tasks),
                *(
                    f"{path} {self._sources.texts.get(path, '')}"
                    for path in self._declared_files(plan, summary)
                ),
            )
            words.update(*map(tokens, texts))
        return frozenset(words)

    def _requirement_checks(self) -> Iterator[VerificationCheck]:
        planned = {name for plan in self._evidence.plans for name in plan.requirements}
        for name in self._evidence.requirements if planned else ():
            check = VerificationCheck(CheckKind.REQUIREMENT, name, CheckState.VERIFIED, "in a plan")
            if name not in planned:
                why = f"requirement {name} belongs to the phase, and no plan has it"
                cure = f"plan {name}, or move it to another phase"
                self._findings.append(RuleFinding("requirement-unplanned", "", 0, why, cure, name))
                check = replace(check, state=CheckState.FAILED, evidence="", detail=why)
            yield check

    # -- overrides --------------------------------------------------------------------------

    def _with_overrides(self) -> VerificationResult:
        """Return the result, with everything marked that a person has accepted or answered."""
        evidence = self._evidence
        # A finding that was reported twice keeps its first place.
        findings = tuple({each.key: each for each in reversed(self._findings)}.values())[::-1]
        answers = (*(override.what for override in evidence.overrides), *evidence.answered)
        keys = {_folded(answer) for answer in answers}
        accepted = {finding.key for finding in findings if _folded(finding.key) in keys}
        accepted |= {
            item.test
            for item in self._questions
            if any(is_alike(item.test, answer) for answer in answers)
        }
        excused = [each for each in findings if each.key in accepted]
        left = [each for each in findings if each.is_blocking and each.key not in accepted]
        checks = tuple(_overridden(check, answers, excused, left) for check in self._checks)
        questions = tuple({item.test: item for item in self._questions}.values())
        return VerificationResult(
            checks, findings, questions, evidence.overrides, tuple(sorted(accepted))
        )


def _overridden(
    check: VerificationCheck,
    answers: Iterable[str],
    excused: list[RuleFinding],
    left: list[RuleFinding],
) -> VerificationCheck:
    """Mark a check as overridden that failed only because of findings a person accepted."""
    if check.state not in (CheckState.FAILED, CheckState.UNCERTAIN):
        return check
    is_answered = any(is_alike(check.what, answer) for answer in answers)

    def concerns(finding: RuleFinding) -> bool:
        return check.path in ("", finding.path) and check.plan in ("", finding.plan)

    is_excused = (
        check.state is CheckState.FAILED
        and any(map(concerns, excused))
        and not any(map(concerns, left))
    )
    return replace(check, state=CheckState.OVERRIDDEN) if is_answered or is_excused else check


def _is_evidence(check: VerificationCheck) -> bool:
    """Whether a check proves something; a command that cannot fail proves nothing."""
    if check.state is not CheckState.VERIFIED or check.kind is CheckKind.REQUIREMENT:
        return False
    return check.kind is not CheckKind.COMMAND or not cannot_fail(check.what)


def _shown(checks: list[VerificationCheck]) -> str:
    return "; ".join(
        f"`{check.what}` {check.evidence}" if check.kind is CheckKind.COMMAND else check.evidence
        for check in checks[:2]
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
