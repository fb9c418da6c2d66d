# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles one module with the Python extension at a path. `tools.sanitize` runs this with
AddressSanitizer preloaded.

`python -IS tools/compile_text.py EXTENSION` reads JSON from standard input: `text`, `name`, and
`options`, a list of name and value pairs, or null for a file of graphs.
"""

import importlib.util
import json
import sys


def main(path: str) -> None:
    """Compiles the module on standard input.

    Args:
        path: The extension, `_convoy*.so`.

    Raises:
        Exception: The extension reports an error.
    """
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
