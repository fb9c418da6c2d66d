"""What cuDNN takes: the matrix of graphs, asking the library, and writing the support table.
docs/support.md tells the whole."""
