"""The duration of the imports of a peer's sync in a fresh process, and the peer's version."""

import json
import sys
import time
from importlib import import_module, metadata

package, *modules = sys.argv[1:]
began = time.perf_counter()
for module in modules:
    import_module(module)
ms = (time.perf_counter() - began) * 1000
print(json.dumps({"ms": ms, "version": metadata.version(package)}))
