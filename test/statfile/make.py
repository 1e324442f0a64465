"""Makes the files of corpus/ and writes what pyreadstat reads from them into corpus/expected.vectors.json.

    pip install pyreadstat pandas openpyxl
    python make.py                  # the corpus, then its expected values
    python make.py expect FOLDER    # expected.vectors.json for the files of any folder

The tests read both and need no Python. Nothing here is computed by Fugu.
"""
import datetime as dt
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

here = Path(__file__).parent
corpus = here / "corpus"


# ---- files

def people(rows=12):
    i = np.arange(rows)
    return pd.DataFrame({
        "id": i + 1.0,
        "age": np.where(i % 5 == 4, np.nan, 20.0 + 3 * i),
        "party": np.where(i % 6 == 5, 99.0, i % 3 + 1.0),
        "income": 1234.5 * i - 0.1,
        "name": [f"Person {k}" if k % 4 else "" for k in i],
    })


labels = {"party": {1: "Left", 2: "Right", 3: "None of them, thank you", 99: "Refused"}}
questions = {"id": "Number", "age": "How old are you?", "party": "Which party?", "income": "Income, monthly", "name": "Name"}


def savs():
    plain = people()
    for form, how in {"plain": {}, "coded": {"row_compress": True}, "packed": {"compress": True}}.items():
        end = "zsav" if form == "packed" else "sav"
        pyreadstat.write_sav(plain, corpus / f"people-{form}.{end}", column_labels=questions, variable_value_labels=labels,
                             missing_ranges={"party": [99]}, file_label="A made-up survey", **how)
        long = pd.DataFrame({
            "before": [1.0, 2.0, 3.0],
            "essay": ["word " * 60, "", "x" * 1000],
            "verdict": ["é" * 130, "ü" * 200 + "!", "short"],
            "exactly": ["a" * 255, "b" * 254, "c" * 256],
            "after": [7.0, np.nan, 9.0],
        })
        pyreadstat.write_sav(long, corpus / f"long-text-{form}.{end}", **how)
        codes = pd.DataFrame({
            "a": [1.0, 2, -9, -8, 5], "b": [97.0, 98, 99, 1, np.nan], "c": [-1e6, 0.5, 1, 2, 1e6],
            "d": ["x", "NA", "y", "z", ""], "e": [1.5, 2.5, 100.0, 250.0, 251.0], "f": [-99.0, -98, -1, 0, 1],
        })
        pyreadstat.write_sav(codes, corpus / f"missing-{form}.{end}",
                             missing_ranges={"a": [-9, -8], "b": [{"lo": 97, "hi": 99}], "c": [{"lo": -1e6, "hi": -0.5}, 2],
                                             "d": ["NA"], "f": [{"lo": -99, "hi": -1}]},
                             variable_value_labels={"a": {-9: "refused", -8: "don't know", 1: "yes", 2: "no"}, "d": {"x": "Ex", "NA": "none"},
                                                    "e": {1.5: "one and a half", 250: "many"}}, **how)
    moments = pd.DataFrame({
        "day": [dt.date(2020, 2, 29), None, dt.date(1899, 12, 31), dt.date(1600, 1, 1)],
        "moment": [dt.datetime(2020, 2, 29, 13, 14, 15), dt.datetime(1970, 1, 1), pd.NaT, dt.datetime(1583, 1, 1, 23, 59, 59)],
        "clock": [dt.time(0, 0, 0), dt.time(23, 59, 59), dt.time(12, 30), None],
        "number": [1.0, 2.0, 3.0, np.nan],
    })
    for form, how in {"plain": {}, "coded": {"row_compress": True}}.items():
        pyreadstat.write_sav(moments, corpus / f"moments-{form}.sav", **how)
    pyreadstat.write_sav(pd.DataFrame({"d1": [dt.date(2021, 5, 6)], "d2": [dt.date(2021, 5, 6)], "d3": [dt.date(2021, 5, 6)], "t": [dt.datetime(2021, 5, 6, 7, 8, 9)]}),
                         corpus / "date-formats.sav", variable_format={"d1": "EDATE10", "d2": "SDATE10", "d3": "ADATE10", "t": "YMDHMS20"})
    pyreadstat.write_sav(pd.DataFrame({"größe": [1.0, 2.0], "名前": ["日本語", "emoji 🐡"], "a_name_that_is_longer_than_eight": [1.0, np.nan],
                                       "a_name_that_is_longer_still": ["ÿ", "œ"]}),
                         corpus / "unicode.sav", column_labels={"größe": "Größe in cm", "名前": "名前は?"}, variable_value_labels={"größe": {1: "groß", 2: "小さい"}})
    pyreadstat.write_sav(pd.DataFrame({"s": ["a" * 20, "b" * 30]}), corpus / "long-labels.sav",
                         variable_value_labels={"s": {"a" * 20: "twenty", "b" * 30: "thirty"}}, missing_ranges={})
    pyreadstat.write_sav(pd.DataFrame({f"v{k}": [float(k), np.nan, k / 7] for k in range(300)}), corpus / "wide.sav", row_compress=True)
    many = pd.DataFrame({"n": np.arange(5000.0) % 251, "t": [f"{k % 17}" for k in range(5000)]})
    pyreadstat.write_sav(many, corpus / "many.zsav", compress=True)
    pyreadstat.write_sav(plain.iloc[:0], corpus / "empty.sav")
    pyreadstat.write_sav(pd.DataFrame({"a": [np.nan, np.nan], "b": ["", ""]}), corpus / "nothing.sav", row_compress=True)
    # What pyreadstat cannot write: other byte orders and encodings, a weight, an open number of rows.
    rows = [(1.0, "M\xfcller", 2.5), (None, "Nu\xf1ez", 0.5), (-3.0, "\x80uro" , 1.0)]
    by_hand(corpus / "big-endian.sav", ">", rows, "cp1252", page=1252)
    by_hand(corpus / "little-open-count.sav", "<", rows, "cp1252", page=1252, cases=-1)
    by_hand(corpus / "windows-named.sav", "<", rows, "cp1252", named="windows-1252")
    by_hand(corpus / "latin1-named.sav", ">", [(1.0, "caf\xe9", 1.0)], "latin1", named="ISO-8859-1")
    by_hand(corpus / "latin2-page.sav", "<", [(1.0, "\u0142\xf3d\u017a", 1.0)], "cp1250", page=1250)
    by_hand(corpus / "cyrillic-page.sav", "<", [(1.0, "\u0434\u0430", 1.0)], "cp1251", page=1251)
    by_hand(corpus / "no-encoding.sav", "<", rows, "cp1252")
    by_hand(corpus / "utf8-page.sav", ">", [(1.0, "h\xe9!", 1.0)], "utf8", page=65001)


def by_hand(path, order, rows, encoding, page=None, named=None, cases=None):
    """An uncompressed SPSS file: a number with a range of missing codes and an open end, a text of 12, a weight."""
    i, d = (lambda x: struct.pack(order + "i", x)), (lambda x: struct.pack(order + "d", x))
    text = lambda s, n: s.encode("cp1252" if encoding == "cp1252" else encoding, "replace")[:n].ljust(n, b" ")
    raw = lambda s, n: (s.replace("\x80", "\u20ac") if encoding == "cp1252" else s).encode(encoding)[:n].ljust(n, b" ")
    fmt = lambda kind, width, decimals: i(kind << 16 | width << 8 | decimals)
    label = raw("How m\xfcch?" if encoding in ("cp1252", "latin1") else "How much?", 9)
    out = b"$FL2" + b"@(#) made by hand".ljust(60) + i(2) + i(4) + i(0) + i(4) + i(len(rows) if cases is None else cases) + d(100.0)
    out += b"16 Nov 26" + b"03:00:00" + text("By hand", 64) + b"\0\0\0"
    lowest = struct.unpack(order + "d", struct.pack(order + "Q", 0xFFEFFFFFFFFFFFFE))[0]
    out += i(2) + i(0) + i(1) + i(-3) + fmt(5, 8, 2) * 2 + text("NUM", 8) + i(9) + label.ljust(12) + d(lowest) + d(-1.0) + d(99.0)
    out += i(2) + i(12) + i(0) + i(0) + fmt(1, 12, 0) * 2 + text("TXT", 8)
    out += i(2) + i(-1) + i(0) + i(0) + fmt(1, 1, 0) * 2 + text("", 8)
    out += i(2) + i(0) + i(0) + i(0) + fmt(5, 8, 2) * 2 + text("W", 8)
    out += i(3) + i(2) + d(1.0) + bytes([3]) + raw("one", 3).ljust(7) + d(-3.0) + bytes([8]) + raw("not said", 8).ljust(15) + i(4) + i(1) + i(1)
    if page is not None:
        out += i(7) + i(3) + i(4) + i(8) + b"".join(map(i, [20, 0, 0, -1, 1, 1, 1 if order == ">" else 2, page]))
        out += i(7) + i(4) + i(8) + i(3) + d(-sys.float_info.max) + d(sys.float_info.max) + d(lowest)
    if named is not None:
        out += i(7) + i(20) + i(1) + i(len(named)) + named.encode()
    out += i(999) + i(0)
    for number, words, weight in rows:
        out += d(-sys.float_info.max if number is None else number) + raw(words, 16) + d(weight)
    path.write_bytes(out)


def dtas():
    plain = people()
    for release, version in {113: 8, 114: 10, 115: 12, 117: 13, 118: 14, 119: 15}.items():
        pyreadstat.write_dta(plain, corpus / f"people-{release}.dta", version=version, column_labels=[questions[c] for c in plain],
                             variable_value_labels=labels, file_label="A made-up survey")
    frame = pd.DataFrame({"b": np.array([1, 100, -127], "int8"), "i": np.array([1, 32740, -32767], "int16"), "l": np.array([1, 2147483620, -5], "int32"),
                          "f": np.array([0.1, -1e10, np.nan], "float32"), "d": [0.1, 1e300, np.nan], "s": ["a", "", "longer text"],
                          "day": pd.to_datetime(["2020-02-29", "1950-01-01", "2100-12-31"])})
    for release in (114, 117, 118, 119):
        for order, name in (("<", "little"), (">", "big")):
            frame.to_stata(corpus / f"types-{release}-{name}.dta", version=release, byteorder=order, write_index=False, convert_dates={"day": "td"},
                           data_label="Types", variable_labels={"b": "A byte"}, value_labels={"b": {1: "one", 100: "hundred", -127: "least"}})
    for release in (117, 118):
        for order, name in (("<", "little"), (">", "big")):
            pd.DataFrame({"n": np.arange(4, dtype="int32"), "t": ["x" * 3000, "", "same", "same"], "u": ["p", "q", "r", "s" * 5000]}).to_stata(
                corpus / f"long-text-{release}-{name}.dta", version=release, byteorder=order, write_index=False, convert_strl=["t", "u"])
    pd.DataFrame({"s": ["M\xfcller", "Nu\xf1ez  "]}).to_stata(corpus / "latin1-114.dta", version=114, write_index=False, variable_labels={"s": "\xdcber"})
    pd.DataFrame({"s": ["日本", "🐡"], "n": [1, 2]}).to_stata(corpus / "unicode-118.dta", version=118, write_index=False)
    moments = pd.DataFrame({"day": [dt.date(2020, 2, 29), None], "moment": [dt.datetime(2020, 2, 29, 13, 14, 15), dt.datetime(1901, 1, 1)]})
    pyreadstat.write_dta(moments, corpus / "moments-118.dta", version=14, variable_format={"day": "%td", "moment": "%tc"})
    # No dot alone: asked for tags, pyreadstat tells it as 0.
    tagged = pd.DataFrame({"a": [1, "a", "b", 2, 7], "b": ["a", 3, 4, 5, "z"]})
    pyreadstat.write_dta(tagged, corpus / "tagged-118.dta", version=14, missing_user_values={"a": ["a", "b"], "b": ["a", "z"]},
                         variable_value_labels={"a": {1: "yes", "a": "refused", "b": "don't know"}})


def others():
    plain = people()
    for version in (5, 8):
        frame = plain.assign(day=[dt.date(2020, 1, 1) + dt.timedelta(days=100 * k) for k in range(len(plain))])
        pyreadstat.write_xport(frame, corpus / f"people-v{version}.xpt", file_format_version=version, table_name="PEOPLE",
                               column_labels=[*questions.values(), "Day"], variable_format={"day": "DATE9"})
    pyreadstat.write_xport(pd.DataFrame({"x": [0.0, -1.5, 1e-10, 123456789.125, np.nan, 1 / 3], "s": ["a", "", "h\xe9", "d", "e", ""]}), corpus / "numbers.xpt", file_format_version=5)
    book = pd.DataFrame({"id": [1, 2, 3], "age": [20.5, None, 40], "name": ["Ann & <Bo>", None, "Zoë"], "day": pd.to_datetime(["2020-02-29", None, "1999-12-31"]),
                         "moment": pd.to_datetime(["2020-02-29 13:14:15", "2000-01-01 00:00:01", None]), "yes": [True, False, True], "clock": [dt.time(1, 2, 3), None, dt.time(23, 0)]})
    with pd.ExcelWriter(corpus / "book.xlsx", engine="openpyxl", date_format="YYYY-MM-DD") as writer:
        book.to_excel(writer, sheet_name="Answers", index=False)
        pd.DataFrame({"other": [1.0, 2.5]}).to_excel(writer, sheet_name="More & more", index=False)


# ---- what is in them

def cell(value):
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, (pd.Timestamp, dt.datetime)):
        return value.isoformat()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value


def code(value):
    return str(cell(value))


readers = {".sav": pyreadstat.read_sav, ".zsav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}


def expect(path):
    if path.suffix == ".xlsx":
        frame = pd.read_excel(path)
        columns = [[sheet_cell(v) for v in frame[c]] for c in frame]
        return {"rows": len(frame), "label": None, "variables": [{"name": c, "label": None, "labels": {}, "ranges": []} for c in frame], "columns": columns}
    frame, meta = readers[path.suffix](path, **({} if path.suffix == ".xpt" else {"user_missing": True}))
    variables, columns = [], []
    for name, label in zip(meta.column_names, meta.column_labels):
        told = meta.variable_value_labels.get(name, {})
        tags = set(meta.missing_user_values.get(name, [])) if path.suffix == ".dta" else set()
        # Stata's tags are shown with their dot, and only where somebody labelled one.
        show = lambda v: (f".{v}" if v in told else None) if isinstance(v, str) and v in tags else cell(v)
        variables.append({
            "name": name,
            "label": label or None,
            "labels": {(f".{k}" if k in tags else code(k)): v for k, v in told.items()},
            "ranges": [[cell(r["lo"]), cell(r["hi"])] for r in meta.missing_ranges.get(name, [])],
        })
        columns.append([show(v) for v in frame[name]])
    return {"rows": len(frame), "label": meta.file_label or None, "variables": variables, "columns": columns}


def sheet_cell(value):
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    shown = cell(value)
    return shown[:10] if isinstance(shown, str) and shown.endswith("T00:00:00") else shown


if __name__ == "__main__":
    folder = corpus
    if sys.argv[1:2] == ["expect"]:
        folder = Path(sys.argv[2])
    else:
        corpus.mkdir(exist_ok=True)
        savs(), dtas(), others()
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.suffix in readers or p.suffix == ".xlsx"):
        try:
            found[str(path.relative_to(folder))] = expect(path)
        except Exception as error:
            print(f"pyreadstat cannot read {path.name}: {error}", file=sys.stderr)
    target = folder / "expected.vectors.json"
    target.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for k, v in found.items()) + "\n}\n")
    print(f"{len(found)} files, {target.stat().st_size} bytes of expected values")
