"""diffprivlib beside: reads a task as a line of JSON on standard input, writes what it measured as one. See README.md here."""

import json
import sys
import warnings

import numpy as np
from diffprivlib.models import KMeans, LogisticRegression
from sklearn.cluster import KMeans as PlainKMeans

warnings.filterwarnings("ignore")


def matrix(file, columns):
    return np.fromfile(file, dtype="<f8").reshape(-1, columns)


def kmeans(task):
    """Cost of the centres as a multiple of the best found without privacy, for every epsilon."""
    points = matrix(task["points"], task["columns"])
    d, k = task["columns"], task["clusters"]
    plain = PlainKMeans(k, n_init=10, random_state=0).fit(points).inertia_

    def cost(centres):
        return ((points[:, None, :] - centres[None, :, :]) ** 2).sum(2).min(1).sum() if len(points) * k * d < 5e7 else sum(
            ((part[:, None, :] - centres[None, :, :]) ** 2).sum(2).min(1).sum() for part in np.array_split(points, 50)
        )

    def once(epsilon, seed):
        found = KMeans(k, epsilon=epsilon, bounds=([-1.0] * d, [1.0] * d), random_state=seed).fit(points)
        return float(cost(found.cluster_centers_) / plain)

    return {"plain": float(plain), "ratios": [[once(e, s) for s in range(task["times"])] for e in task["epsilons"]]}


def logistic(task):
    """Share of test rows right, for every epsilon and every C; rows are at most `norm` long."""
    x, y = matrix(task["train"], task["columns"]), np.fromfile(task["trainLabels"], dtype="i1")
    tx, ty = matrix(task["test"], task["columns"]), np.fromfile(task["testLabels"], dtype="i1")

    def once(epsilon, c, seed):
        model = LogisticRegression(epsilon=epsilon, data_norm=task["norm"], C=c, max_iter=300, random_state=seed)
        return float(model.fit(x, y).score(tx, ty))

    return {
        "right": [[[once(e, c, s) for s in range(task["times"])] for c in task["penalties"]] for e in task["epsilons"]],
    }


for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"kmeans": kmeans, "logistic": logistic}[task["task"]](task)), flush=True)
