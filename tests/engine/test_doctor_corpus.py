"""Doctor on every real project: drift is repaired, claims are asked for, nothing else changes."""

import re
import shutil
from pathlib import Path

from conformance.counted import Contents, text_of
from fairlead.engine.doctor import Claims, Doctor
from fairlead.engine.events import Events
from fairlead.engine.overview import Overview
from fairlead.engine.truth import Truth
from fairlead.errors import BlockedError, DocumentError
from fairlead.model.divergence import Kind
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.text.document import Document
from tests.engine.test_doctor import Still, changed_lines, documents
from tests.support.corpus import corpus_projects
from tests.support.trees import read_tree

_PLANS = re.compile(r"^ +(total_plans|completed_plans): *(\d+)", re.MULTILINE)
_NUMBERS = {"progress.total_plans", "progress.completed_plans"}


def copies(folder: Path) -> list[Path]:
    """Scratch copies of the projects, so that the corpus is never written."""
    made = []
    for project in corpus_projects():
        target = folder / project.name
        shutil.copytree(project / ".planning", target / ".planning")
        for path in target.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.append(target)
    return made


def truth(folder: Path) -> Truth:
    return Overview(Files(str(folder))).truth()


def has_conflict(folder: Path) -> bool:
    loaded = Files(str(folder)).load_for_display(layout.STATE)
    try:
        Document(loaded.text if loaded else "").require_writable()
    except DocumentError as problem:
        return problem.code == "conflict-markers"
    return False


def test_fix_leaves_only_claims_and_claims_correct_leaves_nothing(tmp_path):
    for folder in copies(tmp_path):
        doctor = Doctor(Files(str(folder)), Still())
        if has_conflict(folder):
            before = text_of(folder / layout.STATE)
            doctor.fix(Claims.CORRECT)
            assert text_of(folder / layout.STATE) == before, folder.name
            continue

        doctor.fix()
        left = {finding.kind for finding in truth(folder).drift}
        doctor.fix(Claims.CORRECT)

        assert left <= {Kind.CLAIM}, folder.name
        assert truth(folder).drift == (), folder.name
        assert doctor.fix(Claims.CORRECT).changes == (), folder.name


def test_after_a_repair_a_sync_has_nothing_to_change_and_finds_no_fault_either(tmp_path):
    for folder in copies(tmp_path):
        files = Files(str(folder))
        names = ("", *Overview(files).truth().inventory.workstreams)
        for name in [] if has_conflict(folder) else names:
            Doctor(files, Still()).fix(Claims.CORRECT, workstream=name)
            home = Overview(files).workstream(name)

            assert Events(files, Still(), home).sync(dry_run=True).changes == (), folder.name
            assert Overview(files).truth(name).drift == (), folder.name


def test_every_line_that_a_repair_changed_was_wrong(tmp_path):
    for folder in copies(tmp_path):
        before = truth(folder)
        wrong = {(finding.path, finding.line) for finding in before.drift}
        for finding in before.drift:
            if finding.kind is Kind.DOCUMENT:  # a block of lines is one finding there
                text = (folder / finding.path).read_text("utf-8")
                end = text[: text.index("\n# ")].count("\n")
                wrong |= {(finding.path, line) for line in range(finding.line - 2, end + 1)}

        outcome = Doctor(Files(str(folder)), Still()).fix(Claims.CORRECT)

        assert changed_lines(outcome) <= wrong, folder.name


def test_claims_are_proven_by_reconstruction_or_nothing_is_written(tmp_path):
    for folder in copies(tmp_path):
        before = documents(folder)
        try:
            Doctor(Files(str(folder)), Still()).fix(Claims.RECONSTRUCT)
        except BlockedError:
            assert documents(folder) == before, folder.name
        else:
            assert has_conflict(folder) or truth(folder).drift == (), folder.name
            again = Doctor(Files(str(folder)), Still()).fix(Claims.RECONSTRUCT)
            assert again.changes == (), folder.name


def test_every_number_that_the_files_refute_is_found_and_no_other(tmp_path):
    for folder in copies(tmp_path):
        if has_conflict(folder):
            continue  # two numbers stand there, and neither is the document's
        found = truth(folder)
        homes = [phase.folder for phase in found.standing.scope.phases if phase.folder]
        counted = [Contents(folder / home.path) for home in homes]
        true = {
            "total_plans": sum(len(each.plans) for each in counted),
            "completed_plans": sum(sum(each.plans.values()) for each in counted),
        }
        below = homes[0].path.partition("/phases/") if homes else ("", "", "")
        text = text_of(folder / f"{below[0]}/STATE.md" if below[1] else folder / layout.STATE)
        said = _PLANS.findall(text.partition("\n---")[0]) if text.startswith("---") else []
        wrong = {name for name, number in said if int(number) != true[name]}
        told = {finding.what for finding in found.drift if finding.what.startswith("progress.")}

        assert {f"progress.{name}" for name in wrong} == told & _NUMBERS, folder.name


def test_looking_changes_no_byte(tmp_path):
    for folder in copies(tmp_path):
        before = read_tree(folder)
        doctor = Doctor(Files(str(folder)), Still())

        doctor.repairs()
        doctor.fix(Claims.CORRECT, dry_run=True)

        assert read_tree(folder) == before, folder.name


def test_a_repair_can_be_taken_back_to_the_last_byte(tmp_path):
    for folder in copies(tmp_path):
        before = documents(folder)
        files = Files(str(folder))
        outcome = Doctor(files, Still()).fix(Claims.CORRECT)
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
