"""`python -m conformance [--trees N] [--first SEED] [--corpus DIR]`: compares both tools."""

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance.compared import Comparison, Tree, comparisons, look, wrong_answers
from conformance.reference import ROOT, Reference, Unavailable
from conformance.rules import RULES, Causes
from fairlead.project.derive.scan import scan
from tests.support.planning_trees import make_tree

QUICK = 100
_SAME_TIME = 1_700_000_000  # the reference tool compares the times of files
_SHOWN = 20


def say(line: str) -> None:
    """Print one line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Tally:
    """The counts of a run, and the differences that no rule explains."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.unmatched: list[str] = []
        self.missed: list[str] = []  # planted wrong answers that a rule explained

    def add(self, name: str, tree: Tree) -> None:
        """Compare one project."""
        self.counts["projects"] += 1
        causes = Causes(tree)
        for each in comparisons(tree):
            self.counts["compared"] += 1
            rule = "equal" if each.is_equal else causes.of(each)
            self.counts[rule or "unmatched"] += 1
            if not rule:
                self.unmatched.append(_line(name, each))
            self._plant(name, causes, each)

    def _plant(self, name: str, causes: Causes, each: Comparison) -> None:
        """Change each of our answers by one: no rule may explain the result."""
        for wrong in wrong_answers(each):
            self.counts["planted"] += 1
            if causes.of(wrong):
                self.missed.append(_line(f"{name}, planted", wrong))


def main() -> int:
    """Compare and print the counts. 1: an unexplained difference; 3: no reference tool."""
    options = _options()
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        try:
            _compare(options, Path(scratch), tally)
        except Unavailable as why:
            say(f"not compared: {why}")
            return 3
    _report(tally)
    return 1 if tally.unmatched or tally.missed else 0


def _compare(options: argparse.Namespace, scratch: Path, tally: Tally) -> None:
    with Reference(scratch / "home") as reference:
        for name, folder in _projects(options, scratch):
            stored = scan(str(folder)).milestone
            answers = reference.ask(folder, stored)
            tally.add(name, look(folder, answers, partial(reference.line, folder)))
            shutil.rmtree(folder)


def _projects(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Scratch copies of the corpus (a clean clone has none), then generated trees."""
    for source in sorted(options.corpus.glob("*/.planning")):
        folder = scratch / "corpus" / source.parent.name
        shutil.copytree(source, folder / ".planning")
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (_SAME_TIME, _SAME_TIME))
        yield f"corpus {source.parent.name}", folder
    for seed in range(options.first, options.first + options.trees):
        yield f"tree {seed}", make_tree(scratch / "trees" / str(seed), seed)


def _line(name: str, each: Comparison) -> str:
    return f"{name}: {each.field}: ours {each.ours!r}, theirs {each.theirs!r}"


def _report(tally: Tally) -> None:
    counts = tally.counts
    say(f"projects   {counts['projects']:>8}")
    say(f"compared   {counts['compared']:>8}")
    say(f"equal      {counts['equal']:>8}")
    for rule in RULES:
        say(f"  by rule  {counts[rule]:>8}  {rule}")
    say(f"unmatched  {counts['unmatched']:>8}")
    say(
        f"planted    {counts['planted']:>8}  wrong answers, {len(tally.missed)} of them not noticed"
    )
    for line in [*tally.unmatched[:_SHOWN], *tally.missed[:_SHOWN]]:
        say(f"  {line}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--trees", type=int, default=QUICK, help="how many generated trees")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    corpus = ROOT.parent / "shared" / "corpus"
    parser.add_argument("--corpus", type=Path, default=corpus, help="a folder of real projects")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
