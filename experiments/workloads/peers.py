"""OpenDP's AIM and MST on a coded table: how far all tables of three columns are from the truth, and how long it took.

Reads a task as JSON: {"sizes": [...], "columns": [[codes of every row], ...], "rho": ..., "algorithm": "AIM" | "MST", "order": 3}, and settings that its authors leave to the
user: "megabytes" (of the model), "rounds", "iterations" (of an estimate), "oneway" (part of the budget for single columns). What is absent stays as OpenDP has it.
Answers {"seconds": ..., "cpu": ..., "distance": ..., "rmse": ..., "estimates": ...}: the mean over tables of its model of half the L1 distance to the exact one by the number of rows, and the
root mean square error of a cell. Records come and go (one contribution each); rho is zero-concentrated, so no delta is spent: all values are declared.
With "quick" the model is asked for tables by numpy instead of jax, which compiles every step of every table: the same numbers (held against its own on the first four), sooner.
With "stop", after so many seconds of processor, it answers {"stopped": seconds, "estimates": ..., "cliques": ...} instead.
"""

import json
import os
import sys
import time
from itertools import combinations

import numpy as np
import opendp.prelude as dp
import opt_einsum
import polars as pl
from mbi import Factor, MarkovRandomField, estimation
from opendp.extras.mbi import _mst

dp.enable_features("contrib")

task = json.load(sys.stdin)
sizes, columns = task["sizes"], [np.asarray(c, dtype=np.int64) for c in task["columns"]]
names = [f"c{k}" for k in range(len(sizes))]
rows = len(columns[0])
# OpenDP gives every column a value for nulls. The last code stands for it, so that no column has an empty value more than in the other programs.
frame = pl.DataFrame({name: [None if x == m - 1 else x for x in c.tolist()] for name, c, m in zip(names, columns, sizes)}, schema={name: pl.Int64 for name in names}).lazy()
keys = {name: [*range(m - 1), None] for name, m in zip(names, sizes)}

# In 0.16 its MST rounds what each choice may cost down by one unit of the last place, which is too little for ten of them: refused as above the budget.
_mst.prior = lambda x: x * (1 - 1e-12)

start, began, fitted = time.time(), time.process_time(), []


def estimate(domain, loss_fn, *, potentials=None):
    """OpenDP's own estimator, with as many iterations as were asked for; tells how far it has come."""
    if task.get("stop") and time.process_time() - began > task["stop"]:
        json.dump({"stopped": time.process_time() - began, "estimates": len(fitted), "cliques": fitted[-1:]}, sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    model = estimation.mirror_descent(domain, loss_fn, potentials=potentials, **({"iters": task["iterations"]} if "iterations" in task else {}))
    fitted.append(len(model.cliques))
    print(f"{len(fitted)} estimates, {fitted[-1]} cliques, {time.process_time() - began:.0f} s of processor", file=sys.stderr, flush=True)
    return model


own_project, checked, held = MarkovRandomField.project, [], {}


def project(model, attrs):
    """A table of the model: its factors multiplied, and all other columns summed out."""
    attrs = (attrs,) if isinstance(attrs, str) else tuple(attrs)
    if model.marginals.supports(attrs):
        return own_project(model, attrs)
    if held.get("of") is not model:
        logs = {clique: np.asarray(factor.values, dtype=np.float64) for clique, factor in model.potentials.arrays.items()}
        held.update(of=model, factors=[(clique, np.exp(own - own.max())) for clique, own in logs.items()])
    told = {column for clique, _ in held["factors"] for column in clique}
    free = [(c,) for c in attrs if c not in told]
    operands = [*held["factors"], *((c, np.ones(model.domain.size(c))) for c in free)]
    at = {c: k for k, c in enumerate(model.domain.attributes)}
    values = opt_einsum.contract(*(x for clique, own in operands for x in (own, [at[c] for c in clique])), [at[c] for c in attrs], optimize="greedy")
    values = values * (float(model.total) / values.sum())
    if len(checked) < 4:
        checked.append(float(np.abs(values - np.asarray(own_project(model, attrs).values)).max()))
        assert checked[-1] < 1e-3 * float(model.total), f"tables differ by {checked[-1]}"
    return Factor(model.domain.project(attrs), values)


if task.get("quick"):
    MarkovRandomField.project = project

own = {"estimator": estimate, **({"oneway_split": task["oneway"]} if "oneway" in task else {})}
aim = {"queries": task["order"], **({"max_size": task["megabytes"]} if "megabytes" in task else {}), **({"rounds": task["rounds"]} if "rounds" in task else {})}
algorithm = {"AIM": lambda: dp.mbi.AIM(**own, **aim), "MST": lambda: dp.mbi.MST(**own)}[task["algorithm"]]()
context = dp.Context.compositor(
    data=frame,
    privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(rho=task["rho"]),
)
table = context.query(rho=task["rho"]).contingency_table(keys=keys, algorithm=algorithm).release()
released, worked = time.time() - start, time.process_time() - began

# Of the model, which is the best it has: in mbi 1.1.0 rows that are rounded get the values of every column in one order within each group, so that columns which are independent there
# go up together. Asked of the model by numpy: jax would compile every step of hundreds of tables.
squares, cells, distances = 0.0, 0, []
for chosen in combinations(range(len(sizes)), task["order"]):
    truth = np.zeros([sizes[k] for k in chosen])
    np.add.at(truth, tuple(columns[k] for k in chosen), 1)
    told = np.asarray(project(table.model, [names[k] for k in chosen]).values)
    squares += float(((told - truth) ** 2).sum())
    cells += truth.size
    distances.append(float(np.abs(told - truth).sum()) / (2 * rows))
json.dump(
    {
        "seconds": released,
        "cpu": worked,
        "distance": float(np.mean(distances)),
        "rmse": (squares / cells) ** 0.5,
        "estimates": len(fitted),
        "of": "model",
    },
    sys.stdout,
)
