"""Developer tools, run as `python -m tools.NAME` from the root of the repository. Not packaged."""
