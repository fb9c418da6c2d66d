"""Measures plans on the device and chooses among them."""
