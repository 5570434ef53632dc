"""A git merge driver for the documents in `.planning`.

git calls it with three versions of a document. The documents are merged by structure, so two
branches that add decisions, tick boxes or update counters do not conflict; only different edits of
the same thing do. Derived values are computed again after the merge. No line of either side is
ever lost: if the structured merge drops one, the texts are merged line by line as git does.

Start in `service.py`, then read `three_way.py`, which names the steps.
"""
