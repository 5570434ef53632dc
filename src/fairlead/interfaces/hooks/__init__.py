"""Hooks: the programs a host agent runs when a session starts, stops, compacts or ends.

Hooks never break their host: they exit with 0, print at most one JSON object, and report a
problem as one line on stderr. The stop hook runs after every turn, so it imports only the modules
listed in `tests/architecture/test_hooks.py` and starts through `start.py`, which must keep its
path and the name `main`: installed settings refer to both. Start reading in `stop.py`.
"""
