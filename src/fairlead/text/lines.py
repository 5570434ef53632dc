"""Lines and positions of a text, for any mixture of line endings.

Only LF, CR LF and CR end a line. `str.splitlines` also splits at U+2028, form feeds and others,
which editors and git do not. No imports: the status line and the hooks use this module.
"""


def split_lines(text: str) -> "list[str]":
    """The lines with their endings. Joined, they are exactly the text."""
    lines: list[str] = []
    if "\r" not in text:
        return _split_at_lf(text)
    for line in _split_at_lf(text):
        if "\r" in line:
            lines.extend(_split_at_cr(line))
        else:
            lines.append(line)
    return lines


def without_ending(line: str) -> str:
    """The line without its line ending. Other white space stays."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\n", "\r")) else line


def ending_of(line: str) -> str:
    """The line ending; "" for a last line without one."""
    return line[len(without_ending(line)) :]


def common_ending(text: str) -> str:
    """The most frequent line ending; LF if there is none."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    if crlf > lf and crlf >= cr:
        return "\r\n"
    return "\r" if cr > lf else "\n"


def place_of(text: str, offset: int) -> "tuple[int, int]":
    """Line and column of an offset, both counted from 1; as editors do, lines by LF."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


def _split_at_lf(text: str) -> "list[str]":
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    if parts[-1]:
        lines.append(parts[-1])
    return lines


def _split_at_cr(line: str) -> "list[str]":
    """Split at each CR except the one of a final CR LF."""
    tail = "\r\n" if line.endswith("\r\n") else ""
    parts = line[: len(line) - len(tail)].split("\r")
    pieces = [part + "\r" for part in parts[:-1]]
    if parts[-1] or tail:
        pieces.append(parts[-1] + tail)
    return pieces
