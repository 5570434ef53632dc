"""One module per agent CLI: its command line and its event format together.

A driver module has `driver()`, which says how the program is started, and `FORMAT`, which turns
its output into the events of `agents.model`. To add an agent, copy the module that is closest,
add it to `catalog.py`, and, if its output is a format of its own, add a name to `Stream`.
Start reading at `driver.py`, then `codex.py`, the shortest complete example. Drivers never start
a process themselves: `agents.cli_agent` does that for all of them.
"""
