"""CUDA graphs: the calls of a program, their order, and capturing them."""
