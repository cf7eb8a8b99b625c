"""Requests to a running server that wait a minute for the answer: a busy machine is not a broken server.

httpx itself gives up after five seconds, which a server that has just started does not always keep beside other tests.
"""

from functools import partial

import httpx

PATIENCE_S = 60

get = partial(httpx.get, timeout=PATIENCE_S)
post = partial(httpx.post, timeout=PATIENCE_S)
put = partial(httpx.put, timeout=PATIENCE_S)
delete = partial(httpx.delete, timeout=PATIENCE_S)
