"""Prints a project's title unchanged, as a careless tool does."""

import sys

with open(".planning/PROJECT.md", "rb") as file:
    sys.stdout.buffer.write(file.read())
