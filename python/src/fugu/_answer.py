"""Released tables as data frames."""
from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import Any, Literal, Mapping, Optional

Frames = Literal["pandas", "polars", "rows"]


def frames_there() -> Frames:
    """pandas where it is installed, else polars, else lists of rows."""
    for name in ("pandas", "polars"):
        if importlib.util.find_spec(name) is not None:
            return name  # type: ignore[return-value]
    return "rows"


def frames_of(data: Any) -> Optional[Frames]:
    """The library a data frame is of; None for what is no data frame."""
    library = type(data).__module__.split(".")[0]
    return library if library in ("pandas", "polars") else None  # type: ignore[return-value]


@dataclass(frozen=True)
class Answer:
    """A release: its tables, the result of what is no table (centres, a model), and the receipt of what was promised."""

    receipt: dict[str, Any]
    tables: list[dict[str, Any]] = field(default_factory=list)
    result: Optional[Any] = None

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per cell: its keys, value, low and high; the name of its table where there are several."""
        several = len(self.tables) > 1
        return [
            {**({"table": table["name"]} if several else {}), **dict(zip(table["columns"][:-1], row["keys"])), **{k: _number(row.get(k)) for k in ("value", "low", "high")}}
            for table in self.tables
            for row in table["rows"]
        ]

    def frame(self, frames: Optional[Frames] = None, categories: Mapping[str, bool] = {}) -> Any:
        """The rows as a DataFrame of pandas or polars; pandas keeps the receipt in its attrs.

        `categories` names columns that come as categories in the order of the table, and says whether they are ordered (pandas; an Enum in polars).
        """
        frames = frames or frames_there()
        rows = self.rows()
        if frames == "rows":
            return rows
        library = importlib.import_module(frames)
        columns: dict[str, list[Any]] = {}
        for name in {name: None for row in rows for name in row}:
            columns[name] = [row.get(name) for row in rows]
        made = library.DataFrame(columns)
        for name in (name for name in categories if name in columns):
            order = list(dict.fromkeys(value for value in columns[name] if value is not None))
            if frames == "pandas":
                made[name] = library.Categorical(columns[name], categories=order, ordered=categories[name])
            else:
                made = made.with_columns(library.Series(name, columns[name], dtype=library.Enum(order)))
        if frames == "pandas":
            made = made.astype({name: float for name in ("value", "low", "high") if name in columns})
            made.attrs["receipt"] = self.receipt
        return made


def _number(value: Any) -> Optional[float]:
    """JSON has no infinities: they come as text."""
    return None if value is None else float(value)
