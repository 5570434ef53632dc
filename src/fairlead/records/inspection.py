"""An inspection of a phase: what its plans promise, held against what is there and what ran.

It goes backward from the goal: criteria of the roadmap, truths, artifacts, links, commands, files,
and then the words of the summaries. Everything it needs is given; nothing here looks or runs.
"""

import re
from collections.abc import Iterable, Iterator

from fairlead.model.plan import Artifact, Link, PlanSheet
from fairlead.model.verification import (
    Check,
    Finding,
    HumanItem,
    Kind,
    State,
    Verified,
    is_alike,
    share_of,
    tokens,
)
from fairlead.records import claims, hollow_tests, placeholders, stubs, usage
from fairlead.records.plan_check import cannot_fail
from fairlead.records.runner_reports import ran_no_test
from fairlead.records.subject import Subject
from fairlead.records.summary import Summary, read_summary
from fairlead.text.code import CODE, language_of
from fairlead.values import replace

_BEHAVIOUR = re.compile(
    r"\b(?:retr(?:y|ies)|cancel\w*|clean(?:s|ed)? ?up|restart\w*"
    r"|persist\w*|surviv\w*|concurren\w*|race|idempotent|order(?:ed"
    r"|ing)|"
    r"rollback|roll(?:s|ed)? back|expires?|timeout|transition\w*|recover\w*)\b",
    re.IGNORECASE,
)
_LEAST_SHARE = 0.3  # of a criterion's words that plans or code must speak of


def inspected(subject: Subject) -> Verified:
    """Check everything."""
    return _Inspection(subject).verified()


class _Inspection:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._project = subject.project
        self._read = {plan: read_summary(text) for plan, (_, text) in subject.summaries.items()}
        self._checks: list[Check] = []
        self._findings: list[Finding] = list(subject.issues)
        self._human: list[HumanItem] = list(subject.items)

    def verified(self) -> Verified:
        for sheet in self._subject.sheets:
            self._findings += self._claims(sheet)
            self._findings += self._files(sheet)
            self._checks += self._commands(sheet)
            self._checks += [self._artifact(sheet, each) for each in sheet.must_haves.artifacts]
            self._checks += [self._link(sheet, each) for each in sheet.must_haves.links]
        self._checks += self._requirements()
        wanted = [check for sheet in self._subject.sheets for check in self._truths(sheet)]
        self._checks = [*wanted, *self._criteria(wanted), *self._checks]
        self._human += [
            HumanItem(each.what, each.detail or each.what, "no command and no file shows it")
            for each in self._checks
            if each.state is State.UNCERTAIN
        ]
        return self._settled()

    # -- files ------------------------------------------------------------------------------

    def _files(self, sheet: PlanSheet) -> Iterator[Finding]:
        read = self._read.get(sheet.id, Summary("", 0, "", ""))
        promised = {each.path: each for each in sheet.must_haves.artifacts}
        old = {path for path in read.modified if path not in promised}
        for path in self._declared(sheet, read):
            is_promised = path in promised
            if path in self._subject.odd:
                why = f"it is {self._subject.odd[path]}, not a file"
                yield Finding("not-a-file", path, 0, why, "put a file there", plan=sheet.id)
            elif path not in self._project.texts:
                yield from self._absent(sheet, path, is_promised=is_promised)
            else:
                names = promised[path].exports if is_promised else ()
                yield from self._content(sheet, path, names, is_old=path in old)

    def _declared(self, sheet: PlanSheet, read: Summary) -> list[str]:
        named = (
            *(each.path for each in sheet.must_haves.artifacts),
            *sheet.files,
            *(path for task in sheet.tasks for path in task.files),
            # A name in visible form is not the one on the disk.
            *(path for path in (*read.created, *read.modified) if "\\" not in path),
        )
        plain = dict.fromkeys(path.strip().removeprefix("./") for path in named)
        gone = {*sheet.deleted}
        return [
            path
            for path in plain
            if path and path not in gone and not path.startswith((".planning/", "/", "~"))
            if not set("*{}<> ") & set(path) and not path.endswith("/")
        ]

    def _absent(self, sheet: PlanSheet, path: str, *, is_promised: bool) -> Iterator[Finding]:
        if self._subject.known.has_file(path):
            return  # a folder, or a file that is no text
        _, text = self._subject.summaries.get(sheet.id, ("", ""))
        is_told = path in text and bool(
            re.search(
                rf"(?:not|instead|skip|unn|delet|remov|renam|moved)[^\n]*{re.escape(path)}|{re.escape(path)}[^\n]*(?:not|instead|skip|unn|delet|remov|renam|moved)",
                text,
            )
        )
        why = "the plan declares it, and it does not exist"
        yield Finding(
            "missing-file",
            path,
            0,
            why,
            "make it",
            plan=sheet.id,
            is_blocking=is_promised or not is_told,
        )

    def _content(
        self, sheet: PlanSheet, path: str, names: tuple[str, ...], *, is_old: bool
    ) -> Iterator[Finding]:
        text, project = self._project.texts[path], self._project
        found = stubs.findings_of(
            path,
            text,
            wanted=names,
            is_subclassed=project.is_subclassed,
            has_sibling=project.has_sibling,
        )
        blocking = [each for each in found if each.is_blocking and each.rule == "stub-body"]
        functions = max(1, len(re.findall(r"\b(?:def|func|function|fn)\b|=>", text)))
        is_small = is_old and len(blocking) * 2 < functions
        found += placeholders.findings_of(path, text)
        found += hollow_tests.findings_of(path, text)
        # A file that was there before may hold what this phase has not made.
        spared = ("stub-body", "unfinished", "placeholder") if is_small else ()
        for each in found:
            is_blocking = each.is_blocking and each.rule not in spared
            yield replace(each, plan=sheet.id, is_blocking=is_blocking)
        if not is_old and (lonely := usage.unused(path, project)):
            yield replace(lonely, plan=sheet.id)

    # -- what was promised ------------------------------------------------------------------

    def _artifact(self, sheet: PlanSheet, artifact: Artifact) -> Check:
        path = artifact.path.strip().removeprefix("./")
        artifact = replace(artifact, path=path)
        what = f"{path}: {artifact.provides}" if artifact.provides else path or artifact.provides
        check = Check(Kind.ARTIFACT, what, State.VERIFIED, path, sheet.id, path=path)
        faults = [each for each in self._findings if each.path == path and each.is_blocking]
        own = list(self._artifact_faults(artifact, sheet.id))
        self._findings += own
        if not re.fullmatch(r"\S+", path) or (path not in self._project.texts and not faults):
            if self._subject.known.has_file(path):
                return check
            return replace(check, state=State.UNCERTAIN, detail=f"{what} names no file")
        if faults or own:
            why = (faults + own)[0]
            return replace(check, state=State.FAILED, detail=why.why, evidence=why.place)
        lines = len(self._project.texts[path].splitlines())
        users = self._project.users_of(path)[:1] if language_of(path) in CODE else []
        used = f", used by {users[0]}" if users else ""
        return replace(check, evidence=f"{path}:1 ({lines} lines{used})")

    def _artifact_faults(self, artifact: Artifact, plan: str) -> Iterator[Finding]:
        path, text = artifact.path, self._project.texts.get(artifact.path)
        if text is None:
            return
        lines = len(text.splitlines())
        if artifact.min_lines and lines < artifact.min_lines:
            why = f"{lines} lines, {artifact.min_lines} were promised"
            yield Finding("too-short", path, lines, why, "write the rest", plan=plan)
        elif artifact.min_lines and (thin := stubs.padding_of(path, text, artifact.min_lines)):
            yield replace(thin, plan=plan)
        if artifact.contains and not usage.contains(path, text, artifact.contains):
            why = f"{artifact.contains!r} is not in it, or only in a comment"
            yield Finding(
                "lacks-text", path, 1, why, "write it in earnest", artifact.contains[:40], plan=plan
            )
        for name in usage.missing_exports(artifact, self._project):
            why = f"{name} is promised, and not defined or not exported there"
            yield Finding(
                "lacks-export", path, 1, why, f"define and export {name}", name, plan=plan
            )

    def _link(self, sheet: PlanSheet, link: Link) -> Check:
        what = f"{link.from_} → {link.to}" if link.from_ else link.via
        plain = replace(link, from_=link.from_.removeprefix("./"), to=link.to.removeprefix("./"))
        fault, place = usage.link_fault(plain, self._project)
        check = Check(Kind.LINK, what, State.VERIFIED, place, sheet.id, path=plain.from_)
        if fault:
            cure = f"connect them: {link.via}" if link.via else "connect them"
            self._findings.append(
                Finding("not-wired", plain.from_, 0, fault, cure, link.to[:60], plan=sheet.id)
            )
            return replace(check, state=State.FAILED, detail=fault)
        return check if place else replace(check, state=State.UNCERTAIN, detail=link.via or what)

    def _commands(self, sheet: PlanSheet) -> Iterator[Check]:
        for each in self._subject.commands:
            if each.plan != sheet.id:
                continue
            check = Check(Kind.COMMAND, each.line, State.VERIFIED, "", sheet.id)
            ran = each.ran
            if ran is None:
                yield replace(check, state=State.UNCERTAIN, detail=f"run it: {each.line}")
            elif ran.exit_code or ran.problem or ran.is_timeout:
                why = ran.problem or (
                    "it did not end in time" if ran.is_timeout else f"it ended with {ran.exit_code}"
                )
                self._findings.append(
                    Finding(
                        "command-failed",
                        "",
                        0,
                        f"`{each.line}`: {why}",
                        "make it succeed",
                        each.line[:60],
                        plan=sheet.id,
                    )
                )
                yield replace(check, state=State.FAILED, detail=why, evidence=ran.told)
            elif idle := ran_no_test(ran.tail):
                reason = f"it succeeded without a test: {idle}"
                self._findings.append(
                    Finding(
                        "command-idle",
                        "",
                        0,
                        f"`{each.line}`: {reason}",
                        "let it run tests",
                        each.line[:60],
                        plan=sheet.id,
                    )
                )
                yield replace(check, state=State.FAILED, detail=reason, evidence=ran.told)
            else:
                yield replace(check, evidence=ran.told)

    def _claims(self, sheet: PlanSheet) -> list[Finding]:
        if sheet.id not in self._subject.summaries:
            return []
        path, text = self._subject.summaries[sheet.id]
        return claims.findings_of(path, text, sheet, self._subject.known)

    # -- what follows -----------------------------------------------------------------------

    def _truths(self, sheet: PlanSheet) -> Iterator[Check]:
        own = [each for each in self._checks if each.plan == sheet.id]
        bad = [each for each in own if each.state is State.FAILED]
        lies = [each for each in self._findings if each.plan == sheet.id and each.is_blocking]
        shown = [each for each in own if _shows(each)]
        ran = [each for each in shown if each.kind is Kind.COMMAND]
        for truth in sheet.must_haves.truths:
            check = Check(Kind.TRUTH, truth, State.VERIFIED, "", sheet.id)
            if truth in sheet.must_haves.backstops:
                yield replace(check, state=State.UNCERTAIN, detail="it needs evidence of its own")
            elif bad or lies:
                why = bad[0].detail if bad else f"{lies[0].place} {lies[0].why}".strip()
                yield replace(check, state=State.FAILED, detail=why)
            elif ran or (shown and not _BEHAVIOUR.search(truth)):
                yield replace(
                    check, evidence="; ".join(_shown(each) for each in (ran or shown)[:2])
                )
            else:
                yield replace(check, state=State.UNCERTAIN, detail=f"see for yourself: {truth}")
        if not sheet.must_haves.truths and not bad and not lies and not ran and not shown:
            what = sheet.objective.split("\n")[0][:120] or f"plan {sheet.id}"
            yield Check(Kind.TRUTH, what, State.UNCERTAIN, "", sheet.id, "nothing of it is checked")

    def _criteria(self, truths: list[Check]) -> Iterator[Check]:
        spoken: frozenset[str] | None = None
        shown = [each for each in self._checks if _shows(each)]
        has_gaps = any(each.state is State.FAILED for each in self._checks)
        for criterion in self._subject.criteria:
            check = Check(Kind.CRITERION, criterion, State.VERIFIED)
            same = [each for each in truths if is_alike(each.what, criterion)]
            if same:
                continue  # the truth stands for it
            spoken = spoken if spoken is not None else self._spoken()
            share = share_of(criterion, spoken)
            evidence = "; ".join(_shown(each) for each in shown[:2])
            if share >= _LEAST_SHARE and shown and not has_gaps:
                yield replace(check, evidence=evidence)
            elif share >= _LEAST_SHARE and has_gaps:
                yield replace(check, state=State.FAILED, detail="the work for it has gaps")
            else:
                detail = (
                    "no plan and no file speaks of it"
                    if share < _LEAST_SHARE
                    else "nothing of it is checked"
                )
                yield replace(check, state=State.UNCERTAIN, detail=detail)

    def _spoken(self) -> frozenset[str]:
        """Every word of the plans and of the files they declare."""
        words: set[str] = set()
        for sheet in self._subject.sheets:
            haves = sheet.must_haves
            texts = [
                sheet.objective,
                *haves.truths,
                *(f"{a.path} {a.provides} {a.contains}" for a in haves.artifacts),
            ]
            texts += [
                f"{task.name} {task.action} {task.done} {task.verify}" for task in sheet.tasks
            ]
            read = self._read.get(sheet.id, Summary("", 0, "", ""))
            texts += [
                f"{path} {self._project.texts.get(path, '')}"
                for path in self._declared(sheet, read)
            ]
            for text in texts:
                words |= tokens(text)
        return frozenset(words)

    def _requirements(self) -> Iterator[Check]:
        planned = {each for sheet in self._subject.sheets for each in sheet.requirements}
        for each in self._subject.requirements if planned else ():
            check = Check(Kind.REQUIREMENT, each, State.VERIFIED, "in a plan")
            if each not in planned:
                why = f"requirement {each} belongs to the phase, and no plan has it"
                self._findings.append(
                    Finding(
                        "requirement-unplanned",
                        "",
                        0,
                        why,
                        f"plan {each}, or move it to another phase",
                        each,
                    )
                )
                check = replace(check, state=State.FAILED, evidence="", detail=why)
            yield check

    # -- a person's word --------------------------------------------------------------------

    def _settled(self) -> Verified:
        """Everything, with what a person has accepted taken as that."""
        subject = self._subject
        findings = tuple({each.key: each for each in reversed(self._findings)}.values())[::-1]
        said = (*(each.what for each in subject.overrides), *subject.answered)
        accepted = {each.key for each in findings if any(_same(each.key, what) for what in said)}
        accepted |= {
            each.test for each in self._human if any(is_alike(each.test, what) for what in said)
        }
        excused = [each for each in findings if each.key in accepted]
        left = [each for each in findings if each.is_blocking and each.key not in accepted]
        checks = tuple(_excused(each, said, excused, left) for each in self._checks)
        human = tuple({each.test: each for each in self._human}.values())
        return Verified(checks, findings, human, subject.overrides, tuple(sorted(accepted)))


def _excused(
    check: Check, said: Iterable[str], excused: list[Finding], left: list[Finding]
) -> Check:
    """A check that failed for what a person accepted, and for nothing else."""
    if check.state not in (State.FAILED, State.UNCERTAIN):
        return check
    if any(is_alike(check.what, what) for what in said):
        return replace(check, state=State.OVERRIDDEN)
    mine = [
        each for each in excused if check.path in ("", each.path) and check.plan in ("", each.plan)
    ]
    still = [
        each for each in left if check.path in ("", each.path) and check.plan in ("", each.plan)
    ]
    return (
        replace(check, state=State.OVERRIDDEN)
        if mine and not still and check.state is State.FAILED
        else check
    )


def _shows(check: Check) -> bool:
    """Whether a check is evidence: a command that cannot fail is none, nor is a name in a plan."""
    if check.state is not State.VERIFIED or check.kind is Kind.REQUIREMENT:
        return False
    return check.kind is not Kind.COMMAND or not cannot_fail(check.what)


def _same(key: str, what: str) -> bool:
    return (
        re.sub(r"\s+", " ", key).strip().casefold() == re.sub(r"\s+", " ", what).strip().casefold()
    )


def _shown(check: Check) -> str:
    return f"`{check.what}` {check.evidence}" if check.kind is Kind.COMMAND else check.evidence
