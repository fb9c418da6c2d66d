"""Queries cuDNN about a matrix of graphs and generates the support table (docs/support.md)."""
