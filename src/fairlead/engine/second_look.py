"""A second look at a phase, by the verifier's role: it may add gaps and questions, nothing else.

What it calls verified is not even read: a check that failed stays failed whatever is said of it.
A gap it names is only a gap if it names a file that exists; else it is a question to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairlead.engine.role_calls import Ask, Given, RoleCalls
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs
from fairlead.engine.role_site import Company, RoleSite
from fairlead.engine.verify_case import Case
from fairlead.errors import VerifierFault
from fairlead.model.job import JobStatus
from fairlead.model.roles import role
from fairlead.model.verification import Finding, HumanItem, Verified
from fairlead.store.source_tree import SourceTree

_PLACE = re.compile(r"`?([\w@./()\[\]-]+\.\w+)(?::(\d+))?`?")
Added = tuple[tuple[Finding, ...], tuple[HumanItem, ...]]


class SecondLook:
    """Asks the verifier."""

    def __init__(self, jobs: RoleJobs, company: Company, workstream: str = "") -> None:
        self._jobs = jobs
        self._company = company
        self._workstream = workstream

    def ask(self, case: Case, found: Verified, tree: SourceTree) -> Added:
        """What the verifier adds to what the rules found."""
        number = case.phase.id.short
        command = f"fairlead phase verify {number}"
        errand = Errand("verify", number, command, workstream=self._workstream)
        added: list[Added] = []

        def work(site: RoleSite) -> Outcome:
            asked = Ask(role("verifier"), "verify", _pieces(case, found), {"phase": number})
            reply = RoleCalls(site).call(asked, lambda given: _read(given, tree))
            if reply.value is None:
                return Outcome(JobStatus.FAILED, reply.note)
            added.append(reply.value)
            return Outcome(note=f"{len(reply.value[0])} gaps added")

        report = self._jobs.run(errand, self._company, work)
        if not added:
            raise VerifierFault(number, report.job.note)
        return added[0]


def _pieces(case: Case, found: Verified) -> dict[str, str]:
    rules = [f"{each.place} {each.rule}: {each.why}" for each in found.findings]
    rules += [f"{each.state}: {each.kind} {each.what} {each.evidence}" for each in found.checks]
    must = [f"- {truth}" for sheet in case.sheets for truth in sheet.must_haves.truths]
    must += [
        f"- file {each.path}: {each.provides}"
        for sheet in case.sheets
        for each in sheet.must_haves.artifacts
    ]
    return {
        "goal": case.goal or case.phase.name,
        "criteria": "\n".join(f"- {each}" for each in case.criteria),
        "must-haves": "\n".join(must),
        "findings": "\n".join(rules),
        "summaries": "\n\n".join(text for _, text in case.summaries.values()),
    }


def _read(given: Given, tree: SourceTree) -> Added:
    findings: list[Finding] = []
    items: list[HumanItem] = []
    for each in _maps(given.answer.get("gaps")):
        truth, reason = str(each.get("truth", "")), str(each.get("reason", ""))
        path, line = _place(f"{each.get('path', '')} {reason} {each.get('missing', '')}", tree)
        missing = each.get("missing")
        cure = "; ".join(map(str, missing)) if isinstance(missing, list) else str(missing or truth)
        if path and truth:
            findings.append(
                Finding("verifier", path, line, reason or truth, cure or truth, truth[:80])
            )
        elif truth:
            items.append(HumanItem(truth, cure or truth, f"the verifier doubts it: {reason}"))
    for each in _maps(given.answer.get("truths")):
        if str(each.get("status", "")).strip().lower() == "human" and each.get("truth"):
            why = str(each.get("evidence") or "the verifier leaves it to a person")
            items.append(HumanItem(str(each["truth"]), str(each["truth"]), why))
    return tuple(findings), tuple(items)


def _maps(held: object) -> Iterator[dict[str, object]]:
    for each in held if isinstance(held, list) else ():
        if isinstance(each, dict):
            yield each


def _place(text: str, tree: SourceTree) -> tuple[str, int]:
    for match in _PLACE.finditer(text):
        path = match[1].removeprefix("./")
        if path in tree.texts:
            return path, int(match[2] or 1)
    return "", 0
