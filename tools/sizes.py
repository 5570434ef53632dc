"""Print the size of every package and check the limits: `python tools/sizes.py`.

A code line is neither blank nor a comment nor part of a docstring. Packaged data files count
every line that is not blank. `make lint` runs this, so growth is seen where it happens.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "fairlead"
MODULES_PER_PACKAGE = 25
LINES_PER_PACKAGE = 6000
LINES_PER_MODULE = 700
ONE_FILE_PER_COMMAND = ("interfaces/cli",)  # these folders may hold more modules


@dataclass(frozen=True)
class PackageSize:
    """What one folder contains, without its sub-packages."""

    name: str
    modules: int  # `__init__.py` not counted
    code: int
    lines: int
    data: int


def code_lines(source: str) -> int:
    """The number of lines that are neither blank, comment nor docstring."""
    docstrings = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in docstrings
        for number, line in enumerate(source.splitlines(), 1)
    )


def package_sizes(root: Path) -> Iterator[PackageSize]:
    """The size of the package itself and of every sub-package, sorted by name."""
    folders = [root, *(path for path in sorted(root.rglob("*")) if path.is_dir())]
    for folder in folders:
        if folder.name == "__pycache__":
            continue
        files = [path for path in sorted(folder.iterdir()) if path.is_file()]
        sources = [path.read_text("utf-8") for path in files if path.suffix == ".py"]
        data = [path.read_text("utf-8") for path in files if path.suffix != ".py"]
        yield PackageSize(
            folder.relative_to(root).as_posix(),
            modules=sum(path.suffix == ".py" and path.name != "__init__.py" for path in files),
            code=sum(map(code_lines, sources)),
            lines=sum(len(text.splitlines()) for text in sources),
            data=sum(bool(line.strip()) for text in data for line in text.splitlines()),
        )


def problems(root: Path, sizes: Iterable[PackageSize] | None = None) -> list[str]:
    """Every limit that is exceeded, as a sentence."""
    faults = []
    for size in sizes or package_sizes(root):
        may_be_larger = size.name.startswith(ONE_FILE_PER_COMMAND)
        if size.modules > MODULES_PER_PACKAGE and not may_be_larger:
            faults.append(
                f"{size.name}: {size.modules} modules, the limit is {MODULES_PER_PACKAGE}"
            )
        if size.lines > LINES_PER_PACKAGE and not may_be_larger:
            faults.append(f"{size.name}: {size.lines} lines, the limit is {LINES_PER_PACKAGE}")
    for path in sorted(root.rglob("*.py")):
        lines = len(path.read_text("utf-8").splitlines())
        if lines > LINES_PER_MODULE:
            name = path.relative_to(root).as_posix()
            faults.append(f"{name}: {lines} lines, the limit is {LINES_PER_MODULE}")
    return faults


def main() -> int:
    """Print the table; 1 if a limit is exceeded."""
    sizes = list(package_sizes(PACKAGE))
    print(f"{'package':<26}{'modules':>8}{'code':>8}{'lines':>8}{'data':>8}")
    for size in sizes:
        print(f"{size.name:<26}{size.modules:>8}{size.code:>8}{size.lines:>8}{size.data:>8}")
    totals = (
        sum(getattr(size, key) for size in sizes) for key in ("modules", "code", "lines", "data")
    )
    modules, code, lines, data = totals
    print(f"{'total':<26}{modules:>8}{code:>8}{lines:>8}{data:>8}")
    print(f"{code + data} code lines with packaged data, in {modules} modules")
    found = problems(PACKAGE, sizes)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
