"""The long tier: everything the quick tests sample, tried completely.

`python -m prove --minutes N` goes on where the last call stopped, on two processes, and writes
its figures into docs/reference/proof.md. A proof is a row in `prove.table`.
"""
