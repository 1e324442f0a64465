"""igraph beside: reads where the ends of the ties lie as JSON on standard input, writes seconds and triangles as JSON. See README.md here."""

import json
import sys
import time

import igraph
import numpy as np

task = json.load(sys.stdin)
ends = np.fromfile(task["ends"], dtype="<u4").reshape(-1, 2)


def least(work, rounds=5):
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


def triangles(graph):
    """From the share of paths of two ties that close, the quickest count igraph has."""
    degrees = np.array(graph.degree(), dtype=np.int64)
    return round(graph.transitivity_undirected(mode="zero") * int((degrees * (degrees - 1) // 2).sum()) / 3)


build, graph = least(lambda: igraph.Graph(n=task["nodes"], edges=ends), 3)
count, found = least(lambda: triangles(graph))
json.dump({"build": build, "count": count, "triangles": found}, sys.stdout)
