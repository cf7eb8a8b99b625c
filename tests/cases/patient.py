"""Requests to a running server that wait a minute for the answer: a busy machine is not a broken server.

httpx2 itself gives up after five seconds, which a server that has just started does not always keep beside other tests.
"""

from functools import partial

import httpx2

PATIENCE_S = 60

# Without certificates, which take longer to load than most servers to answer: they are all on this machine.
PATIENT = {"timeout": PATIENCE_S, "verify": False}

get = partial(httpx2.get, **PATIENT)
post = partial(httpx2.post, **PATIENT)
put = partial(httpx2.put, **PATIENT)
delete = partial(httpx2.delete, **PATIENT)
