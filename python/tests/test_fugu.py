"""Run with: python -m unittest discover -s python/tests. Needs the fugu command (see README); pandas and polars where they are there."""
from __future__ import annotations

import csv
import importlib.util
import json
import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import fugu
from fugu import _command, _init

# Every test asks the same data under a budget of its own.
os.environ.setdefault("FUGU_REGISTRY", "off")

people = {
    "household": [k // 2 for k in range(400)],
    "party": [["left", "right", "none"][k % 3] for k in range(400)],
    "age": [20.0 + k % 50 if k % 9 else None for k in range(400)],
}
both = [{"kind": "count", "by": ["party"]}, {"kind": "mean", "column": "age"}]
by_party = "SELECT party, COUNT(*) FROM data GROUP BY party"
has = lambda name: importlib.util.find_spec(name) is not None


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def drafted(self, data=people, name="town", **more):
        return fugu.init(data, self.folder / name, budget={"epsilon": 2, "delta": 1e-6}, dependence="none", **more)


class FromDataToTable(InFolder):
    def test_labels_become_a_codebook_that_is_public_without_confirming(self) -> None:
        data = {"vote": [1, 2, 99, 1.0] * 50}
        policy = self.drafted(data, labels={"vote": {1: "For", 2: "Against", 99: "Refused"}}, missing={"vote": [99]}, questions={"vote": "How did you vote?"}, frames="rows")
        with (self.folder / "town" / "codebook.csv").open(newline="") as file:
            self.assertEqual(list(csv.reader(file))[1:], [["vote", "", "How did you vote?", ""], ["vote", "1", "For", ""], ["vote", "2", "Against", ""], ["vote", "99", "Refused", "yes"]])
        rows = policy.release({"kind": "histogram", "column": "vote"}, epsilon=1)
        self.assertEqual([row["vote"] for row in rows if row["vote"] != "(missing)"], ["1", "2"])

    def test_what_pyreadstat_says_of_a_file_is_understood(self) -> None:
        meta = SimpleNamespace(
            variable_value_labels={"a": {1.0: "yes", -9.0: "refused"}},
            column_names_to_labels={"a": "Asked?", "b": None},
            missing_ranges={"a": [{"lo": -9.0, "hi": -8.0}]},
        )
        lines = list(_init._codebook(["a", "b"], *_init._told(None, None, None, meta)))
        self.assertEqual(lines, [["a", "", "Asked?", ""], ["a", "1", "yes", ""], ["a", "-9", "refused", "yes"], ["a", "-8", "", "yes"]])

    def test_populations_of_two_folders_have_two_names(self) -> None:
        told = [self.drafted(name=name, frames="rows") for name in ("town", "Stadt ä")]
        for policy in told:
            policy.confirm("all")
        self.assertEqual([policy.ask({"kind": "count"}, epsilon=0.1).receipt["population"] for policy in told], ["town", "Stadt ä"])

    @unittest.skipUnless(has("pandas"), "pandas is not there")
    def test_what_pandas_calls_missing_is_missing_whatever_the_column_is_made_of(self) -> None:
        import pandas as pd

        data = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean"), "c": pd.array(["x", None], dtype="string"), "d": [pd.Timestamp("2020-01-02"), pd.NaT], "e": ["NaT", "<NA>"]})
        rows = [[_init._text(value) for value in row] for row in _init._cells(data)[1]]
        self.assertEqual(rows, [["1", "true", "x", "2020-01-02T00:00:00", "NaT"], ["", "", "", "", "<NA>"]])

    @unittest.skipUnless(has("pandas"), "pandas is not there")
    def test_columns_of_one_name_are_refused_before_anything_is_written(self) -> None:
        import pandas as pd

        with self.assertRaisesRegex(fugu.FuguError, "one name: party"):
            self.drafted(pd.DataFrame([["left", "right"]], columns=["party", "party"]))
        self.assertFalse((self.folder / "town" / "data.csv").exists())

    def test_ugly_cells_arrive_as_they_are(self) -> None:
        data = {"t": ['a,b', 'say "no"', "two\nlines", "", None, "é🐡"], "x": [float("nan"), 1e300, -0.0, True, 2**60, 0.1]}
        _init._write(self.folder / "data.csv", *_init._cells(data))
        with (self.folder / "data.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        self.assertEqual([row[0] for row in rows], ["a,b", 'say "no"', "two\nlines", "", "", "é🐡"])
        self.assertEqual([row[1] for row in rows], ["", "1e+300", "0", "true", str(2**60), "0.1"])


class WhatCameIn(InFolder):
    sizes = ["small", "middling", "large"]

    def released(self, data):
        policy = self.drafted(data)
        policy.confirm("all")
        return policy.release({"kind": "histogram", "column": "size"}, epsilon=1)

    def told(self, frame) -> list[str]:
        return [size for size in frame["size"] if size != "(missing)"]

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_a_pandas_categorical_comes_back_as_one_in_its_order(self) -> None:
        import pandas

        kind = pandas.CategoricalDtype([*self.sizes, "a remark that nobody made"], ordered=True)
        data = pandas.DataFrame({"size": pandas.Series([self.sizes[k % 3] for k in range(300)], dtype=kind)})
        frame = self.released(data)
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(self.told(frame), self.sizes)
        self.assertTrue(frame["size"].dtype.ordered)
        self.assertEqual(self.told(frame.sort_values("size")), self.sizes)
        for file in (self.folder / "town").iterdir():
            if file.is_file():
                self.assertNotIn("remark", file.read_text())

    @unittest.skipUnless(has("polars"), "polars is not installed")
    def test_polars_in_polars_out(self) -> None:
        import polars

        data = polars.DataFrame({"size": polars.Series([self.sizes[k % 3] for k in range(300)], dtype=polars.Enum(self.sizes))})
        frame = self.released(data)
        self.assertIsInstance(frame, polars.DataFrame)
        self.assertEqual(self.told(frame), self.sizes)

    def test_the_receipt_names_no_path(self) -> None:
        policy = self.drafted(people, frames="rows")
        policy.confirm("all")
        receipt = policy.ask({"kind": "count"}, epsilon=0.5).receipt
        self.assertNotIn(str(self.folder), json.dumps(receipt))
        self.assertEqual(receipt["population"], "town")


class Asked(unittest.TestCase):
    """One policy, asked in many ways."""

    policy: fugu.Policy

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name) / "town"
        cls.policy = fugu.init(people, cls.folder, budget={"epsilon": 2, "delta": 1e-6}, dependence="none", frames="rows")
        with cls().assertRaises(fugu.FuguError) as caught:
            cls.policy.release(sql=by_party)
        cls.unconfirmed = caught.exception
        cls.policy.confirm("all")
        cls.answer = cls.policy.ask(both, epsilon=1)

    def test_nothing_is_released_before_somebody_confirmed(self) -> None:
        self.assertEqual(self.unconfirmed.code, "POLICY_UNCONFIRMED")

    def test_a_dict_of_lists_becomes_a_table_with_intervals(self) -> None:
        self.assertEqual((self.folder / "data.csv").read_text().splitlines()[1:3], ["0,left,", "0,right,21"])
        rows = [row for row in self.answer.rows() if "party" in row]
        self.assertEqual({row["party"] for row in rows} - {"(missing)"}, {"left", "right", "none"})
        for row in rows:
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["value"], row["high"])

    def test_the_same_question_is_told_from_the_record(self) -> None:
        self.assertEqual(self.policy.release(both, epsilon=1), self.answer.rows())
        self.assertAlmostEqual(self.policy.ledger()["budget"]["spent"], 1, places=6)

    def test_a_plan_says_what_it_would_cost(self) -> None:
        self.assertEqual(self.policy.plan(sql=by_party, epsilon=0.5)["epsilon"], 0.5)

    def test_queries_are_dicts_and_several_make_one_long_table(self) -> None:
        self.assertEqual(len(self.answer.tables), 2)
        self.assertEqual(len({row["table"] for row in self.answer.rows()}), 2)
        self.assertTrue(self.answer.receipt["guarantee"]["certified"])

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_pandas_in_and_out(self) -> None:
        import pandas

        frame = self.answer.frame("pandas")
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns), ["table", "party", "value", "low", "high"])
        self.assertEqual(str(frame["value"].dtype), "float64")
        self.assertIn("guarantee", frame.attrs["receipt"])
        self.assertEqual(_lines(pandas.DataFrame(people)), _lines(people))

    @unittest.skipUnless(has("polars"), "polars is not installed")
    def test_polars_in_and_out(self) -> None:
        import polars

        frame = self.answer.frame("polars")
        self.assertIsInstance(frame, polars.DataFrame)
        self.assertEqual(frame.columns, ["table", "party", "value", "low", "high"])
        self.assertEqual(_lines(polars.DataFrame(people)), _lines(people))

    def test_a_wrong_question_says_what_became_of_the_budget(self) -> None:
        with self.assertRaises(fugu.FuguError) as caught:
            self.policy.release(sql="SELECT COUNT(*) FROM data WHERE nobody = 1")
        self.assertEqual(caught.exception.code, "COLUMN_UNKNOWN")
        self.assertEqual(caught.exception.outcome["state"], "not spent")
        self.assertTrue(caught.exception.hint)

    def test_too_much_is_refused(self) -> None:
        with self.assertRaises(fugu.FuguError) as caught:
            self.policy.release(sql=by_party, epsilon=3)
        self.assertIn(caught.exception.code, ("BUDGET_EXCEEDED", "BUDGET_INVALID"))


def _lines(data) -> list[list[str]]:
    names, rows = _init._cells(data)
    return [names, *([_init._text(value) for value in row] for row in rows)]


class Faults(InFolder):
    def test_data_under_a_policy_is_never_replaced(self) -> None:
        (self.folder / "data.csv").write_text("household\n1\n")
        with self.assertRaises(fugu.FuguError):
            fugu.init({"other": [1]}, self.folder)
        self.assertIn("household", (self.folder / "data.csv").read_text())

    def test_unknown_words_do_not_reach_the_command(self) -> None:
        with self.assertRaises(fugu.FuguError) as caught:
            fugu.Policy("policy.yaml").plan(sqll="x")
        self.assertEqual(caught.exception.code, "USAGE")

    def test_no_policy_is_a_fault(self) -> None:
        with self.assertRaises(fugu.FuguError) as caught:
            fugu.open(self.folder / "nothing.yaml")
        self.assertEqual(caught.exception.code, "POLICY_SYNTAX")

    def test_no_command_is_a_fault(self) -> None:
        with mock.patch.dict(os.environ, {"FUGU": str(self.folder / "nothing-here")}):
            with self.assertRaises((fugu.FuguError, OSError)):
                fugu.Policy("p").check()

    def test_an_end_without_an_answer_is_a_fault(self) -> None:
        with mock.patch.dict(os.environ, {"FUGU": "node -e process.exit(7)"}):
            with self.assertRaises(fugu.FuguError) as caught:
                fugu.Policy("p").check()
        self.assertEqual(caught.exception.code, "COMMAND_FAILED")


class Command(unittest.TestCase):
    def test_is_said_by_the_environment_first(self) -> None:
        with mock.patch.dict(os.environ, {"FUGU": "node /somewhere/main.js"}):
            self.assertEqual(_command.command(), ["node", "/somewhere/main.js"])

    def test_options_that_are_not_said_are_left_out(self) -> None:
        self.assertEqual(_command.words_of([("a", None), ("b", True), ("c", False), ("d", 0.5), ("e", {"k": 1})]), ["--b", "--d", "0.5", "--e", '{"k": 1}'])


class Notebook(InFolder):
    def test_runs_from_top_to_bottom(self) -> None:
        book = json.loads((Path(__file__).parent.parent / "examples" / "survey.ipynb").read_text(encoding="utf-8"))
        if not has("pandas"):
            self.skipTest("pandas is not installed")
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        names: dict[str, object] = {}
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
        self.assertEqual(list(names["table"].columns), ["party", "value", "low", "high"])


if __name__ == "__main__":
    unittest.main()
