"""The merge driver on files: it agrees with git on plain text, and both sides survive failures."""

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from fairlead.core.values import replace
from fairlead.merge.service import Versions, merge_versions, register_driver
from fairlead.merge.three_way import merge_texts
from fairlead.store import layout
from fairlead.store.errors import NoDocument, NotAFile
from fairlead.store.files import Files

SHARED = ("", "", "- entry", "## Heading", "text")


def text_of(lines: list[str], random: Random) -> str:
    text = "\n".join(lines)
    return text + "\n" if lines and random.random() < 0.9 else text


def edited(lines: list[str], random: Random, side: str) -> list[str]:
    changed = list(lines)
    for number in range(random.randint(1, 5)):
        at = random.randrange(len(changed) + 1)
        kind = random.random()
        if kind < 0.4:
            changed.insert(at, f"{side} {number}")
        elif at < len(changed) and kind < 0.7:
            changed[at] = f"{side} {number}"
        elif at < len(changed):
            del changed[at]
    return changed


def three_texts(seed: int) -> tuple[str, str, str]:
    random = Random(seed)
    base = [
        random.choice(SHARED) if random.random() < 0.2 else f"line {number}"
        for number in range(random.randint(0, 30))
    ]
    sides = (base, edited(base, random, "ours"), edited(base, random, "theirs"))
    texts = [text_of(side, random) for side in sides]
    return texts[0], texts[1], texts[2]


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_plain_text_merges_as_in_git(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 50):
        texts = three_texts(seed)
        for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
            (tmp_path / name).write_bytes(text.encode())
        words = ["git", "merge-file", "-p", "ours", "base", "theirs"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
        merged = merge_texts(*texts)
        assert bool(merged.conflicts) == bool(done.returncode), f"seed {seed}"
        if not merged.conflicts:
            assert merged.text == done.stdout.decode(), f"seed {seed}"


def versions_in(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> Versions:
    names = [folder / name for name in (".merge_base", ".merge_ours", ".merge_theirs")]
    for path, content in zip(names, (base, ours, theirs), strict=True):
        path.write_bytes(content)
    return Versions(str(names[0]), str(names[1]), str(names[2]), ".planning/STATE.md")


def test_the_merge_is_written_to_the_file_of_ours(tmp_path: Path) -> None:
    versions = versions_in(tmp_path, b"- a\n", b"- a\n- o\n", b"- a\n- t\n")
    assert merge_versions(versions).conflicts == ()
    assert Path(versions.ours).read_bytes() == b"- a\n- o\n- t\n"


ONE = "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Base** - x\n"
ALPHA, BETA = (f"{ONE}- [ ] **Phase 2: {name}** - x\n" for name in ("Alpha", "Beta"))


@pytest.mark.parametrize(
    ("ours", "theirs", "conflicts"),
    [
        (BETA, ALPHA, [("phase 2 (Beta and Alpha)", 7)]),
        (BETA, BETA.replace("Base", "Basis"), []),
        (BETA, f"{ONE}- [ ] **Phase 3: Alpha** - x\n", []),
    ],
    ids=["two phases", "one phase", "two numbers"],
)
def test_a_phase_number_used_by_both_sides_is_a_conflict_and_both_phases_stay(
    tmp_path: Path, ours: str, theirs: str, conflicts: list[tuple[str, int]]
) -> None:
    versions = versions_in(tmp_path, ONE.encode(), ours.encode(), theirs.encode())

    report = merge_versions(replace(versions, path=".planning/ROADMAP.md"))

    assert [(each.about, each.line) for each in report.conflicts] == conflicts
    merged = Path(versions.ours).read_text()
    assert {*ours.splitlines()[5:], *theirs.splitlines()[5:]} <= {*merged.splitlines()}


def test_a_phase_number_that_was_duplicate_before_is_not_a_new_conflict(
    tmp_path: Path,
) -> None:
    both = f"{BETA}- [ ] **Phase 2: Alpha** - x\n"
    texts = (both, f"{both}- [ ] **Phase 3: C** - x\n", both.replace("Base", "Basis"))
    base, ours, theirs = (text.encode() for text in texts)

    report = merge_versions(
        replace(versions_in(tmp_path, base, ours, theirs), path=".planning/ROADMAP.md")
    )

    assert report.conflicts == ()


def test_only_the_three_files_are_left_behind(tmp_path: Path) -> None:
    merge_versions(versions_in(tmp_path, b"- a\n", b"- a\n- o\n", b"- a\n- t\n"))
    assert len(list(tmp_path.iterdir())) == 3


def test_bytes_that_are_not_text_survive(tmp_path: Path) -> None:
    versions = versions_in(
        tmp_path, b"\xff\n1\n2\n3\n", b"\xff\n1\n2\n3\no\n", b"t\n\xff\n1\n2\n3\n"
    )
    assert merge_versions(versions).is_plain
    assert Path(versions.ours).read_bytes() == b"t\n\xff\n1\n2\n3\no\n"


def test_the_file_has_both_sides_after_the_merge_crashed(tmp_path: Path) -> None:
    texts = (b"Progress: 1%\n", b"Progress: 2%\n", b"Progress: 3%\n")
    versions = versions_in(tmp_path, *texts)

    def breaks(text: str) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        merge_versions(versions, regenerate=breaks)
    content = Path(versions.ours).read_text("utf-8")
    assert all(text.decode() in content for text in texts[1:])


def test_a_document_above_the_limit_is_merged_as_plain_text(tmp_path: Path) -> None:
    long = b"- entry\n" * (layout.STATE_LIMIT // 8 + 1)
    versions = versions_in(tmp_path, long, b"o\n" + long, long + b"t\n")
    assert merge_versions(versions).is_plain
    assert Path(versions.ours).read_bytes() == b"o\n" + long + b"t\n"


def test_a_symbolic_link_instead_of_a_version_is_refused(tmp_path: Path) -> None:
    versions = versions_in(tmp_path, b"", b"a\n", b"b\n")
    Path(versions.theirs).unlink()
    Path(versions.theirs).symlink_to(tmp_path / ".merge_base")
    with pytest.raises(NotAFile):
        merge_versions(versions)
    assert Path(versions.ours).read_bytes() == b"a\n"


def test_a_missing_version_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoDocument):
        merge_versions(Versions("no/base", "no/ours", "no/theirs", "STATE.md"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "*.md merge=fairlead\n"),
        ("*.png binary", "*.png binary\n*.md merge=fairlead\n"),
        ("*.png binary\r\n", "*.png binary\r\n*.md merge=fairlead\r\n"),
        ("*.md   merge=fairlead\n", "*.md   merge=fairlead\n"),
    ],
)
def test_gitattributes_names_the_merge_driver_once(
    before: str | None, after: str, tmp_path: Path
) -> None:
    attributes = tmp_path / ".planning/.gitattributes"
    attributes.parent.mkdir()
    if before is not None:
        attributes.write_bytes(before.encode())
    register_driver(Files(str(tmp_path)))
    assert attributes.read_bytes() == after.encode()
