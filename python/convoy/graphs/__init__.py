# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads cuDNN operation graphs from artifacts, `.mlir` files and cudnn-frontend, and prints them as
JSON, dot, Python and MLIR."""

from __future__ import annotations

from convoy.graphs.cudnn_json import cudnn_json_text
from convoy.graphs.dot import graph_dot
from convoy.graphs.frontend_json import graph_json_text
from convoy.graphs.frontend_python import graph_python
from convoy.graphs.model import GraphError, OperationGraph
from convoy.graphs.source import graph_names, import_graph, read_graph

__all__ = [
    "GraphError",
    "OperationGraph",
    "cudnn_json_text",
    "graph_dot",
    "graph_json_text",
    "graph_names",
    "graph_python",
    "import_graph",
    "read_graph",
]
