"""Imported first by a process that only imports and is then forked, like the fork server of `multiprocessing`.

It has no other place for this: importing this module stops its garbage collector. Whoever is forked calls
`app.program.collector.resume`.
"""

import gc

gc.disable()
