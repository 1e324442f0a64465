"""A policy: plan, release, and what is left of the budget."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from ._answer import Answer, Frames
from ._command import FuguError, run, words_of

Question = Optional[Union[dict[str, Any], Sequence[dict[str, Any]]]]


def open(policy: Union[str, os.PathLike[str]], frames: Optional[Frames] = None) -> "Policy":
    """Opens a policy file. `frames` says what releases come as: "pandas", "polars" or "rows"."""
    made = Policy(policy, frames)
    made.check()
    return made


class Policy:
    """Everything that is asked of one policy file. It holds nothing open: each call is one run of the command."""

    path: Path
    frames: Optional[Frames]
    categories: dict[str, bool]

    def __init__(self, path: Union[str, os.PathLike[str]], frames: Optional[Frames] = None, categories: Optional[Mapping[str, bool]] = None) -> None:
        self.path = Path(path)
        self.frames = frames
        #: Columns that came as categories, and whether those were ordered: releases bring them back so.
        self.categories = dict(categories or {})

    def __repr__(self) -> str:
        return f"fugu.open({str(self.path)!r})"

    def check(self) -> dict[str, Any]:
        """What is protected from whom."""
        return run("check", str(self.path))

    def confirm(self, columns: Union[str, Sequence[str]] = "all") -> dict[str, Any]:
        """Says that the domains and bounds of these columns, drafted from the data, are public knowledge."""
        chosen = ["--all"] if columns == "all" else ["--columns", columns if isinstance(columns, str) else ",".join(columns)]
        return run("confirm", str(self.path), *chosen)

    def plan(self, query: Question = None, **how: Any) -> dict[str, Any]:
        """What a release would cost and how wrong it would be. Spends nothing."""
        return run("plan", str(self.path), *_asked(query, how))

    def ask(self, query: Question = None, *, out: Optional[Union[str, os.PathLike[str]]] = None, **how: Any) -> Answer:
        """The noisy answer with its receipt. Spends budget, unless the same was asked before."""
        told = run("release", str(self.path), *_asked(query, how), *words_of([("out", None if out is None else os.fspath(out))]))
        return Answer(receipt=told["receipt"], tables=told.get("tables", []), result=told.get("result"))

    def release(self, query: Question = None, *, out: Optional[Union[str, os.PathLike[str]]] = None, **how: Any) -> Any:
        """The noisy answer as a DataFrame with value, low and high (a 95 % interval). Spends budget, unless the same was asked before.

        Ask in one way: `sql="SELECT …"`, a query (a dict or a list of them), `survey=True`, `pattern="triangles"`. For k-means and classifiers use `ask`.
        Further words are those of the command: epsilon, tidy, fresh, gamma, degree, mechanism, form.
        """
        answer = self.ask(query, out=out, **how)
        if answer.result is not None:
            raise FuguError("USAGE", "This answer is no table.", "Use ask(…).result; the answer is recorded, so asking again costs nothing.")
        return answer.frame(self.frames, self.categories)

    def ledger(self) -> dict[str, Any]:
        """What was spent, and what remains."""
        return run("ledger", str(self.path))


_words = ("sql", "survey", "pattern", "kmeans", "classify", "epsilon", "tidy", "fresh", "gamma", "degree", "mechanism", "form")


def _asked(query: Question, how: dict[str, Any]) -> list[str]:
    unknown = [name for name in how if name not in _words]
    if unknown:
        raise FuguError("USAGE", f"There is no option {unknown[0]!r}.", f"Options: {', '.join(_words)}.")
    asked: Any = query if query is None or isinstance(query, dict) else {"queries": list(query)}
    return words_of([("query", asked), *((name, how.get(name)) for name in _words)])
