"""A loaded program: memory, the captured graph, runs and profiles."""
