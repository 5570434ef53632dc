"""Check the links of the documentation, or with --site FOLDER that the built site is self-contained.

Every relative link of a page has to lead to a file of the repository, and its anchor to a heading.
An anchor counts only if a repository browser and the site spell it in the same way. Only the
standard library is used: `make lint` runs it.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAVIGATION = "mkdocs.yml"
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*#*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# What a browser fetches by itself when it opens a page.
_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=\"(?:https?:)?//[^\"]+\""
    r"|<link\b(?![^>]*rel=\"(?:canonical|alternate|next|prev)\")[^>]*?\bhref=\"(?:https?:)?//[^\"]+\""
    r"|url\(\s*[\"']?(?:https?:)?//[^)]+\)|@import\s+[\"'](?:https?:)?//",
    re.IGNORECASE,
)


def pages(root: Path) -> list[Path]:
    """The pages that people read: those at the top of the repository, and docs."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def anchors(text: str) -> set[str]:
    """The anchors of a page that are the same in a repository browser and on the site."""
    found: set[str] = set()
    taken: dict[str, int] = {}
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        browser = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        site = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip())
        count = taken[browser] = taken.get(browser, -1) + 1
        if browser == site and not count:  # a second heading of the name gets different numbers
            found.add(browser)
    return found


def broken(root: Path) -> Iterator[str]:
    """Each link that leads nowhere, with its place."""
    for page in pages(root):
        text = _CODE.sub(_blanked, _FENCE.sub(_blanked, page.read_text("utf-8")))
        for match in _LINK.finditer(text):
            if fault := fault_of(match[1], page, root):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{page.relative_to(root)}:{line}: {fault}: {match[1]}"


def fault_of(link: str, page: Path, root: Path) -> str:
    """Why a link of a page leads nowhere, or nothing."""
    if _ELSEWHERE.match(link):
        return ""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or root.resolve() not in (target, *target.parents):
        return "no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
        return "no such heading"
    return ""


def unlisted(root: Path) -> Iterator[str]:
    """Pages that the navigation of the site does not name, and names without a page."""
    text = (root / NAVIGATION).read_text("utf-8")
    listed = set(re.findall(r"^\s*- .*?:? ?([\w./-]+\.md)\s*$", text, re.MULTILINE))
    docs = root / "docs"
    present = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    yield from (
        f"{NAVIGATION}: docs/{name} is not in the navigation" for name in sorted(present - listed)
    )
    yield from (f"{NAVIGATION}: docs/{name} does not exist" for name in sorted(listed - present))


def remote(site: Path) -> Iterator[str]:
    """What the pages of a built site would load from other hosts."""
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css"):
            for match in _LOADED.finditer(path.read_text("utf-8")):
                yield f"{path.relative_to(site)}: loads {match[0][:120]}"


def _blanked(match: re.Match[str]) -> str:
    """The same number of lines without text."""
    return "\n" * match[0].count("\n")


def main() -> int:
    """Print every fault; exit 1 if there is one."""
    if sys.argv[1:2] == ["--site"]:
        faults = list(remote(Path(sys.argv[2])))
    else:
        faults = [*broken(ROOT), *unlisted(ROOT)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
