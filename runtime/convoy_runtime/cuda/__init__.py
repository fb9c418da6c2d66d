"""The `cuda` target: driver, cuDNN, plans, execution. Nothing here is imported before an artifact
of that target is loaded."""
