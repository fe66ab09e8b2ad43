"""A gate for continuous integration

`memsim compare --fail-if-slower` exits with 1 only if the whole interval of the slow-down lies beyond the limit. Here
each thread gets neighbouring elements, so that lanes are scattered, and the check fails.
"""

from subprocess import run

commands = """
memsim trace saxpy -p n=65536 -p block=256 --gpu a100 -o before.h5
memsim trace saxpy -p n=65536 -p variant=block -p grid=64 --gpu a100 -o after.h5
memsim run before.h5 --trials 4 -q -o base.h5
memsim run after.h5 --trials 4 -q -o change.h5
memsim compare base.h5 change.h5 --fail-if-slower 5%
"""
for command in commands.strip().splitlines():
    done = run(command.split(), capture_output=True, text=True)
    print(f"$ {command}")
print(*done.stdout.splitlines()[2:4], f"exit status {done.returncode}", sep="\n")
