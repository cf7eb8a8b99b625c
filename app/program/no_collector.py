"""Stops the garbage collector of the process that imports it, as the first of what a fork server is to import.

The fork server of `multiprocessing` is told nothing but which modules to import, so an import is what does it. Whoever
is forked from it calls `app.program.starting.resume`.
"""

import gc

gc.disable()
