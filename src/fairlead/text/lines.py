"""Lines and places of a text, for any mixture of line endings.

Only LF, CR LF and CR end a line. Python's own `splitlines` also cuts at U+2028, form feed
and others, which editors and git do not, so it is not used. No imports: hooks use this.
"""


def split_lines(text: str) -> "list[str]":
    """The lines with their endings; joined again they are the text, byte for byte."""
    lines = []
    for line in _split_at_lf(text):
        if "\r" in line:
            lines.extend(_split_at_cr(line))
        else:
            lines.append(line)
    return lines


def without_ending(line: str) -> str:
    """The line without its line ending; other white space stays."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\n", "\r")) else line


def ending_of(line: str) -> str:
    """The line ending of this line, empty on a last line without one."""
    return line[len(without_ending(line)) :]


def common_ending(text: str) -> str:
    """The line ending that the text uses most; LF for a text of one line."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    if crlf > lf and crlf >= cr:
        return "\r\n"
    return "\r" if cr > lf else "\n"


def place_of(text: str, offset: int) -> "tuple[int, int]":
    """Line and column, both from 1, of an offset."""
    before = split_lines(text[:offset])
    if not before:
        return 1, 1
    last = before[-1]
    if last.endswith(("\n", "\r")):
        return len(before) + 1, 1
    return len(before), len(last) + 1


def _split_at_lf(text: str) -> "list[str]":
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    if parts[-1]:
        lines.append(parts[-1])
    return lines


def _split_at_cr(line: str) -> "list[str]":
    """Cut at each CR that does not belong to a CR LF at the end."""
    tail = "\r\n" if line.endswith("\r\n") else ""
    parts = line[: len(line) - len(tail)].split("\r")
    pieces = [part + "\r" for part in parts[:-1]]
    if parts[-1] or tail:
        pieces.append(parts[-1] + tail)
    return pieces
