"""Measurements on a GPU, always beside a peer in the same run."""
