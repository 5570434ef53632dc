"""Compares Fairlead with the reference tool on the same trees.

`python -m conformance` compares the answers of both tools about real and generated projects. A
difference must match a rule of docs/reference/compatibility.md; otherwise the run fails.
"""
