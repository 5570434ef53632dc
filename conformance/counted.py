"""Counts one phase folder again, by the rules of the compatibility page alone.

It shares no code with the product's scan, so that a wrong number of ours cannot hide behind an
intended difference: a rule holds only if both numbers come out as it says.
"""

import re
from functools import cached_property
from pathlib import Path

import yaml

_KIND = ("PLAN", "SUMMARY", "plan", "summary")
_NO_PLAN = re.compile(
    r"-OUTLINE\.md$|\.pre-bounce\.md$|-PLAN-(REVIEW|CHECK)\w*\.md$", re.IGNORECASE
)
_PLAN = re.compile(r"^(.*[-.])?PLAN(-\d.*)?\.md$|^\d[\w.]*-\d+[\w.-]*-plan\.md$")
_SUMMARY = re.compile(
    r"^(.*-)?(?<!MILESTONE-)(?<!PLANNING-)SUMMARY(-\d.*)?\.md$|^\d[\w.]*-\d+[\w.-]*-summary\.md$"
)
_FIELD = re.compile(r"^(status|completed|verified):[ \t]*[\"']?([^\"'\n\r#]*)", re.MULTILINE)
_NUMBER = re.compile(r"[Pp]?(\d{1,4})")
_FOLDER = re.compile(
    r"(?:[A-Z][A-Z0-9_]*-(?=\d)|(?i:phase)[-_ ]?|[Pp](?=\d))?(\d+[A-Za-z]?(?:\.\d+)*)(?![A-Za-z0-9])"
)
_FAILED = re.compile(r"^\s*(?:#+|\*\*)\W*self-check\W*:\W*failed", re.IGNORECASE | re.MULTILINE)


class Contents:
    """What the files of one folder prove."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = key_of_folder(folder.name)
        self._files = sorted(each.name for each in folder.iterdir() if each.is_file())
        self.pairs = self._paired(folder)
        if (folder / "plans").is_dir():
            self.pairs |= {
                f"plans/{plan}": f"plans/{proof}" if proof else ""
                for plan, proof in self._paired(folder / "plans").items()
            }

    @cached_property
    def plans(self) -> dict[str, bool]:
        """Every plan that counts, and whether it is proven."""
        live = [
            plan
            for plan in self.pairs
            if fields_of(self.folder / plan).get("status", "").lower() != "superseded"
        ]
        return {
            plan: bool(self.pairs[plan]) and proves(self.folder / self.pairs[plan]) for plan in live
        }

    @property
    def has_all_summaries(self) -> bool:
        """Complete by summaries: there are plans, and each one that counts is proven."""
        return bool(self.pairs) and all(self.plans.values())

    @cached_property
    def passed(self) -> str:
        """The day of a passed verification, `-` if it gives none; empty if it did not pass."""
        name = self._verification
        fields = fields_of(self.folder / name) if name else {}
        return (
            (fields.get("verified", "")[:10] or "-")
            if fields.get("status", "").lower() == "passed"
            else ""
        )

    @property
    def verification(self) -> str:
        """The frontmatter of the verification that counts."""
        name = self._verification
        return text_of(self.folder / name).partition("\n---")[0] if name else ""

    @property
    def _verification(self) -> str:
        names = [
            each
            for each in self._files
            if each == "VERIFICATION.md" or each.endswith("-VERIFICATION.md")
        ]
        return max(names, key=_own, default="")

    @property
    def is_verified(self) -> bool:
        """Complete by verification: passed, nothing open, and no plan finished on a later day."""
        days = [
            fields_of(self.folder / proof).get("completed", "")[:10]
            for proof in self.pairs.values()
            if proof
        ]
        is_later = self.passed != "-" and any(day > self.passed for day in days)
        return bool(self.passed) and self.has_all_summaries and not is_later

    @property
    def stage(self) -> str:
        """Its stage in the reference tool's terms."""
        if self.has_all_summaries:
            return "complete" if self.is_verified else "partial"
        if any(self.plans.values()):
            return "partial"
        if self.plans:
            return "planned"
        if self._has("RESEARCH"):
            return "researched"
        return "discussed" if self._has("CONTEXT") else "empty"

    def _has(self, kind: str) -> bool:
        return any(each == f"{kind}.md" or each.endswith(f"-{kind}.md") for each in self._files)

    def _paired(self, home: Path) -> dict[str, str]:
        files = sorted(each.name for each in home.iterdir() if each.is_file())
        left = [name for name in files if _SUMMARY.match(name)]
        plans = [
            name
            for name in files
            if _PLAN.match(name) and not _NO_PLAN.search(name) and name not in left
        ]
        pairs = {}
        for plan in plans:
            wanted = (
                plan.replace("PLAN", "SUMMARY", 1),
                f"{plan[:-3]}-SUMMARY.md",
                plan.replace("plan", "SUMMARY", 1),
                plan.replace("plan", "summary", 1),
            )
            pairs[plan] = next((name for name in wanted if name in left), "")
            left = [name for name in left if name != pairs[plan]]
        for plan in plans:
            number = self._plan_number(plan)
            if not pairs[plan] and number is not None:
                pairs[plan] = next((name for name in left if self._plan_number(name) == number), "")
                left = [name for name in left if name != pairs[plan]]
        if len(plans) == len(left) == 1 and not pairs[plans[0]]:
            pairs[plans[0]] = left[0]
        return pairs

    def _plan_number(self, name: str) -> int | None:
        words = [word for word in name[:-3].split("-") if word and word not in _KIND]
        for length in (1, 2):
            if words and key_of_folder("-".join(words[:length])) == self.number:
                words = words[length:]
                break
        for word in (words[0], words[-1]) if words else ():
            found = _NUMBER.fullmatch(word)
            if found:
                return int(found[1])
        return None


def _own(name: str) -> tuple[bool, int]:
    """The phase's own verification first, then one of a plan, and last one without a number."""
    return name != "VERIFICATION.md", -len(name)


def key_of_folder(name: str) -> str:
    """The number in a folder's name without leading zeros; empty if it has none."""
    found = _FOLDER.match(name)
    return re.sub(r"(?<![\d])0+(?=\d)", "", found[1].upper()) if found else ""


def proves(summary: Path) -> bool:
    """Whether a summary proves its plan: it is not empty and reports no failure."""
    text = text_of(summary)
    return (
        bool(text.strip())
        and fields_of(summary).get("status", "").lower() != "blocked"
        and not _FAILED.search(text)
    )


def fields_of(path: Path) -> dict[str, str]:
    """The fields of a frontmatter that count."""
    text = text_of(path).removeprefix("\ufeff")
    end = text.find("\n---", 3)
    if not text.startswith("---") or end < 0:
        return {}
    return {key: value.strip() for key, value in _FIELD.findall(text[:end])}


def is_damaged(front: str) -> bool:
    """Whether a frontmatter is invalid YAML, even with values quoted that contain a colon."""
    inner = front.removeprefix("\ufeff").removeprefix("---")
    for tried in (inner, re.sub(r"^(\w+): (.*: .*)$", r"\1: '\2'", inner, flags=re.MULTILINE)):
        try:
            yaml.compose(tried, yaml.SafeLoader)
        except yaml.YAMLError:
            continue
        return False
    return True


def text_of(path: Path) -> str:
    """A file as text; empty if it does not exist."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
