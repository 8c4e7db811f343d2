"""A broker with a listener of every kind, an authorizer that allows nothing by default, and a user that only reads."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.broker.node import Node

from .certificates import Certificates

LISTENERS = ("PLAINTEXT", "TLS", "SASL", "SASLP", "EXPIRED", "WRONGHOST", "MTLS", "UNREACHABLE")
USERS = ("admin", "watcher", "nobody", "guest", "visitor")
"""``guest`` and ``visitor`` are given rights and have them taken away again; ``nobody`` has what a test of refusals gives it, and no more."""

SECURITY = "org.apache.kafka.common.security"

SESSION_LIFETIME_MS = 3_600_000

Rights = Iterable[tuple[ResourceType, str, AclOperation]]

READ_ONLY: Rights = (
    (ResourceType.GROUP, "*", AclOperation.DESCRIBE),
    (ResourceType.TOPIC, "*", AclOperation.DESCRIBE),
    (ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE),
    (ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE_CONFIGS),
    (ResourceType.GROUP, "*", AclOperation.DESCRIBE_CONFIGS),
    (ResourceType.TOPIC, "__consumer_offsets", AclOperation.READ),
)
"""What a watcher is advised to be given."""


def password(user: str) -> str:
    return f"{user}-secret"


def token(user: str, *, lifetime_s: float = 3600) -> str:
    """An unsecured JSON web token, as a test's broker takes it."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    now = time.time()
    begins = now - 3600 if lifetime_s < 0 else now
    return f"{part({'alg': 'none'})}.{part({'sub': user, 'iat': int(begins), 'exp': int(now + lifetime_s)})}."


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@dataclass(slots=True)
class Secure:
    """The broker, its ports by listener, and its certificates."""

    node: Node
    ports: dict[str, int]
    certificates: Certificates

    def address(self, listener: str) -> str:
        return f"localhost:{self.ports[listener]}"

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address("PLAINTEXT")})

    def grant(self, user: str, rights: Rights) -> None:
        asked = [self._acl(user, *right) for right in rights]
        admin = self.admin()
        for done in admin.create_acls(asked).values():
            done.result(30)

    def revoke(self, user: str, rights: Rights) -> None:
        filters = [
            AclBindingFilter(
                kind,
                name,
                ResourcePatternType.LITERAL,
                f"User:{user}",
                "*",
                operation,
                AclPermissionType.ALLOW,
            )
            for kind, name, operation in rights
        ]
        admin = self.admin()
        for done in admin.delete_acls(filters).values():
            done.result(30)

    def _acl(self, user: str, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
        return AclBinding(
            kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW
        )

    def properties(self, way: str, user: str = "watcher") -> dict[str, str]:
        """The client's properties of a way: plaintext, tls, mtls, plain, scram-256, scram-512, oauth, sasl-plaintext."""
        ca = {"ssl.truststore.certificates": self.certificates.ca.pem}
        client = {
            "ssl.keystore.certificate.chain": self.certificates.watcher.pem,
            "ssl.keystore.key": self.certificates.watcher.key_pem,
        }

        def login(mechanism: str) -> dict[str, str]:
            return {
                "sasl.mechanism": mechanism,
                "sasl.jaas.config": f'org.X required username="{user}" password="{password(user)}";',
            }

        secure = {"bootstrap.servers": self.address("SASL"), "security.protocol": "SASL_SSL", **ca}
        ways: dict[str, dict[str, str]] = {
            "plaintext": {"bootstrap.servers": self.address("PLAINTEXT")},
            "tls": {"bootstrap.servers": self.address("TLS"), "security.protocol": "SSL", **ca},
            "mtls": {
                "bootstrap.servers": self.address("MTLS"),
                "security.protocol": "SSL",
                **ca,
                **client,
            },
            "plain": secure | login("PLAIN"),
            "scram-256": secure | login("SCRAM-SHA-256"),
            "scram-512": secure | login("SCRAM-SHA-512"),
            "oauth": secure | {"sasl.mechanism": "OAUTHBEARER"},
            "sasl-plaintext": {
                "bootstrap.servers": self.address("SASLP"),
                "security.protocol": "SASL_PLAINTEXT",
                **login("SCRAM-SHA-512"),
            },
        }
        return ways[way]


@contextlib.contextmanager
def secure_broker(folder: Path) -> Iterator[Secure]:
    certificates = Certificates.make()
    files = certificates.keystores(folder / "certificates")
    ports = dict(zip((*LISTENERS, "CONTROLLER"), free_ports(len(LISTENERS) + 1), strict=True))
    node = Node(folder, _settings(ports, files))
    node.port, node._controller_port = ports["PLAINTEXT"], ports["CONTROLLER"]
    node.start(same_ports=True)
    secure = Secure(node, ports, certificates)
    try:
        _add_scram_users(secure)
        secure.grant("watcher", READ_ONLY)
        yield secure
    finally:
        node.stop()


def _add_scram_users(secure: Secure) -> None:
    # A client that nobody holds any more ends its requests.
    admin = secure.admin()
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        wanted = [
            UserScramCredentialUpsertion(user, ScramCredentialInfo(mechanism, 4096), password(user).encode())
            for user in USERS
        ]
        for done in admin.alter_user_scram_credentials(wanted).values():
            done.result(30)


def _settings(ports: dict[str, int], files: dict[str, Path]) -> dict[str, object]:
    def each(host: str) -> str:
        return ",".join(f"{name}://{host}:{ports[name]}" for name in LISTENERS)

    plain = f"{SECURITY}.plain.PlainLoginModule required " + " ".join(
        f'user_{user}="{password(user)}"' for user in USERS
    )
    scram = f"{SECURITY}.scram.ScramLoginModule required;"
    advertised = each("localhost").replace(
        f"localhost:{ports['UNREACHABLE']}", "broker-1.inside.example.invalid:9092"
    )
    return {
        "listeners": f"{each('127.0.0.1')},CONTROLLER://127.0.0.1:{ports['CONTROLLER']}",
        "advertised.listeners": f"{advertised},CONTROLLER://127.0.0.1:{ports['CONTROLLER']}",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,SASL:SASL_SSL,"
        "SASLP:SASL_PLAINTEXT,EXPIRED:SSL,WRONGHOST:SSL,MTLS:SSL,UNREACHABLE:PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": files["server"],
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": files["ca"],
        "listener.name.mtls.ssl.client.auth": "required",
        "listener.name.expired.ssl.keystore.type": "PEM",
        "listener.name.expired.ssl.keystore.location": files["expired"],
        "listener.name.wronghost.ssl.keystore.type": "PEM",
        "listener.name.wronghost.ssl.keystore.location": files["other"],
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN",
        "listener.name.sasl.sasl.enabled.mechanisms": "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN,OAUTHBEARER",
        "listener.name.saslp.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
        "listener.name.sasl.scram-sha-512.sasl.jaas.config": scram,
        "listener.name.sasl.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.saslp.scram-sha-512.sasl.jaas.config": scram,
        "listener.name.sasl.plain.sasl.jaas.config": f"{plain};",
        "listener.name.saslp.plain.sasl.jaas.config": f"{plain};",
        "listener.name.sasl.oauthbearer.sasl.jaas.config": f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required "
        'unsecuredLoginStringClaim_sub="broker";',
        "listener.name.sasl.oauthbearer.sasl.server.callback.handler.class": f"{SECURITY}.oauthbearer.internals."
        "unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        # Who comes over the inner listener may do all: brokers, the controller, and the test's own members.
        "super.users": "User:ANONYMOUS;User:admin",
        "share.coordinator.state.topic.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.share.min.session.timeout.ms": 1000,
        "group.share.session.timeout.ms": 6000,
        "group.share.min.heartbeat.interval.ms": 200,
        "group.share.heartbeat.interval.ms": 1000,
        "group.streams.min.session.timeout.ms": 1000,
        "group.streams.session.timeout.ms": 6000,
        "group.streams.min.heartbeat.interval.ms": 200,
        "group.streams.heartbeat.interval.ms": 1000,
        "group.streams.initial.rebalance.delay.ms": 0,
    }
