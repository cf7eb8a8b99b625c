"""How many requests are begun at the same time, so that a flood of them delays nobody who asks for a kept page.

Used by `app.main` between the page cache and the app.
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BEGUN = 16
"""Below the threads and connections that wait for the database; the event loop runs a round of so many in 50 ms."""


class BegunTogether:
    """An app of which only so many requests are between their head and their body; the others wait in order.

    Who sends a body, or takes an answer slowly, holds no place: it is given back when the app asks for more of the
    request, and when it begins its answer.
    """

    def __init__(self, app: ASGIApp, most: int = MOST_BEGUN) -> None:
        self._app = app
        self._places = asyncio.Semaphore(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in its turn; what is no request, such as the beginning of the process, has none."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        await self._places.acquire()
        is_begun = False

        def give_back() -> None:
            nonlocal is_begun
            if not is_begun:
                is_begun = True
                self._places.release()

        async def receive_more() -> Message:
            give_back()
            return await receive()

        async def send_more(message: Message) -> None:
            give_back()
            await send(message)

        try:
            await self._app(scope, receive_more, send_more)
        finally:
            give_back()
