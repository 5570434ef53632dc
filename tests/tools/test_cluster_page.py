"""The page of cluster benchmarks is what its generator writes: nobody edits it."""

import json

from bench.cluster import FIGURES, PAGE, page_of


def test_the_page_of_cluster_benchmarks_is_generated() -> None:
    assert PAGE.read_text("utf-8") == page_of(json.loads(FIGURES.read_text("utf-8")))
