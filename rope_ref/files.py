"""Writing files so that none is ever half written."""

import os
from pathlib import Path

__all__ = []


def write_file(path, content):
    """Write bytes beside `path`, then move them into place: a reader sees the old file or the new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
