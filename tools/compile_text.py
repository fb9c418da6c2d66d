"""Compiles one text with a Python extension that is named by its path: what `tools.sanitize` runs
with AddressSanitizer preloaded.

`python -IS tools/compile_text.py EXTENSION` reads JSON: `text`, `name`, and `options`, which are
pairs of names and values, or null for a file of graphs.
"""

import importlib.util
import json
import sys


def main(path: str) -> None:
    """Compiles what is on the standard input. Raises what the extension raises."""
    spec = importlib.util.spec_from_file_location("_convoy", path)
    assert spec is not None
    assert spec.loader is not None
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    job = json.load(sys.stdin)
    if job["options"] is None:
        extension.compile_graphs(job["text"], job["name"])
    else:
        extension.compile(job["text"], job["name"], "tcp", [tuple(pair) for pair in job["options"]])


if __name__ == "__main__":
    main(sys.argv[1])
