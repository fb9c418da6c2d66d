"""The compared implementations: Convoy and its peers, each in a separate process that
`benchmarks.processes` starts."""
