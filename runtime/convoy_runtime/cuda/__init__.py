"""The `cuda` target. Nothing here is imported before an artifact of that target is loaded.

Each package imports only from those before it: `driver`, `cudnn`, `plans`, `graphs`, `tuning`,
`program`.
"""
