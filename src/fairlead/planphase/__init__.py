"""The Plan Phase: a goal becomes a plan with exit criteria, a person approves it, work begins.

Two Markdown files hold everything: the plan file and, after approval, the exec file. The rule of
this package: an agent may stop only when every exit criterion is met, and a criterion without
evidence is unmet.

Start with `model.py` (values), then `criteria.py` (which criteria are met) and `service.py` (the
operations). A new kind of exit criterion needs a field of `Criterion` in `model.py`, its reader
in `documents.py` and its rule in `criteria.py`; evidence from the disk is collected in `facts.py`.
The stop hook loads `facts`, `stop_rule`, `hold` and `documents`: they import little, and this
file must contain nothing but its docstring.
"""
