"""Reads and writes documents: confined paths, locks, atomic writes, transactions and undo.

The rule: every document is written through `files.Files`. It takes the lock, compares the
document with what was read, writes to a temporary file, syncs it, renames it and syncs the
folder. Links are never followed, and no path leaves its root.

Start reading with `files`, then `transaction` and `atomic`. `layout` finds projects, `staging`
names what a writer keeps in its hidden folder, and `confined` is the only way to the disk.
"""
