"""From a data frame to a drafted policy."""
from __future__ import annotations

import csv
import json
import math
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from ._answer import Frames, frames_of
from ._command import FuguError, run, words_of
from ._policy import Policy

Labels = Mapping[str, Mapping[Any, str]]


def init(
    data: Any,
    folder: Union[str, os.PathLike[str]],
    *,
    dependence: Any = None,
    budget: Optional[Mapping[str, Any]] = None,
    protect: Optional[Mapping[str, Any]] = None,
    labels: Optional[Labels] = None,
    missing: Optional[Mapping[str, Sequence[Any]]] = None,
    questions: Optional[Mapping[str, str]] = None,
    meta: Any = None,
    frames: Optional[Frames] = None,
) -> Policy:
    """Writes data.csv, codebook.csv and a draft of policy.yaml into a folder, and opens that policy.

    `data` is a DataFrame of pandas or polars, or a dict of lists. `labels` ({column: {code: label}}), `missing` ({column: [codes]}) and `questions`
    ({column: text}) become the codebook; `meta`, as pyreadstat returns it, says all three. `dependence`, `budget` and `protect` replace those of the draft:
    who knows whom is yours to say. What was read from the data must be confirmed before anything is released. Answers of a pandas Categorical or a polars Enum
    keep its order, and releases come as what came in: `frames` says otherwise.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name in ("data.csv", "codebook.csv", "policy.yaml"):
        if (place / name).exists():
            raise FuguError("USAGE", f"{place / name} exists already.", "Choose another folder: data under a policy is not replaced silently.")
    names, rows = _cells(data)
    _write(place / "data.csv", names, rows)
    lines = list(_codebook(names, *_told(labels, missing, questions, meta)))
    if lines:
        _write(place / "codebook.csv", ["name", "value", "label", "missing"], lines)
    orders = _orders(data)
    with tempfile.TemporaryDirectory() as aside:
        # Not beside the data: a categorical may list what only one person said.
        order = Path(aside) / "order.json"
        order.write_text(json.dumps({name: codes for name, (codes, _) in orders.items()}), encoding="utf-8")
        words = words_of([("codebook", str(place / "codebook.csv") if lines else None), ("order", f"@{order}" if orders else None)])
        run("init", str(place / "data.csv"), "--out", str(place / "policy.yaml"), *words)
    _declare(place / "policy.yaml", {"dependence": dependence, "budget": budget, "protect": protect, "title": _title(place)})
    return Policy(place / "policy.yaml", frames or frames_of(data), {name: ordered for name, (_, ordered) in orders.items()})


def _title(place: Path) -> Optional[str]:
    """What was made from several frames lies in several folders, in files of one name: receipts tell them apart by the folder."""
    return json.dumps(place.name, ensure_ascii=False) if re.search(r"\w", place.name) else None


def _orders(data: Any) -> dict[str, tuple[list[str], bool]]:
    """The categories of columns that have some, in their order, and whether they are ordered by size, too."""
    found: dict[str, tuple[list[str], bool]] = {}
    if isinstance(data, Mapping):
        return found
    for name in data.columns:
        kind = data[name].dtype
        # A Categorical of polars has its categories in the order of the rows, which says nothing.
        if getattr(kind, "categories", None) is not None and type(kind).__name__ in ("CategoricalDtype", "Enum"):
            found[str(name)] = ([_text(value) for value in kind.categories], bool(getattr(kind, "ordered", True)))
    return found


def _cells(data: Any) -> tuple[list[str], Iterable[Sequence[Any]]]:
    if isinstance(data, Mapping):
        columns = {str(name): list(values) for name, values in data.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise FuguError("USAGE", "The columns differ in length.", "Give every column one value per row.")
        return list(columns), zip(*columns.values())
    names = [str(name) for name in data.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FuguError("USAGE", f"Several columns have one name: {', '.join(twice)}.", "Give every column a name of its own.")
    if hasattr(data, "itertuples"):
        return names, data.itertuples(index=False, name=None)
    return names, data.iter_rows()


def _text(value: Any) -> str:
    """A cell as Fugu reads it: nothing for what is missing, no ".0" behind a whole number."""
    # Whether pandas' NA differs from itself is NA, too: asked first.
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true" if value else "false"
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value.is_integer() and abs(value) < 2**53 else repr(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        # A single empty cell needs its quotes: without them the line would be empty.
        quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for row in rows:
            cells = [_text(value) for value in row]
            (quoted if len(cells) == 1 else writer).writerow(cells)


def _told(labels: Optional[Labels], missing: Any, questions: Any, meta: Any) -> tuple[Labels, dict[str, list[Any]], dict[str, str]]:
    codes = dict(getattr(meta, "variable_value_labels", None) or {})
    asked = {k: v for k, v in (getattr(meta, "column_names_to_labels", None) or {}).items() if v}
    none: dict[str, list[Any]] = {}
    for name, ranges in (getattr(meta, "missing_ranges", None) or {}).items():
        for part in ranges:
            low, high = part["lo"], part["hi"]
            if low == high:
                none.setdefault(name, []).append(low)
                continue
            known = [code for code in codes.get(name, {}) if low <= code <= high]
            whole = range(math.ceil(low), math.floor(high) + 1) if high - low < 1000 else []
            none.setdefault(name, []).extend(dict.fromkeys([*map(_text, known), *map(_text, whole)]))
    return {**codes, **(labels or {})}, {**none, **{k: list(v) for k, v in (missing or {}).items()}}, {**asked, **(questions or {})}


def _codebook(names: Sequence[str], labels: Labels, missing: Mapping[str, Sequence[Any]], questions: Mapping[str, str]) -> Iterable[list[str]]:
    for name in names:
        if questions.get(name):
            yield [name, "", str(questions[name]), ""]
        none = {_text(code) for code in missing.get(name, [])}
        told = {_text(code): str(label) for code, label in labels.get(name, {}).items()}
        for code in dict.fromkeys([*told, *none]):
            if code != "":
                yield [name, code, told.get(code, ""), "yes" if code in none else ""]


def _declare(path: Path, sections: Mapping[str, Any]) -> None:
    """Replaces lines of the draft; JSON is YAML."""
    text = path.read_text(encoding="utf-8")
    for key, said in sections.items():
        if said is None:
            continue
        line = f"{key}: {said if isinstance(said, str) else json.dumps(said)}"
        text, count = re.subn(rf"(?m)^{key}:.*(?:\n[ \t]+.*)*$", lambda _: line, text, count=1)
        if count == 0:
            text = f"{text}\n{line}\n"
    path.write_text(text, encoding="utf-8")
