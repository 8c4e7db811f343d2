"""From a stored entry to its message in a browser: the embedded server, a thread that stores, Chromium that hears."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure, middle, percentile
from tests.serving import ROOT, environment_for


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        # A process of its own: Django's settings are read once a process.
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.sockets"],
            cwd=ROOT,
            env=environment_for(Path(folder), DJANGO_SETTINGS_MODULE="explorer.settings"),
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    times = json.loads(done.stdout.splitlines()[-1])
    yield Figure(
        what="entry stored to message in the browser, median", value=middle(times), unit="ms", goal=50
    )
    yield Figure(
        what="entry stored to message in the browser, 99th percentile",
        value=percentile(times, 0.99),
        unit="ms",
    )


def measure() -> list[float]:
    """Milliseconds for each appended batch; both clocks are this machine's."""
    import threading
    import time
    from concurrent.futures import ThreadPoolExecutor

    import django

    django.setup()
    import uvicorn
    from django.conf import settings
    from django.core.management import call_command
    from playwright.sync_api import sync_playwright

    from groups import storage
    from tests.benchmarks.pages import CHROMIUM
    from tests.stories import GROUP, a_day_of_three

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    server = uvicorn.Server(
        uvicorn.Config("explorer.asgi:application", lifespan="on", log_level="warning", port=0)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    times: list[float] = []

    def create() -> str:
        return storage.create_timeline(title="Latency", source="simulation", group=GROUP).id

    def store(timeline_id: str) -> dict[str, float]:
        writer = storage.open_writer(timeline_id, "benchmark")
        stored = {}
        for batch in a_day_of_three().batches():
            # Taken before the append: the figure holds the transaction, too, and cannot flatter.
            stored[str(batch.last)] = time.time() * 1000
            writer.append(batch)
            time.sleep(0.12)
        writer.finish("complete")
        return stored

    # Playwright runs an event loop in this thread, where Django does not let anything wait for the database.
    with ThreadPoolExecutor(1) as elsewhere, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/help/?token={settings.ACCESS_TOKEN}")
        for _ in range(6):
            timeline_id = elsewhere.submit(create).result()
            page.evaluate(
                """url => new Promise(done => {
                    window.heard = {};
                    const socket = new WebSocket(url);
                    socket.onmessage = event => {
                        const now = performance.timeOrigin + performance.now(), said = JSON.parse(event.data);
                        if (said.type === "hello") done();
                        if (said.type === "changes") window.heard[said.last] = now;
                    };
                })""",
                f"ws://127.0.0.1:{port}/ws/timelines/{timeline_id}",
            )
            stored = elsewhere.submit(store, timeline_id).result()
            heard = page.evaluate("window.heard")
            times += [heard[last] - at for last, at in stored.items() if last in heard]
            page.reload()
        browser.close()
    server.should_exit = True
    thread.join(10)
    return times


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure()) + "\n")
    sys.stdout.flush()
    os._exit(0)
