"""`check`, `explain` and `doctor`: planning documents compared with the files.

`compare_state`, `compare_roadmap` and `compare_requirements` yield a `Finding` for every recorded
value that the files contradict; `check` collects them. `doctor` turns findings into repairs. A
value is only rewritten if the files prove another one; a claim that they cannot prove is reported
and left to a person.

Start in `findings.py`, then read `check.py`.
"""
