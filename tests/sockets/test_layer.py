"""The embedded channel layer: a worker's thread sends, the server's loop receives."""

from __future__ import annotations

import asyncio
import time

from asgiref.sync import async_to_sync

from explorer.server.layers import ThreadSafeInMemoryChannelLayer


async def test_what_a_thread_sends_arrives_whole_in_order_and_at_once() -> None:
    layer = ThreadSafeInMemoryChannelLayer(capacity=1000)
    channel = await layer.new_channel()
    await layer.group_add("orders", channel)

    def send() -> None:
        for number in range(300):
            async_to_sync(layer.group_send)(
                "orders", {"type": "number", "number": number, "at_s": time.monotonic()}
            )

    sending = asyncio.create_task(asyncio.to_thread(send))
    numbers, delays_s = [], []
    for _ in range(300):
        message = await asyncio.wait_for(layer.receive(channel), 5)
        numbers.append(message["number"])
        delays_s.append(time.monotonic() - message["at_s"])
    await sending
    assert numbers == list(range(300))
    # Channels' own layer would let the first wait for the loop's next timer, and drop what does not fit.
    assert sorted(delays_s)[150] < 0.05


async def test_a_sender_finds_nobody_where_the_receiving_loop_is_gone() -> None:
    layer = ThreadSafeInMemoryChannelLayer()

    async def receiver() -> None:
        await layer.group_add("orders", await layer.new_channel())

    await asyncio.to_thread(lambda: asyncio.run(receiver()))
    await layer.group_send("orders", {"type": "number"})
    # The next loop that receives begins with nothing of the old one's.
    channel = await layer.new_channel()
    await layer.group_add("orders", channel)
    await layer.group_send("orders", {"type": "number", "number": 1})
    assert (await asyncio.wait_for(layer.receive(channel), 5))["number"] == 1
