"""OpenDP beside: lines of JSON in, lines of JSON out. The first says how many numbers to hold and gets the scale of the noise of a
count; every other names what to do once and gets the seconds. See README.md here."""

import json
import sys
import time

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

rows = json.loads(sys.stdin.readline())["rows"]
vector = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def counted(transformation):
    """The least Laplace noise that keeps one row more or less within epsilon 1."""
    scale = dp.binary_search_param(lambda s: transformation >> dp.m.then_laplace(scale=s), d_in=1, d_out=1.0)
    return scale, transformation >> dp.m.then_laplace(scale=scale)


answers = np.random.default_rng(1).integers(0, 4, rows).astype(np.int32)
_, histogram = counted(dp.t.make_count_by_categories(*vector, [0, 1, 2, 3]))
scale, count = counted(dp.t.make_count(*vector))
laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=10.0)
zeros = np.zeros(20_000, dtype=np.int32)
works = {"histogram": lambda: histogram(answers), "count": lambda: count(answers), "draws": lambda: laplace(zeros)}
print(json.dumps({"scale": scale}), flush=True)
for line in sys.stdin:
    work = works[json.loads(line)["time"]]
    start = time.perf_counter()
    work()
    print(json.dumps(time.perf_counter() - start), flush=True)
