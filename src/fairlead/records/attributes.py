""".gitattributes: the line that tells git which documents are ours to merge, and how git learns it.

The line travels with the repository; the command behind it does not, because git takes a
program from nobody but the person who owns the clone.
"""

from fairlead.text.lines import common_ending, split_lines

DRIVER = "fairlead"
LINE = f"*.md merge={DRIVER}"
# git runs this through its own shell. Where the command is missing or refuses, git's text
# merge takes over; else git would leave ours in the file as if theirs did not exist.
_DRIVER_LINE = (
    "fairlead merge-driver %O %A %B %P; code=$?; [ $code -le 1 ] && exit $code; "
    "git merge-file -L ours -L base -L theirs %A %O %B"
)
GIT_COMMANDS = (
    f"git config merge.{DRIVER}.name 'planning documents, merged entry by entry'",
    f"git config merge.{DRIVER}.driver '{_DRIVER_LINE}'",
)


def registered(text: str) -> str:
    """The file with our line; one that stands there already is left alone."""
    if any(line.split() == LINE.split() for line in split_lines(text)):
        return text
    ending = common_ending(text)
    above = text if not text or text.endswith(("\n", "\r")) else text + ending
    return above + LINE + ending
