"""The one exception users meet: bad input, named by where it is and what would be right."""

from __future__ import annotations

import os

from memsim.support.text import printable


class InputError(Exception):
    """Bad input (a file, a configuration value, an argument); one line, shown without a traceback.

    The message names the file (from the current folder, if it lies inside) and the field and says what would be
    right. The command line prints it and exits with code 2.

    >>> str(InputError("gpu.toml", "l1.ways", "is 0; give a positive whole number"))
    'gpu.toml: l1.ways is 0; give a positive whole number'
    """

    def __init__(self, where: object, field: str, problem: str) -> None:
        self.where, self.field, self.problem = str(where), field, problem
        message = printable(f"{where}: {field} " + problem.replace(" \n", " ").replace("\n", " "))
        here = os.path.join(os.getcwd(), "")
        super().__init__(message.replace(here, "") if here != os.sep else message)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return InputError, (self.where, self.field, self.problem)  # whole, from a worker process
