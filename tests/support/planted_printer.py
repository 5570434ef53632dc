"""Prints a project's title as it stands in the file: what a careless tool does."""

import sys

with open(".planning/PROJECT.md", "rb") as file:
    sys.stdout.buffer.write(file.read())
