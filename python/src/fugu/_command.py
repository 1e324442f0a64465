"""Runs the fugu command and reads the one JSON document it prints."""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional, Sequence, TypedDict


class _Outcome(TypedDict):
    state: str


class Outcome(_Outcome, total=False):
    """What became of the budget: 'not spent', 'spent' (booked, nothing told) or 'recorded' (ask again, it costs nothing)."""

    entry: int
    resumable: bool


class FuguError(Exception):
    """A fault of the command: a stable code, one sentence, a hint, and what became of the budget. Never holds a value from the data."""

    code: str
    message: str
    hint: str
    outcome: Optional[Outcome]
    details: dict[str, Any]

    def __init__(self, code: str, message: str, hint: str, outcome: Optional[Outcome] = None, details: Optional[dict[str, Any]] = None) -> None:
        super().__init__(f"{message} {hint} [{code}]")
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.details = details or {}


def command() -> list[str]:
    """How to start fugu: FUGU in the environment, the command on the PATH, or the checkout this package lies in."""
    said = os.environ.get("FUGU")
    if said:
        return [said] if os.path.exists(said) else shlex.split(said)
    found = shutil.which("fugu")
    if found:
        return [found]
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "policy.schema.json").exists() and (checkout / "fugu").exists():
        return [str(checkout / "fugu")]
    raise FuguError(
        "COMMAND_MISSING",
        "The fugu command is not found.",
        "Put it on the PATH (npm link in its folder), or set FUGU to it.",
    )


def run(*words: str) -> Any:
    """One command with --json. A fault is raised as a FuguError."""
    with subprocess.Popen([*command(), *words, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:
            # The command was interrupted as well, and ends by saying what became of the budget.
            out, err = process.communicate()
    try:
        document = json.loads(out)
    except ValueError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("error"), dict):
        raise _error(document["error"])
    if process.returncode != 0 or document is None:
        raise FuguError("COMMAND_FAILED", "The fugu command ended without an answer.", _last_line(err) or f"Exit code {process.returncode}.")
    return document


def _error(told: dict[str, Any]) -> FuguError:
    rest = {key: value for key, value in told.items() if key not in ("code", "message", "hint", "outcome")}
    return FuguError(str(told.get("code")), str(told.get("message")), str(told.get("hint")), told.get("outcome"), rest)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def words_of(options: Sequence[tuple[str, Any]]) -> list[str]:
    """Options of the command line; what is None or False is left out."""
    words: list[str] = []
    for name, value in options:
        if value is None or value is False:
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(value if isinstance(value, str) else json.dumps(value))
    return words
