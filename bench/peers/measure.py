"""Runs a command; writes the processor seconds and the peak memory of its process tree to a file."""

import json
import os
import sys

file, *command = sys.argv[1:]
pid = os.posix_spawn(command[0], command, os.environ)
_, status, usage = os.wait4(pid, 0)
unit = 1 if sys.platform == "darwin" else 1024
with open(file, "w") as out:
    seconds = usage.ru_utime + usage.ru_stime
    json.dump({"processorSeconds": seconds, "peakBytes": usage.ru_maxrss * unit}, out)
sys.exit(abs(os.waitstatus_to_exitcode(status)))
