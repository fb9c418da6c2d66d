"""Measuring plans on the device, and choosing among them."""
