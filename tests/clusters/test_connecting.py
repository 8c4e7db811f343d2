"""The eight ways into a cluster, and what is said when one of them fails: against a real broker."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from groups.clusters.allowed import DESCRIBE_CLUSTER, LIST_GROUPS
from groups.clusters.connection import Connection, connect
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import settings_of
from tests.clusters.certificates import BEGINS_ON, EXPIRED_ON
from tests.clusters.secure import Secure, free_ports, token

pytestmark = [pytest.mark.broker, pytest.mark.once]

WAYS = ("plaintext", "tls", "mtls", "plain", "scram-256", "scram-512", "oauth", "sasl-plaintext")


@contextlib.asynccontextmanager
async def connected(properties: dict[str, str]) -> AsyncIterator[Connection]:
    settings = settings_of({"request.timeout.ms": "8000", **properties})
    connection = await connect(settings.servers[0], settings)
    try:
        yield connection
    finally:
        await connection.close()


async def refusal(properties: dict[str, str]) -> ClusterError:
    with pytest.raises(ClusterError) as refused:
        async with connected(properties):
            pass
    return refused.value


def with_token(secure: Secure, folder: Path, said: str) -> dict[str, str]:
    file = folder / "token"
    file.write_text(said)
    return secure.properties("oauth") | {"rebalance.oauthbearer.token.file": str(file)}


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_into_a_cluster_ends_at_a_broker_that_answers(
    secure: Secure, way: str, tmp_path: Path
) -> None:
    properties = secure.properties(way)
    if way == "oauth":
        properties = with_token(secure, tmp_path, token("watcher"))
    async with connected(properties) as connection:
        told = await connection.ask(DESCRIBE_CLUSTER, {"includeClusterAuthorizedOperations": False})
        assert [broker["brokerId"] for broker in told["brokers"]] == [1]
        listed = await connection.ask(LIST_GROUPS, {"statesFilter": [], "typesFilter": []})
        assert listed["errorCode"] == 0


async def test_a_token_may_come_from_a_command(secure: Secure) -> None:
    command = {"rebalance.oauthbearer.token.command": f"echo {token('watcher')}"}
    async with connected(secure.properties("oauth") | command) as connection:
        assert connection.is_open


@contextlib.contextmanager
def token_endpoint(client: str, secret: str, answer: dict[str, str]) -> Iterator[str]:
    """An authorization server that gives ``answer`` to one client: its address."""
    right = "Basic " + base64.b64encode(f"{client}:{secret}".encode()).decode()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            known = self.headers["Authorization"] == right
            is_right = known and asked == {"grant_type": ["client_credentials"], "scope": ["kafka"]}
            body = json.dumps(answer if is_right else {"error": "invalid_client"}).encode()
            self.send_response(200 if is_right else 401)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


async def test_a_token_may_come_from_an_authorization_server(secure: Secure) -> None:
    jaas = 'org.X required clientId="watch" clientSecret="{}" scope="kafka";'
    with token_endpoint("watch", "s3cret", {"access_token": token("watcher")}) as url:
        asked = secure.properties("oauth") | {"sasl.oauthbearer.token.endpoint.url": url}
        async with connected(asked | {"sasl.jaas.config": jaas.format("s3cret")}) as connection:
            assert connection.is_open
        refused = await refusal(asked | {"sasl.jaas.config": jaas.format("wrong")})
    assert str(refused) == f"The token endpoint {url} answers 401: invalid_client."
    silent = await refusal(asked | {"sasl.jaas.config": jaas.format("s3cret")})
    assert str(silent).startswith(f"The token endpoint {url} does not answer: ")
    with token_endpoint("watch", "s3cret", {"id_token": "x"}) as url:
        asked["sasl.oauthbearer.token.endpoint.url"] = url
        lacking = await refusal(asked | {"sasl.jaas.config": jaas.format("s3cret")})
    assert "answers without an access_token" in str(lacking)


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])
async def test_a_store_of_java_opens_the_way_of_client_certificates(
    secure: Secure, kind: str, tmp_path: Path
) -> None:
    trusted, own = java_stores(secure, kind, tmp_path)
    properties = {
        "bootstrap.servers": secure.address("MTLS"),
        "security.protocol": "SSL",
        # As files that were made for an older Java name it: the content counts.
        "ssl.truststore.type": "JKS",
        "ssl.truststore.location": str(trusted),
        "ssl.truststore.password": "changeit",
        "ssl.keystore.location": str(own),
        "ssl.keystore.password": "changeit",
    }
    async with connected(properties) as connection:
        assert connection.is_open
    with pytest.raises(
        ClusterError, match=r"cannot be opened: the password is wrong.*ssl\.keystore\.password"
    ):
        settings_of(properties | {"ssl.keystore.password": "guess"})
    own.write_bytes(own.read_bytes()[:-40])
    with pytest.raises(ClusterError, match=str(own)):
        settings_of(properties)


def java_stores(secure: Secure, kind: str, folder: Path) -> tuple[Path, Path]:
    """What ``keytool`` makes of the test's certificates: the store of those that are trusted, and the watcher's own."""
    client, ca = secure.certificates.watcher, secure.certificates.ca
    packed = folder / "watcher.p12"
    packed.write_bytes(
        serialize_key_and_certificates(
            b"watcher", client.key, client.certificate, [ca.certificate], BestAvailableEncryption(b"changeit")
        )
    )
    authority = folder / "ca.pem"
    authority.write_text(ca.pem)
    trusted, own = folder / "trusted.jks", folder / "own.jks"
    common = ["-noprompt", "-storepass", "changeit", "-deststorepass", "changeit", "-deststoretype", kind]
    for words in (
        [
            "-importcert",
            "-alias",
            "ca",
            "-file",
            authority,
            "-keystore",
            trusted,
            "-storetype",
            kind,
            *common[:3],
        ],
        [
            "-importkeystore",
            "-srckeystore",
            packed,
            "-srcstorepass",
            "changeit",
            "-destkeystore",
            own,
            common[0],
            *common[3:],
        ],
    ):
        subprocess.run(["keytool", *map(str, words)], check=True, capture_output=True)
    return trusted, own


async def test_a_login_that_ends_is_renewed_on_the_same_connection(secure: Secure, tmp_path: Path) -> None:
    """OAUTHBEARER's sessions end with the token, after which the broker would close the connection (KIP-368)."""
    async with connected(with_token(secure, tmp_path, token("watcher", lifetime_s=4))) as connection:
        channel = connection.channel
        for _ in range(6):
            (tmp_path / "token").write_text(token("watcher", lifetime_s=4))
            await asyncio.sleep(1)
            told = await connection.ask(LIST_GROUPS, {"statesFilter": [], "typesFilter": []})
            assert told["errorCode"] == 0
        assert connection.channel is channel


async def test_a_name_that_is_unknown_is_told() -> None:
    error = await refusal({"bootstrap.servers": "no-such-broker.invalid:9092"})
    assert str(error) == "The name no-such-broker.invalid is not known to this machine's name service."
    assert error.fault is Fault.NAME_UNKNOWN


async def test_a_port_where_nothing_listens_is_told() -> None:
    [port] = free_ports(1)
    error = await refusal({"bootstrap.servers": f"localhost:{port}"})
    assert str(error) == f"Nothing listens on localhost:{port}."


@contextlib.asynccontextmanager
async def server_that_says(said: bytes) -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if said:
            writer.write(said)
        # Whoever asked has gone, or the test has ended.
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_port_that_says_nothing_is_told() -> None:
    async with server_that_says(b"") as port:
        error = await refusal({"bootstrap.servers": f"127.0.0.1:{port}", "request.timeout.ms": "300"})
    assert str(error) == f"127.0.0.1:{port} accepts connections but does not answer."
    assert error.fault is Fault.SILENT


async def test_a_length_that_cannot_be_is_not_believed() -> None:
    async with server_that_says(b"\x40\x00\x00\x00rubbish") as port:
        error = await refusal({"bootstrap.servers": f"127.0.0.1:{port}"})
    assert str(error) == f"127.0.0.1:{port} answers with something that is not Kafka's."


async def test_an_answer_to_another_request_is_not_taken() -> None:
    async with server_that_says(b"\x00\x00\x00\x08\x00\x00\x00\x63\x00\x00\x00\x00") as port:
        error = await refusal({"bootstrap.servers": f"127.0.0.1:{port}"})
    assert error.fault is Fault.NOT_KAFKA


async def test_a_web_server_is_told() -> None:
    # What nginx and most others answer to bytes that are no HTTP.
    async with server_that_says(b"HTTP/1.1 400 Bad Request\r\n\r\n<html></html>") as port:
        error = await refusal({"bootstrap.servers": f"127.0.0.1:{port}"})
    assert str(error) == f"127.0.0.1:{port} is a web server, not Kafka: give a broker's port."


async def test_no_tls_on_a_port_of_tls_is_told(secure: Secure) -> None:
    error = await refusal({"bootstrap.servers": secure.address("TLS")})
    assert str(error).startswith(f"{secure.address('TLS')} speaks TLS: switch TLS on")


async def test_tls_on_a_port_without_it_is_told(secure: Secure) -> None:
    error = await refusal(secure.properties("tls") | {"bootstrap.servers": secure.address("PLAINTEXT")})
    assert str(error) == f"{secure.address('PLAINTEXT')} does not speak TLS: switch TLS off for this port."


async def test_a_controllers_port_is_told(secure: Secure) -> None:
    where = f"127.0.0.1:{secure.ports['CONTROLLER']}"
    error = await refusal({"bootstrap.servers": where})
    assert str(error) == f"{where} is a controller's port: give a broker's."


async def test_a_login_that_is_wanted_is_told(secure: Secure) -> None:
    error = await refusal({"bootstrap.servers": secure.address("SASLP")})
    assert (
        str(error) == f"{secure.address('SASLP')} wants a login first: use security.protocol=SASL_PLAINTEXT."
    )


async def test_a_login_that_is_not_taken_is_told(secure: Secure) -> None:
    where = {"bootstrap.servers": secure.address("PLAINTEXT")}
    error = await refusal(secure.properties("sasl-plaintext") | where)
    assert str(error) == f"{secure.address('PLAINTEXT')} takes no login: use security.protocol=PLAINTEXT."


async def test_a_mechanism_that_is_not_offered_is_told_with_those_that_are(secure: Secure) -> None:
    error = await refusal(secure.properties("sasl-plaintext") | {"sasl.mechanism": "SCRAM-SHA-256"})
    assert error.fault is Fault.MECHANISM
    assert str(error).startswith("The broker does not take SCRAM-SHA-256; it offers ")
    assert "SCRAM-SHA-512" in str(error)


async def test_a_ca_that_was_not_given_is_told(secure: Secure) -> None:
    properties = secure.properties("tls")
    del properties["ssl.truststore.certificates"]
    error = await refusal(properties)
    assert error.fault is Fault.CA_UNKNOWN
    assert "was signed by a CA that you did not give (CN=Test CA)" in str(error)


async def test_another_ca_than_the_brokers_is_told_with_the_one_that_is_wanted(secure: Secure) -> None:
    other = {"ssl.truststore.certificates": secure.certificates.other_ca.pem}
    error = await refusal(secure.properties("tls") | other)
    assert error.fault is Fault.CA_UNKNOWN
    assert "was signed by a CA that you did not give (CN=Test CA)" in str(error)


async def test_a_certificate_that_expired_is_told_with_the_day(secure: Secure) -> None:
    error = await refusal(secure.properties("tls") | {"bootstrap.servers": secure.address("EXPIRED")})
    assert str(error).startswith(
        f"The broker's certificate expired on {EXPIRED_ON:%Y-%m-%d}. It has to be renewed"
    )


async def test_a_certificate_for_another_host_is_told_with_its_names(secure: Secure) -> None:
    error = await refusal(secure.properties("tls") | {"bootstrap.servers": secure.address("WRONGHOST")})
    assert str(error).startswith("The broker's certificate is for other.example, not localhost.")


async def test_a_client_certificate_that_is_wanted_is_told(secure: Secure) -> None:
    error = await refusal(secure.properties("tls") | {"bootstrap.servers": secure.address("MTLS")})
    assert str(error).startswith(f"{secure.address('MTLS')} wants a client certificate")


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("stranger", "its CA is not one that the broker believes. Give one that was signed for this cluster"),
        ("expired_watcher", f"which expired on {EXPIRED_ON:%Y-%m-%d}: give a renewed one"),
        ("early_watcher", f"which is valid from {BEGINS_ON:%Y-%m-%d} on only: give one that is valid now"),
    ],
)
async def test_a_client_certificate_that_is_refused_is_told_with_what_its_dates_have_against_it(
    secure: Secure, which: str, says: str
) -> None:
    client = getattr(secure.certificates, which)
    error = await refusal(
        secure.properties("mtls")
        | {"ssl.keystore.certificate.chain": client.pem, "ssl.keystore.key": client.key_pem}
    )
    assert error.fault is Fault.CLIENT_CERTIFICATE_REFUSED
    assert says in str(error)


async def test_a_key_of_another_certificate_is_told(secure: Secure) -> None:
    error = await refusal(
        secure.properties("mtls") | {"ssl.keystore.key": secure.certificates.stranger.key_pem}
    )
    assert str(error) == "The client's key and certificate do not belong together."


@pytest.mark.parametrize("way", ["plain", "scram-256", "scram-512", "sasl-plaintext"])
@pytest.mark.parametrize("user", ["watcher", "whoever"])
async def test_a_wrong_user_or_password_is_told_without_it(secure: Secure, way: str, user: str) -> None:
    wrong = {"sasl.jaas.config": f'x required username="{user}" password="not-the-one";'}
    error = await refusal(secure.properties(way) | wrong)
    assert error.fault is Fault.LOGIN_REFUSED
    assert str(error).startswith(f"User or password is wrong: the broker refused {user}")
    assert "not-the-one" not in f"{error!r} {error} {error.seen}"


async def test_a_token_that_expired_is_told_with_its_end(secure: Secure, tmp_path: Path) -> None:
    error = await refusal(with_token(secure, tmp_path, token("watcher", lifetime_s=-600)))
    assert error.fault is Fault.TOKEN_EXPIRED


async def test_a_token_that_is_rubbish_is_refused(secure: Secure, tmp_path: Path) -> None:
    error = await refusal(with_token(secure, tmp_path, "rubbish"))
    assert str(error) == "The token was refused."
