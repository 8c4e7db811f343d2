"""The embedded channel layer: a worker's thread sends, the server's loop receives."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from explorer.server.layers import ThreadSafeInMemoryChannelLayer
from groups.places import ROOT
from tests.conftest import missing
from tests.services.servers import redis_server


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


QUIET = """
import asyncio, sys
import django
django.setup()
from channels.layers import get_channel_layer

async def main():
    layer = get_channel_layer()
    channel = await layer.new_channel()
    asyncio.get_running_loop().call_later(7, lambda: asyncio.ensure_future(layer.send(channel, {"type": "late"})))
    print((await asyncio.wait_for(layer.receive(channel), 60))["type"])

asyncio.run(main())
"""


@pytest.mark.services
@pytest.mark.once
@pytest.mark.long
def test_a_feed_by_redis_that_is_quiet_for_seconds_does_not_break_off(tmp_path: Path) -> None:
    if shutil.which("redis-server") is None:
        missing("redis-server is not installed")
    with redis_server(tmp_path) as url:
        environment = {**os.environ, "REDIS_URL": url, "DJANGO_SETTINGS_MODULE": "explorer.settings"}
        environment |= {"REBALANCE_VAR": str(tmp_path / "var"), "DATABASE_URL": ""}
        done = subprocess.run(
            [sys.executable, "-c", QUIET],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.stdout, done.returncode) == ("late\n", 0), done.stderr[-2000:]
