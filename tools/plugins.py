"""Write the plugins of this repository from the code, or with --check list what is out of step."""

import sys
from pathlib import Path

from fairlead.interfaces.install.plugins import FOLDERS, plugin_files

ROOT = Path(__file__).resolve().parents[1]


def differing(root: Path) -> list[str]:
    """The files that are missing, differ from the code, or should not be there."""
    wanted = plugin_files()
    present = {
        path.relative_to(root).as_posix()
        for folder in FOLDERS.values()
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    wrong = [
        path
        for path, text in wanted.items()
        if not (root / path).is_file() or (root / path).read_text("utf-8") != text
    ]
    return sorted({*wrong, *(present - wanted.keys())})


def main(arguments: list[str]) -> int:
    """Write the files; with --check 1 if one is out of step."""
    wrong = differing(ROOT)
    if "--check" in arguments:
        for path in wrong:
            print(f"{path} is out of step with the code: make docs", file=sys.stderr)
        return 1 if wrong else 0
    wanted = plugin_files()
    for path in wrong:
        place = ROOT / path
        if path not in wanted:
            place.unlink()
            print(f"removed {path}")
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(wanted[path], "utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
