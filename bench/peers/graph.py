"""igraph beside: lines of JSON in, lines of JSON out. The first says where the ends of the ties lie and gets the triangles; every
other names what to do once and gets the seconds. See README.md here."""

import json
import sys
import time

import igraph
import numpy as np

task = json.loads(sys.stdin.readline())
ends = np.fromfile(task["ends"], dtype="<u4").reshape(-1, 2)


def build():
    return igraph.Graph(n=task["nodes"], edges=ends)


def triangles(graph):
    """From the share of paths of two ties that close, the quickest count igraph has."""
    degrees = np.array(graph.degree(), dtype=np.int64)
    return round(graph.transitivity_undirected(mode="zero") * int((degrees * (degrees - 1) // 2).sum()) / 3)


graph = build()
works = {"count": lambda: triangles(graph), "build and count": lambda: triangles(build())}
print(json.dumps({"triangles": triangles(graph)}), flush=True)
for line in sys.stdin:
    work = works[json.loads(line)["time"]]
    start = time.perf_counter()
    work()
    print(json.dumps(time.perf_counter() - start), flush=True)
