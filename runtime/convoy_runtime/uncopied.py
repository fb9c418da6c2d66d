# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Objects that own native code and memory, of which there is one."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["Uncopied"]


class Uncopied:
    """An object that cannot be copied or pickled."""

    def __reduce__(self) -> NoReturn:
        """Raises TypeError; `copy`, `pickle` and `multiprocessing` call it."""
        message = (
            f"a {type(self).__name__} cannot be copied or pickled, because it owns native code and "
            "memory; load the artifact again, in each process that uses it"
        )
        raise TypeError(message)
