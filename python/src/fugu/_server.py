"""Speaks to a service that `fugu serve` runs, with nothing but the standard library."""
from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping, Optional, Union

from ._answer import Answer, Frames
from ._command import FuguError

Asked = Union[Mapping[str, Any], list]


class Server:
    """A service and a token for it.

        server = fugu.connect("https://fugu.example.org", os.environ["FUGU_TOKEN"])
        server.policy("town").release({"kind": "count", "by": ["party"]}, epsilon=0.5)
    """

    def __init__(self, url: str, token: str, retries: int = 3, timeout: float = 120.0) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise FuguError("USAGE", "The address of the service is no address.", "Write https://fugu.example.org.")
        self.url = url.rstrip("/")
        self._token = token
        self._retries = retries
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"<fugu server {self.url}>"

    def policies(self) -> list[dict[str, Any]]:
        """The policies that the token opens."""
        return list(self.call("GET", "/v1/policies")["policies"])

    def policy(self, name: str, frames: Optional[Frames] = None) -> "ServedPolicy":
        return ServedPolicy(self, name, frames)

    def call(self, method: str, path: str, body: Any = None, once: Optional[str] = None) -> Any:
        """One request. What was refused is raised as a FuguError; whoever is turned away comes again after what the service says."""
        headers = {"authorization": f"Bearer {self._token}"}
        if body is not None:
            headers["content-type"] = "application/json"
        if once is not None:
            headers["idempotency-key"] = once
        data = None if body is None else json.dumps(body).encode("utf-8")
        for left in range(self._retries, -1, -1):
            request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                    return json.loads(answer.read().decode("utf-8"))
            except urllib.error.HTTPError as refused:
                wait = refused.headers.get("retry-after")
                told = _told(refused)
                if refused.code in (429, 503) and wait is not None and left > 0:
                    time.sleep(float(wait))
                    continue
                raise told from None
            except urllib.error.URLError as error:
                raise FuguError("SERVER_UNREACHABLE", "The service cannot be reached.", f"{error.reason}. What was sent may have been paid for: ask again, and a recorded answer is free.") from None
        raise AssertionError


class ServedPolicy:
    """A policy of a service; the same words as a policy file."""

    def __init__(self, server: Server, name: str, frames: Optional[Frames] = None) -> None:
        self.server = server
        self.name = name
        self._frames = frames
        self._path = f"/v1/policies/{urllib.parse.quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"<fugu policy {self.name} of {self.server.url}>"

    def describe(self) -> dict[str, Any]:
        """The declared columns, who is protected from whom, the budget."""
        return dict(self.server.call("GET", self._path))

    def plan(self, question: Optional[Asked] = None, **how: Any) -> dict[str, Any]:
        """What it would cost and how wrong it would be. Spends nothing."""
        return dict(self.server.call("POST", f"{self._path}/plan", _body(question, how)))

    def ask(self, question: Optional[Asked] = None, *, once: Optional[str] = None, **how: Any) -> Answer:
        """The noisy answer with its receipt. Spends budget, unless the same was asked before."""
        told = self.server.call("POST", f"{self._path}/release", _body(question, how), once)
        return Answer(told.get("receipt", {}), told.get("tables", []), told.get("result", told.get("steps")))

    def release(self, question: Optional[Asked] = None, *, once: Optional[str] = None, **how: Any) -> Any:
        """The noisy answer as a DataFrame with value, low and high (a 95 % interval)."""
        answer = self.ask(question, once=once, **how)
        if not answer.tables:
            raise FuguError("USAGE", "This answer is no table.", "Use ask(); the answer is recorded, so asking again costs nothing.")
        return answer.frame(self._frames)

    def budget(self) -> dict[str, Any]:
        """What was spent, and what remains."""
        return dict(self.server.call("GET", f"{self._path}/budget"))

    def ledger(self, after: int = 0, most: int = 1000) -> list[dict[str, Any]]:
        """What was paid for; an analyst sees their own."""
        return list(self.server.call("GET", f"{self._path}/ledger?after={int(after)}&most={int(most)}")["entries"])


_options = ("epsilon", "tidy", "fresh", "label")
_kinds = ("sql", "survey", "workload", "synth", "pattern", "kmeans", "classify", "network", "stream")


def _body(question: Optional[Asked], how: Mapping[str, Any]) -> dict[str, Any]:
    named = {key: value for key, value in how.items() if key in _kinds and value is not None}
    unknown = [key for key in how if key not in _options and key not in _kinds]
    if unknown:
        raise FuguError("USAGE", f'There is no option "{unknown[0]}".', f"Options: {', '.join(_options + _kinds)}.")
    if (question is None) == (not named):
        raise FuguError("USAGE", "Say what to ask in exactly one way.", 'Give a question such as {"kind": "count"}, or sql="…".')
    return {"question": named if question is None else question, **{key: how[key] for key in _options if how.get(key) is not None}}


def _told(refused: urllib.error.HTTPError) -> FuguError:
    try:
        told = json.loads(refused.read().decode("utf-8"))
    except ValueError:
        told = {}
    rest = {key: value for key, value in told.items() if key not in ("code", "title", "hint", "outcome", "type")}
    return FuguError(str(told.get("code", "UNKNOWN")), str(told.get("title", f"The service answered {refused.code}.")), str(told.get("hint", "")), told.get("outcome"), rest)


def connect(url: str, token: str, retries: int = 3, timeout: float = 120.0) -> Server:
    """A service, by its address and a token."""
    return Server(url, token, retries, timeout)
