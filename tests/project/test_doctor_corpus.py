"""The doctor on real projects: it repairs drift, asks about claims and changes nothing else."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from conformance.counted import Contents, text_of
from fairlead.core.errors import BlockedError, DocumentError
from fairlead.project.derive.inventory import Phase
from fairlead.project.derive.scope import Certainty
from fairlead.project.events import Events
from fairlead.project.health.check import DocumentComparison
from fairlead.project.health.doctor import ClaimPolicy, Doctor
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.overview import Overview
from fairlead.store import layout
from fairlead.store.files import Files, WriteOutcome
from fairlead.text.document import Document
from tests.conftest import Sample
from tests.project.test_doctor import Still, changed_lines, documents
from tests.support.corpus import corpus_projects
from tests.support.trees import read_tree

_PLANS = re.compile(r"^ +(total_plans|completed_plans): *(\d+)", re.MULTILINE)
_NUMBERS = {"progress.total_plans", "progress.completed_plans"}
_NUMBERED_SUMMARY = re.compile(r"(?P<plan>[0-9][\w.]*-[0-9]+)-SUMMARY\.md")
# What a sync writes although no file refutes what stands there, so that a repair leaves it.
_ALSO_SYNCED = {
    # Frontmatter that is missing, and a status that is not canonical: the next event writes them.
    *("---", "", "gsd_state_version", "status", "last_updated"),
    # A finished phase that is not verified may be counted as open; zeros and `Plan: —` may stand
    # between milestones.
    *("completed_phases", "percent", "Status", "Plan", "Progress", "Phase", "Current focus"),
    # Plans whose file is gone, or that only the roadmap lists, may be counted or not.
    *("total_plans", "completed_plans"),
    # Lifetime figures have an unknown start.
    *("Total plans completed", "Average duration", "Total execution time"),
    *("Last 5 plans", "Trend", "By Phase"),
    # A copy from PROJECT.md: other words may mean the same.
    "Core value",
}
# The rest of a new frontmatter; in one that is there, a sync adds none of these.
_WITH_FRONTMATTER = {
    *("milestone", "milestone_name", "stopped_at", "last_activity"),
    *("progress", "total_phases"),
}


def copies(folder: Path, sample: Sample) -> list[Path]:
    """Scratch copies of half of the projects; a test with another name tries another half."""
    made = []
    projects = corpus_projects()
    for project in sample(projects, len(projects) // 2):
        target = folder / project.name
        shutil.copytree(project / ".planning", target / ".planning")
        for path in target.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.append(target)
    return made


def comparison(folder: Path) -> DocumentComparison:
    return Overview(Files(str(folder))).comparison()


def repairable(found: DocumentComparison) -> list[Finding]:
    """The drift that a repair may write; a line in a person's own form is left and named."""
    return [finding for finding in found.drift if finding.is_repairable]


def statements(findings: Iterable[Finding]) -> set[tuple[str, str, str]]:
    return {(finding.path, finding.what, finding.said) for finding in findings}


def synced_labels(outcome: WriteOutcome) -> set[str]:
    """The names of the lines in STATE.md that a sync wrote."""
    labels = set()
    for change in outcome.changes:
        old = (change.old or "").splitlines()
        new = change.new.splitlines() if change.path.endswith(layout.STATE_NAME) else []
        added = [line for line in new if new.count(line) > old.count(line)]
        # A row of the velocity table begins with the number of a phase.
        labels |= {
            "By Phase"
            if re.match(r"\| [0-9]", line)
            else line.partition(":")[0].strip(" -*")
            if line != "---"
            else line
            for line in added
        }
    return labels


def lost_plans(contents: Contents, roadmap: str) -> int:
    """Summaries whose plan is gone: they count if the phase passed or the roadmap lists the plan."""
    left = {each.name for each in contents.folder.iterdir()} - set(contents.pairs.values())
    names = [found["plan"] for name in left if (found := _NUMBERED_SUMMARY.fullmatch(name))]
    return sum(bool(contents.passed) or f"{name}-PLAN" in roadmap for name in names)


def has_conflict(folder: Path) -> bool:
    loaded = Files(str(folder)).load_for_display(layout.STATE)
    try:
        Document(loaded.text if loaded else "").require_writable()
    except DocumentError as problem:
        return problem.code == "conflict-markers"
    return False


def test_fix_leaves_only_claims_and_claims_correct_leaves_nothing(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        doctor = Doctor(Files(str(folder)), Still())
        if has_conflict(folder):
            before = text_of(folder / layout.STATE)
            doctor.fix(ClaimPolicy.CORRECT)
            assert text_of(folder / layout.STATE) == before, folder.name
            continue

        named = statements(comparison(folder).drift)
        doctor.fix()
        left = {finding.kind for finding in repairable(comparison(folder))}
        doctor.fix(ClaimPolicy.CORRECT)

        assert left <= {FindingKind.CLAIM}, folder.name
        assert repairable(comparison(folder)) == [], folder.name
        assert statements(comparison(folder).drift) <= named, folder.name
        assert doctor.fix(ClaimPolicy.CORRECT).changes == (), folder.name


def test_after_a_repair_a_sync_writes_only_what_may_stand_and_finds_no_fault_either(
    tmp_path, sample
):
    for folder in copies(tmp_path, sample):
        files = Files(str(folder))
        names = ("", *Overview(files).comparison().inventory.workstreams)
        for name in [] if has_conflict(folder) else names:
            Doctor(files, Still()).fix(ClaimPolicy.CORRECT, workstream=name, create=True)
            events = Events(files, Still(), Overview(files).workstream(name))
            left = Overview(files).comparison(name)
            outcome = events.sync()

            if left.position.scope.certainty is Certainty.CERTAIN:  # else nothing is refuted
                permitted = _ALSO_SYNCED | {finding.what for finding in left.drift}
                if any(change.new[:3] != (change.old or "")[:3] for change in outcome.changes):
                    permitted |= _WITH_FRONTMATTER
                assert synced_labels(outcome) <= permitted, folder.name
            after = Overview(files).comparison(name)
            assert repairable(after) == [], folder.name
            assert statements(after.drift) <= statements(left.drift), folder.name
            assert events.sync(dry_run=True).changes == (), folder.name


def test_a_repair_changes_only_wrong_lines(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        before = comparison(folder)
        wrong = {(finding.path, finding.line) for finding in before.drift}
        for finding in before.drift:
            if finding.kind is FindingKind.DOCUMENT:  # a block of lines is one finding there
                text = (folder / finding.path).read_text("utf-8")
                end = text[: text.index("\n# ")].count("\n")
                wrong |= {(finding.path, line) for line in range(finding.line - 2, end + 1)}

        outcome = Doctor(Files(str(folder)), Still()).fix(ClaimPolicy.CORRECT)

        assert changed_lines(outcome) <= wrong, folder.name


def test_claims_are_proven_by_reconstruction_or_nothing_is_written(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        before = documents(folder)
        try:
            Doctor(Files(str(folder)), Still()).fix(ClaimPolicy.RECONSTRUCT)
        except BlockedError:
            assert documents(folder) == before, folder.name
        else:
            assert has_conflict(folder) or repairable(comparison(folder)) == [], folder.name
            again = Doctor(Files(str(folder)), Still()).fix(ClaimPolicy.RECONSTRUCT)
            assert again.changes == (), folder.name


def plan_boxes(phase: int) -> re.Pattern[str]:
    """The boxes of the plans of a phase in ROADMAP.md."""
    return re.compile(rf"^- \[.\] `?(0*{phase}-\d+)", re.MULTILINE)


def phases_of(found: DocumentComparison) -> list[Phase]:
    """The phases of the scope without plans on disk."""
    phases = found.position.scope.phases
    return [each for each in phases if each.folder is None or not each.folder.plans]


def test_exactly_the_refuted_numbers_are_found(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        if has_conflict(folder):
            continue  # two numbers stand there, and neither is the document's
        found = comparison(folder)
        homes = [phase.folder for phase in found.position.scope.phases if phase.folder]
        counted = [Contents(folder / home.path) for home in homes]
        roadmap = text_of(folder / layout.ROADMAP)
        lost = sum(lost_plans(each, roadmap) for each in counted)
        true = {
            "total_plans": lost + sum(len(each.plans) for each in counted),
            "completed_plans": lost + sum(sum(each.plans.values()) for each in counted),
        }
        below = homes[0].path.partition("/phases/") if homes else ("", "", "")
        text = text_of(folder / f"{below[0]}/STATE.md" if below[1] else folder / layout.STATE)
        said = _PLANS.findall(text.partition("\n---")[0]) if text.startswith("---") else []
        # No number that depends on an uncertain scope is refuted.
        is_certain = found.position.scope.certainty is Certainty.CERTAIN
        # Plans whose file is gone, and plans that only the roadmap lists, may be left out or not.
        listed = [plan_boxes(phase.id.number).findall(roadmap) for phase in phases_of(found)]
        planned = true["total_plans"] + sum(len({*names}) for names in listed)
        may_be = {name: {number, number - lost} for name, number in true.items()}
        may_be["total_plans"].add(planned)
        wrong = {name for name, number in said if is_certain and int(number) not in may_be[name]}
        reported = {finding.what for finding in found.drift if finding.what.startswith("progress.")}

        assert {f"progress.{name}" for name in wrong} == reported & _NUMBERS, folder.name


def test_checking_changes_no_byte(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        before = read_tree(folder)
        doctor = Doctor(Files(str(folder)), Still())

        doctor.repairs()
        doctor.fix(ClaimPolicy.CORRECT, dry_run=True)

        assert read_tree(folder) == before, folder.name


def test_a_repair_can_be_undone_to_the_last_byte(tmp_path, sample):
    for folder in copies(tmp_path, sample):
        before = documents(folder)
        files = Files(str(folder))
        outcome = Doctor(files, Still()).fix(ClaimPolicy.CORRECT)
        if outcome.changes:
            files.undo()

        assert documents(folder) == before, folder.name


def test_no_project_of_the_corpus_is_named_anywhere():
    root = Path(__file__).resolve().parents[2]
    names = {project.name for project in corpus_projects()}
    names |= {name.replace("__", "/") for name in names}
    sources = [*(root / "src").rglob("*.py"), *(root / "conformance").rglob("*")]
    texts = "\n".join(
        path.read_text() for path in sources if path.is_file() and path.suffix != ".pyc"
    )

    assert [each for each in names if each in texts] == []
