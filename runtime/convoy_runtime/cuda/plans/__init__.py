"""Execution plans for graphs: building, storing and choosing them without measurement."""
