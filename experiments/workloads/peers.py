"""OpenDP's AIM and MST on a coded table: how far all tables of three columns are from the truth, and how long it took.

Reads a task as JSON: {"sizes": [...], "columns": [[codes of every row], ...], "rho": ..., "algorithm": "AIM" | "MST", "order": 3}.
Answers {"seconds": ..., "cpu": ..., "distance": ..., "rmse": ...}: the mean over tables of half the L1 distance to the exact one by the number of rows, and the root mean
square error of a cell. Records come and go (one contribution each); rho is zero-concentrated, so no delta is spent: all values are declared.
"""

import json
import sys
import time
from itertools import combinations

import numpy as np
import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi import _mst

dp.enable_features("contrib")

task = json.load(sys.stdin)
sizes, columns = task["sizes"], [np.asarray(c, dtype=np.int64) for c in task["columns"]]
names = [f"c{k}" for k in range(len(sizes))]
rows = len(columns[0])
frame = pl.DataFrame(dict(zip(names, columns))).lazy()

# In 0.16 its MST rounds what each choice may cost down by one unit of the last place, which is too little for ten of them: refused as above the budget.
_mst.prior = lambda x: x * (1 - 1e-12)

algorithm = {"AIM": lambda: dp.mbi.AIM(queries=task["order"]), "MST": dp.mbi.MST}[task["algorithm"]]()
start, began = time.time(), time.process_time()
context = dp.Context.compositor(
    data=frame,
    privacy_unit=dp.unit_of(contributions=1),
    privacy_loss=dp.loss_of(rho=task["rho"]),
)
table = (
    context.query(rho=task["rho"])
    .contingency_table(keys={name: list(range(m)) for name, m in zip(names, sizes)}, algorithm=algorithm)
    .release()
)
print(task["algorithm"], "released", file=sys.stderr)
released, worked = time.time() - start, time.process_time() - began

# As in the paper of AIM, tables are those of as many synthetic rows: asking the model for hundreds of tables takes longer than making it.
synthetic = table.synthesize(rows=rows).drop_nulls()
made = [synthetic[name].to_numpy().astype(np.int64) for name in names]
squares, cells, distances = 0.0, 0, []
for chosen in combinations(range(len(sizes)), task["order"]):
    shape = [sizes[k] for k in chosen]
    truth, told = np.zeros(shape), np.zeros(shape)
    np.add.at(truth, tuple(columns[k] for k in chosen), 1)
    np.add.at(told, tuple(made[k] for k in chosen), 1)
    squares += float(((told - truth) ** 2).sum())
    cells += truth.size
    distances.append(float(np.abs(told - truth).sum()) / (2 * rows))
json.dump(
    {
        "seconds": released,
        "cpu": worked,
        "distance": float(np.mean(distances)),
        "rmse": (squares / cells) ** 0.5,
    },
    sys.stdout,
)
