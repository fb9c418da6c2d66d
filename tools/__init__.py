"""Programs of the repository itself: run as `python -m tools.NAME` from its root. Nothing of them
is shipped."""
