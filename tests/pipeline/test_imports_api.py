"""The import's pages and API: uploads with bounds, the sample log, state, cancel, delete."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from explorer.pages.imports import uploading
from explorer.pages.imports.uploading import safe_path
from groups.cluster_models import Cluster
from groups.imports import lifecycle, topic_copy
from groups.management.commands.import_log import title_of
from groups.models import Import, Timeline
from groups.pipeline.reading import buckets
from groups.pipeline.reading.buckets import CannotFetch, fetched
from groups.watching.secrets import seal
from tests.pipeline.segments import FOO, sample_group
from tests.tasks.idle import pretend_the_job

pytestmark = pytest.mark.django_db(transaction=True)

Queued = list[str]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Queued:
    """Imports are queued and read by nobody; uploads go to a folder of the test's own."""
    settings.VAR = tmp_path
    settings.STORE_URL = str(tmp_path / "store")
    sent: Queued = []
    monkeypatch.setattr(uploading.run_import, "delay", sent.append)
    pretend_the_job(monkeypatch)
    return sent


def post(body: Any) -> Any:
    return Client().post("/api/imports", orjson.dumps(body), content_type="application/json")


def upload(*files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(Path(path).name, content) for path, content in files]
    return Client().post("/api/imports", {"files": sent, "paths": [path for path, _ in files]})


def message(answer: Any) -> str:
    said: str = answer.json()["error"]["message"]
    assert "\n" not in said
    return said


def test_the_sample_log_is_one_click(queued: Queued) -> None:
    answer = post({"sample": True})

    found = Import.objects.get()
    assert answer.status_code == 201
    created = {"id": found.id, "type": "import", "url": f"/import/{found.id}"}
    assert answer.json() == created | {"import": found.id}, "the last one is the old name"
    assert queued == [found.id]
    assert all(Path(path).exists() for path in found.paths)


def test_the_topic_of_a_cluster_that_is_added_is_imported_from_its_page(queued: Queued) -> None:
    cluster = Cluster.objects.create(id="c1", name="prod", sealed=b"")
    answer = post({"cluster": cluster.pk})

    found = Import.objects.get()
    assert (answer.status_code, queued, found.paths) == (201, [found.id], ["cluster://c1"])
    page = Client().get(f"/clusters/{cluster.pk}").content.decode()
    assert "Import its history" in page
    by_form = Client().post("/import/", {"cluster": cluster.pk})
    assert by_form.status_code == 302
    assert "c2" in message(post({"cluster": "c2"}))
    assert Client().post("/import/", {"cluster": "c2"}).status_code == 404


def test_a_path_is_imported_where_the_operator_allowed_its_place(
    queued: Queued, settings: Any, tmp_path: Path
) -> None:
    allowed, secret = tmp_path / "logs", tmp_path / "secret"
    for folder in (allowed, secret):
        folder.mkdir()
    (allowed / "link").symlink_to(secret)
    assert "IMPORT_PREFIXES" in message(post({"path": str(allowed)}))
    settings.IMPORT_PREFIXES = [str(allowed), "s3://bucket/logs"]

    right = [str(allowed), f"{allowed}/a", "s3://bucket/logs", "s3://bucket/logs/a/"]
    assert [post({"path": path}).status_code for path in right] == [201] * len(right)
    assert [found.paths for found in Import.objects.order_by("created")] == [[path] for path in right]
    wrong = [
        *(str(secret), f"{allowed}/../secret", f"{allowed}/link", f"{allowed}2", "/etc/passwd"),
        *("s3://bucket/logs2", "s3://bucket/logs/../x", "s3://bucket/logs/%2e%2e/x", "s3://other/logs"),
        *(
            "s3://bucket/logs?endpoint_override=evil",
            f"file://{allowed}",
            "cluster://c1",
            "http://bucket/logs",
        ),
    ]
    (allowed / "loop").symlink_to(allowed / "loop")
    settings.IMPORT_PREFIXES += ["s3://bucket/eu?region=eu", "s3://key:secret@bucket/own"]
    assert "environment" in message(post({"path": "s3://key:secret@bucket/own"}))
    wrong += [
        *(f"{allowed}/loop/../../secret", f"{allowed}/{'a/' * 3_000}", "s3://bucket/logs/a\nb"),
        "s3://bucket/eu?region=eu/&endpoint_override=evil",
    ]
    assert [post({"path": path}).status_code for path in wrong] == [400] * len(wrong)
    by_form = [
        Client().post("/import/", {"path": f"{place}/a\0b"}) for place in (allowed, "s3://bucket/logs")
    ]
    assert [answer.status_code for answer in by_form] == [400, 400]
    assert "From a place that this server reads" in Client().get("/import/").content.decode()


def test_files_of_another_store_are_fetched_and_keep_the_folder_of_their_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``file://`` stands for a bucket: Arrow reads each store by its scheme."""
    pytest.importorskip("pyarrow")
    place = tmp_path / "bucket" / "__consumer_offsets-17"
    place.mkdir(parents=True)
    (place / "00000000000000000000.log").write_bytes(b"x")
    into = tmp_path / "into"

    [folder, same] = fetched([f"file://{place}", "/as/it/is"], into)
    assert (Path(folder).name, same) == ("__consumer_offsets-17", "/as/it/is")
    assert [file.read_bytes() for file in Path(folder).iterdir()] == [b"x"]
    [file] = fetched([f"file://{place}/00000000000000000000.log"], into / "2")
    assert Path(file).read_bytes() == b"x"
    monkeypatch.setattr(buckets, "FILES_MOST", 0)
    for wrong in (f"file://{tmp_path}/nothing", "nope://x/y", f"file://{place}"):
        with pytest.raises(CannotFetch) as refused:
            fetched([wrong], into / "3")
        assert "\n" not in str(refused.value)


def test_the_key_and_secret_of_a_bucket_are_in_no_message_and_no_title(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    uri = "nope://key:se%2Fcret@bucket/logs?account_key=secret"
    with pytest.raises(CannotFetch) as refused:
        fetched([uri], tmp_path)
    assert str(refused.value).startswith("nope://…@bucket/logs?… cannot be read: ")
    assert "cret" not in str(refused.value)
    assert title_of(["s3://key:secret@bucket"]) == "…@bucket"


def test_no_import_stores_a_path_with_a_secret(db: None) -> None:
    for path in ("s3://key:se%2Fcret@bucket/logs", "abfs://logs@shop/a?account_key=secret", "s3://b/a?region=eu&Session_Token=x"):  # fmt: skip
        with pytest.raises(CommandError, match="environment"):
            call_command("import_log", path)
    assert not Import.objects.exists()
    lifecycle.create(title="t", paths=["hdfs://me@host:9/a:b@c", "file:///a:b@c", "s3://b/a?region=eu"])


def test_a_folder_that_goes_while_the_copy_is_measured_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "task" / "x").mkdir(parents=True)
    (tmp_path / "kept").write_bytes(b"12345")
    lists = os.scandir

    def gone(path: Any) -> Any:
        if str(path).endswith("task"):
            raise FileNotFoundError(path)
        return lists(path)

    monkeypatch.setattr(os, "scandir", gone)
    assert topic_copy._bytes_in(tmp_path) == 5


def test_a_key_of_a_bucket_writes_nothing_outside_the_folder_of_the_import(tmp_path: Path) -> None:
    """Arrow's own file system in memory takes any key, as a bucket does."""
    fs = pytest.importorskip("pyarrow.fs")
    store = fs._MockFileSystem()
    store.create_dir("bucket/logs/../../up", recursive=True)
    with store.open_output_stream("bucket/logs/../../up/evil") as file:
        file.write(b"x")
    with pytest.raises(CannotFetch, match="leads out of it"):
        buckets.copy("s3://bucket/logs", store, "bucket/logs", tmp_path / "a" / "b" / "logs")
    assert not [path for path in tmp_path.rglob("*") if path.name == "evil"]


def test_a_cluster_that_cannot_be_reached_fails_its_import_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The job that copies is asked with the cluster's own properties."""
    asked: list[Any] = []

    def refused(module: str, *, question: Any, cancelled: Any) -> Any:
        asked.append((module, question["properties"], question["once"]))
        yield {"type": "error", "message": "127.0.0.1:1 does not answer."}

    Cluster.objects.create(id="c1", name="prod", sealed=seal({"bootstrap.servers": "127.0.0.1:1"}))
    monkeypatch.setattr(topic_copy, "run_child", refused)
    monkeypatch.setattr(lifecycle, "missing_packages", tuple)
    done = lifecycle.perform(post({"cluster": "c1"}).json()["id"])

    assert (done.status, done.problem) == (Import.Status.FAILED, "127.0.0.1:1 does not answer.")
    assert asked == [("groups.archiving.job", {"bootstrap.servers": "127.0.0.1:1"}, True)]
    assert lifecycle.can_be_repeated(done)


def test_a_topic_larger_than_an_import_may_be_is_given_up_and_leaves_no_copy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def copies(module: str, *, question: Any, cancelled: Any) -> Any:
        for number in range(3):
            (Path(question["into"]) / f"{number}.log").write_bytes(bytes(600))
            yield {"type": "batch", "records": 10 * (number + 1)}
        pytest.fail("the job goes on")

    Cluster.objects.create(id="c1", name="prod", sealed=seal({"bootstrap.servers": "127.0.0.1:1"}))
    monkeypatch.setattr(topic_copy, "run_child", copies)
    monkeypatch.setattr(topic_copy, "UNPACKED_BYTES_MOST", 1_000)
    monkeypatch.setattr(lifecycle, "missing_packages", tuple)
    done = lifecycle.perform(post({"cluster": "c1"}).json()["id"])

    assert done.status == Import.Status.FAILED
    assert done.problem.startswith("The topic has more than 1,200 bytes, and an import at most 1,000")
    assert not list(tmp_path.rglob("*.topic"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda cluster: cluster.delete(), "There is no cluster 'c1'."),
        (lambda cluster: None, "were encrypted with another key"),
    ],
)
def test_a_cluster_that_is_removed_or_cannot_be_read_fails_its_import_at_once(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Cluster], object], sentence: str
) -> None:
    cluster = Cluster.objects.create(id="c1", name="prod", sealed=b"of another key")
    monkeypatch.setattr(lifecycle, "missing_packages", tuple)
    found = post({"cluster": "c1"}).json()["id"]
    change(cluster)
    done = lifecycle.perform(found)
    assert (done.status, sentence in done.problem) == (Import.Status.FAILED, True), done.problem


def test_uploaded_files_keep_the_folders_that_tell_their_partitions(queued: Queued) -> None:
    answer = upload(("backup/__consumer_offsets-17/00000000000000000000.log", sample_group().bytes()))

    found = lifecycle.get(answer.json()["import"])
    [kept] = [path for path in Path(found.paths[0]).rglob("*") if path.is_file()]
    assert kept.relative_to(found.paths[0]).as_posix() == "__consumer_offsets-17/00000000000000000000.log"
    assert kept.read_bytes() == sample_group().bytes()
    assert queued == [found.id]


def test_a_file_without_a_folder_does_not_get_the_imports_id_for_one() -> None:
    found = lifecycle.get(upload(("0.log", b"one")).json()["import"])

    assert (Path(found.paths[0]) / "upload" / "0.log").read_bytes() == b"one"


def test_two_files_of_one_name_are_both_kept() -> None:
    found = lifecycle.get(upload(("0.log", b"one"), ("0.log", b"two")).json()["import"])

    assert sorted(path.read_bytes() for path in Path(found.paths[0]).rglob("*") if path.is_file()) == [
        b"one",
        b"two",
    ]


def test_a_json_file_among_the_logs_gives_names() -> None:
    answer = upload(("0.log", sample_group().bytes()), ("names.json", orjson.dumps({FOO: "foo"})))

    assert lifecycle.get(answer.json()["import"]).options["topics"] == {FOO: "foo"}


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("..\\..\\windows\\system.ini", "windows/system.ini"),
        ("...", "file-0"),
        ("a/__consumer_offsets-3/0.log", "__consumer_offsets-3/0.log"),
        ("we ird\x00name.log", "we_ird_name.log"),
    ],
)
def test_no_path_leads_out_of_the_uploads_folder(path: str, kept: str) -> None:
    assert safe_path(path, 0).as_posix() == kept


@pytest.mark.parametrize(
    ("send", "status", "says"),
    [
        (lambda: post({}), 400, "sample"),
        (lambda: post({"sample": "no-such-log"}), 404, "orders-enrich"),
        (lambda: post([]), 400, "JSON object"),
        (lambda: upload(), 400, "No file"),
        (lambda: upload(("names.json", b"[1]")), 400, "topic names"),
        (lambda: upload(("names.json", orjson.dumps({FOO: "foo"}))), 400, "no log"),
        (lambda: upload(("names.json", b'{"a": "b"}')), 400, "22 characters of URL-safe base64"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(
    send: Callable[[], Any], status: int, says: str
) -> None:
    answer = send()

    assert answer.status_code == status
    assert says in message(answer)
    assert Import.objects.count() == 0


def test_an_upload_beyond_the_bound_is_refused_and_leaves_nothing(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_BYTES_MOST = 10

    answer = upload(("0.log", b"more than ten bytes"))

    assert answer.status_code == 413
    assert "import_log" in message(answer)
    assert list(tmp_path.rglob("*.log")) == []


def test_more_imports_than_the_server_takes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "IMPORTS_WAITING_MOST", 1)
    post({"sample": True})

    assert post({"sample": True}).status_code == 429


def test_the_detail_tells_groups_verdicts_names_and_skipped() -> None:
    done = lifecycle.perform(lifecycle.create(title="Ticket 4411", paths=["log"], named=True).id)

    told = Client().get(f"/api/imports/{done.id}").json()

    [row] = told["timelines"]
    assert (told["status"], told["title"], told["timelines_in_all"]) == ("complete", "Ticket 4411", 1)
    assert (row["group"], row["protocol"], row["url"]) == ("orders", "consumer", f"/t/{row['id']}")
    assert row["verdict"]["clauses"]
    assert told["named"] == [
        {"source": "metadata hash", "says": "proven by the group's metadata hash", "count": 1}
    ]
    assert told["waiting_groups"] == []


def test_an_id_without_a_name_is_told_and_shows_the_name_that_a_user_gives() -> None:
    done = lifecycle.perform(lifecycle.create(title="x", paths=["nameless"]).id)
    timeline = Timeline.objects.get()
    [before] = Client().get(f"/api/imports/{done.id}").json()["nameless"]

    named = Client().patch(
        f"/api/timelines/{timeline.id}/topics", orjson.dumps({FOO: "foo"}), content_type="application/json"
    )

    [after] = Client().get(f"/api/imports/{done.id}").json()["nameless"]
    assert named.status_code == 200
    assert (before["id"], before["name"], before["partitions"]) == (FOO, None, 1)
    assert before["suggestion"]["name"] == "foo"
    assert after["name"] == "foo"


def test_cancel_ends_an_import_once() -> None:
    started = post({"sample": True}).json()["import"]

    assert Client().post(f"/api/imports/{started}/cancel").json()["status"] == "cancelled"
    assert Client().post(f"/api/imports/{started}/cancel").status_code == 409


def test_delete_removes_an_import_and_what_it_made() -> None:
    done = lifecycle.perform(lifecycle.create(title="x", paths=["log"]).id)

    assert Client().delete(f"/api/imports/{done.id}").status_code == 204
    assert Client().get(f"/api/imports/{done.id}").status_code == 404
    assert Timeline.objects.count() == 0


def test_there_is_a_list_of_imports() -> None:
    post({"sample": True})

    [row] = Client().get("/api/imports").json()
    assert row["status"] == "waiting"


def test_the_pages_stand_and_one_that_is_not_there_is_not_found() -> None:
    started = post({"sample": True}).json()["import"]

    assert "Import the sample log" in Client().get("/import/").content.decode()
    assert "import-data" in Client().get(f"/import/{started}").content.decode()
    assert Client().get("/import/nosuchone").status_code == 404


def test_the_form_works_without_scripts() -> None:
    answer = Client().post("/import/", {"sample": "orders-enrich"})

    assert (answer.status_code, answer["Location"]) == (302, f"/import/{Import.objects.get().id}")
    refused = Client().post("/import/", {})
    assert refused.status_code == 400
    assert "No file" in refused.content.decode()


def test_the_page_says_that_spark_is_being_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.pages.imports import views

    monkeypatch.setattr(views, "missing_packages", lambda: ["pyspark"])
    started = post({"sample": True}).json()["import"]

    assert "smaller ones are imported at once" in Client().get("/import/").content.decode()
    assert Client().get(f"/api/imports/{started}").json()["spark"] == {"ready": True}
    Import.objects.filter(pk=started).update(progress={"stage": lifecycle.GETTING_SPARK})
    assert Client().get(f"/api/imports/{started}").json()["spark"] == {"ready": False}


def test_an_import_is_renamed_and_a_name_that_is_none_is_refused(queued: Queued, client: Client) -> None:
    found = lifecycle.get(upload(("0.log", b"one")).json()["import"])
    address = f"/api/imports/{found.id}"

    def patch(body: Any) -> Any:
        return client.patch(address, orjson.dumps(body), content_type="application/json")

    assert patch({"title": "Outage of 22 November"}).json()["title"] == "Outage of 22 November"
    refused = patch({"title": "  "})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "title")
    assert patch({"name": "x"}).status_code == 400
    assert (
        client.patch("/api/imports/nosuch", b'{"title": "x"}', content_type="application/json").status_code
        == 404
    )


def test_the_page_lists_imports_with_their_zone_and_escapes_their_names(
    queued: Queued, client: Client
) -> None:
    found = lifecycle.get(upload(("0.log", b"one")).json()["import"])
    lifecycle.rename(found.id, "<b>loud</b>")
    page = client.get("/import/").content.decode()
    assert "&lt;b&gt;loud&lt;/b&gt;" in page
    assert re.search(r'<time data-ms="\d+">\d+ \w{3} \d{4}, \d\d:\d\d UTC</time>', page)
