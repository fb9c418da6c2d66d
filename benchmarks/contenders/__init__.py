"""What is compared: Convoy and its peers, each in a process of its own that `benchmarks.contest`
starts and asks for times."""
