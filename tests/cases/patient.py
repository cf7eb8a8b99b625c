"""Requests to a running server that wait a minute for the answer: a busy machine is not a broken server.

httpx itself gives up after five seconds, which a server that has just started does not always keep beside other tests.
"""

from functools import partial

import httpx

PATIENCE_S = 60

# Without certificates, which take longer to load than most servers to answer: they are all on this machine.
PATIENT = {"timeout": PATIENCE_S, "verify": False}

get = partial(httpx.get, **PATIENT)
post = partial(httpx.post, **PATIENT)
put = partial(httpx.put, **PATIENT)
delete = partial(httpx.delete, **PATIENT)
