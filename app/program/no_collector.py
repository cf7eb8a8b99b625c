"""Imported first by a process that only imports and is forked, as the fork server of `multiprocessing` is told to.

It has no other place for this: importing this module stops its garbage collector. Whoever is forked calls
`app.program.collector.resume`.
"""

import gc

gc.disable()
