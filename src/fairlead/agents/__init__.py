"""Agents: one driver per agent CLI, model clients, supervision, budgets, the scripted agent.

`registry.agent(NAME)` returns a `CliAgent`; its `start` runs one `AgentCall` (`model.py`), decodes
the program's output into events (`streams.py`) and returns a `CallResult`. `supervision.py` enforces
the limits of a call and ends every process that it started.

Rules: an event is a claim of the program, and only a gate decides whether work is done; a prompt or
a key never appears in a command line; an agent cannot start agents.

To add an agent CLI, read `drivers/__init__.py`. Start reading at `ports.py` and `model.py`.
"""
