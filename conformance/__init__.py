"""The reference tool beside ours, on the same trees.

`python -m conformance` compares what both say of real and of generated projects. A difference
must match a rule of docs/reference/compatibility.md; one that matches none fails the run.
"""
