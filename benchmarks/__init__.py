"""GPU benchmarks. Convoy and its peers are timed in the same run."""
