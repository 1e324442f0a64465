"""Makes the wheel of this package: it is pure Python without dependencies, so that installing it needs pip and no network."""
from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from pathlib import Path
from typing import Any, Optional

here = Path(__file__).parent


def _said(key: str) -> str:
    found = re.search(rf'(?m)^{key} = "(.*)"$', (here / "pyproject.toml").read_text(encoding="utf-8"))
    assert found, key
    return found[1]


def _metadata() -> dict[str, str]:
    name, version = _said("name"), _said("version")
    about = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {_said('description')}", f"Requires-Python: {_said('requires-python')}",
        "License: Apache-2.0", "Provides-Extra: pandas", 'Requires-Dist: pandas>=1.5; extra == "pandas"', "Provides-Extra: polars",
        'Requires-Dist: polars>=0.20; extra == "polars"', "Description-Content-Type: text/markdown", "", (here / "README.md").read_text(encoding="utf-8"),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: fugu", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]
    folder = f"{name}-{version}.dist-info"
    return {f"{folder}/METADATA": "\n".join(about), f"{folder}/WHEEL": "\n".join(wheel)}


def _write(folder: str, files: dict[str, bytes]) -> str:
    name, version = _said("name"), _said("version")
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    files = {**files, **{path: text.encode() for path, text in _metadata().items()}}
    record = f"{name}-{version}.dist-info/RECORD"
    lines = [f"{path},sha256={digest(data)},{len(data)}" for path, data in files.items()] + [f"{record},,", ""]
    target = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**files, record: "\n".join(lines).encode()}.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), data)
    return target


def build_wheel(wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None) -> str:
    source = here / "src"
    files = sorted(path for path in (source / "fugu").rglob("*") if path.suffix == ".py" or path.name == "py.typed")
    return _write(wheel_directory, {path.relative_to(source).as_posix(): path.read_bytes() for path in files})


def build_editable(wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None) -> str:
    return _write(wheel_directory, {"fugu.pth": f"{here / 'src'}\n".encode()})
