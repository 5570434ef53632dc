"""The complete proofs of which the quick tests try a sample.

`python -m prove --minutes N` resumes where the last call stopped, uses two processes and writes its
figures into docs/reference/proof.md. A proof is a row in `prove.table`.
"""
