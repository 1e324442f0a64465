"""Private statistics for data whose records know each other: the fugu command, from Python.

    import fugu
    policy = fugu.init(df, "town", dependence="none", budget={"epsilon": 1, "delta": 1e-6})
    policy.confirm("all")
    policy.release(sql="SELECT party, COUNT(*) FROM data GROUP BY party")   # a DataFrame: party, value, low, high
"""
from ._answer import Answer
from ._command import FuguError, Outcome
from ._init import init
from ._policy import Policy, open
from ._server import ServedPolicy, Server, connect

__all__ = ["Answer", "FuguError", "Outcome", "Policy", "ServedPolicy", "Server", "connect", "init", "open"]
__version__ = "0.2.0"
