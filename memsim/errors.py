"""The one exception users meet: bad input, named by where it is and what would be right."""

from __future__ import annotations


class InputError(Exception):
    """Bad input (a file, a configuration value, an argument); one line, shown without a traceback.

    The message names the file and the field and says what would be right. The command line prints it and
    exits with code 2.

    >>> str(InputError("gpu.toml", "l1.ways", "is 0; give a positive whole number"))
    'gpu.toml: l1.ways is 0; give a positive whole number'
    """

    def __init__(self, where: object, field: str, problem: str) -> None:
        self.where, self.field, self.problem = str(where), field, problem
        super().__init__(f"{where}: {field} {problem}".replace(" \n", " ").replace("\n", " "))

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return InputError, (self.where, self.field, self.problem)  # whole, from a worker process
