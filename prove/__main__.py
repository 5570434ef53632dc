"""`python -m prove --minutes N [--seed S] [--only NAME…] [--again] [--list]`."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from prove.frame import Progress, Proof, run_proof, shares
from prove.page import update
from prove.table import proofs


def say(line: str) -> None:
    """Print one line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run for the given time and write the page. Returns 1 if a promise was broken."""
    options = _options()
    by_name = {proof.name: proof for proof in proofs()}
    chosen = [by_name[name] for name in options.only or by_name]
    if options.list:
        for proof in chosen:
            say(
                f"{proof.name}: {proof.claim}"
                + (f" (skipped: {why})" if (why := proof.why_not()) else "")
            )
        return 0
    progress = Progress(options.seed)
    if options.again:
        for proof in chosen:
            progress.row(proof, again=True)
    _run(chosen, progress, options.seed, options.minutes * 60)
    update(proofs(), progress, options.seed, options.minutes)
    rows = [progress.rows.get(proof.name) for proof in chosen]
    findings = sum(len(_list(row.get("findings"))) for row in rows if isinstance(row, dict))
    say(f"{findings} broken promises found" if findings else "nothing found")
    return 1 if findings else 0


def _run(chosen: list[Proof], progress: Progress, seed: int, seconds: float) -> None:
    limit = time.monotonic() + seconds
    open_proofs = []
    for proof in chosen:
        why = proof.why_not()
        if why:
            say(f"{proof.name}: skipped, {why}")
        else:
            open_proofs.append(proof)
    # One folder for all, so that the sweeps share their prepared folders.
    with tempfile.TemporaryDirectory(prefix="prove-") as scratch:
        while open_proofs and time.monotonic() < limit:
            open_proofs = [
                proof
                for proof, until in shares(open_proofs, limit - time.monotonic())
                if not run_proof(proof, progress, seed, until, Path(scratch), say)
            ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m prove", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        nargs="*",
        metavar="NAME",
        choices=sorted(p.name for p in proofs()),
        help="only these proofs, in this order",
    )
    parser.add_argument("--again", action="store_true", help="forget what was done before")
    parser.add_argument("--list", action="store_true", help="name the proofs and end")
    return parser.parse_args()


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


if __name__ == "__main__":
    sys.exit(main())
