"""Whoever holds the job's secret gets an encrypted connection; nobody else gets anything."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
import socket
import ssl
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.protocol import tls
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET = secrets.token_bytes(32)
OTHER_SECRET = secrets.token_bytes(32)
SERVER_SAYS = b"what only the client may read"
CLIENT_SAYS = b"what only the server may read"

Answer = bytes | ssl.SSLError


@pytest.fixture(autouse=True)
def _no_changed_contexts() -> Iterator[None]:
    yield
    tls.server_context.cache_clear()
    tls.client_context.cache_clear()


def meet(
    server: ssl.SSLContext,
    client: ssl.SSLContext,
    carry: Callable[[bytes], bytes] = lambda data: data,
) -> tuple[Answer, Answer]:
    """Let two sides talk; return what the server and the client got to read, or why not."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    from_server, from_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        (client.wrap_bio(to_client, from_client), CLIENT_SAYS),
        (server.wrap_bio(to_server, from_server, server_side=True), SERVER_SAYS),
    ]
    outcomes: list[Answer] = [b"", b""]
    for _ in range(6):  # more than TLS 1.3 has flights
        for number, (side, says) in enumerate(sides):
            if outcomes[number]:
                continue
            try:
                side.do_handshake()
                side.write(says)
                outcomes[number] = side.read(100)
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                outcomes[number] = error
            for sent, arrives in ((from_client, to_server), (from_server, to_client)):
                if sent.pending:
                    arrives.write(carry(sent.read()))
    return outcomes[1], outcomes[0]


def careless(context: ssl.SSLContext) -> ssl.SSLContext:
    """Return the context as one that takes whatever certificate its peer shows."""
    context.verify_mode = ssl.CERT_NONE
    return context


def with_self_made_certificate(protocol: int, folder: Path) -> ssl.SSLContext:
    """Return the context of a stranger, whose certificate says the same as ours."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = (
        x509.CertificateBuilder(subject_name=tls._NAME, issuer_name=tls._NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(9999, 1, 1, tzinfo=dt.UTC))
        .sign(key, SHA256())
    )
    file = folder / "stranger.pem"
    file.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + own.public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(protocol)
    context.check_hostname = False
    context.load_cert_chain(file)
    return careless(context)


@pytest.fixture(params=["other secret", "self-made certificate"])
def strangers(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server and a client that take everything, but prove nothing."""
    if request.param == "other secret":
        return (
            careless(tls.server_context(OTHER_SECRET)),
            careless(tls.client_context(OTHER_SECRET)),
        )
    return (
        with_self_made_certificate(ssl.PROTOCOL_TLS_SERVER, tmp_path),
        with_self_made_certificate(ssl.PROTOCOL_TLS_CLIENT, tmp_path),
    )


def test_holders_of_the_secret_read_each_other() -> None:
    outcomes = meet(tls.server_context(SECRET), tls.client_context(SECRET))

    assert outcomes == (CLIENT_SAYS, SERVER_SAYS)


def test_a_megabyte_comes_through_a_real_socket() -> None:
    data = secrets.token_bytes(2**20)
    ours, theirs = socket.socketpair()

    def send() -> None:
        with tls.server_context(SECRET).wrap_socket(theirs, server_side=True) as server:
            server.sendall(data)

    sender = threading.Thread(target=send)
    sender.start()
    with tls.client_context(SECRET).wrap_socket(ours) as client, client.makefile("rb") as file:
        came = file.read(len(data))
        version = client.version()
    sender.join()

    assert came == data
    assert version == "TLSv1.3"


def test_batches_and_what_they_are_made_of_come_encrypted(
    serve: Callable[..., Any], secret: bytes
) -> None:
    dataset: Any = list(torch.rand(40, 2**14))
    server = serve(tls=True)
    loader = DataLoader(
        dataset,
        4,
        num_workers=1,
        num_local_workers=0,
        servers=[server.address],
        secret=secret,
        tls=True,
    )

    for _ in range(2):
        assert torch.equal(torch.cat(list(loader)), torch.stack(dataset))
    loader.close()
    assert not server.events.poll(0)


def test_a_client_that_does_not_encrypt_gets_nothing(
    serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    dataset: Any = [1, 2, 3]
    server = serve(tls=True)
    loader = DataLoader(
        dataset, servers=[server.address], secret=secret, tls=False, timeout=0.2
    )
    batches = iter(loader)
    eventually(lambda: "not connected yet" not in loader._client._parts.remote.describe())  # type: ignore[union-attr]

    with pytest.raises(DataServiceError, match="could be reached"):
        next(batches)
    loader.close()


def test_strict_rules_for_certificates_are_kept() -> None:
    server, client = tls.server_context(SECRET), tls.client_context(SECRET)
    for context in (server, client):
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # newer Pythons' default

    assert meet(server, client) == (CLIENT_SAYS, SERVER_SAYS)


def test_the_client_refuses_a_server_without_the_secret(
    strangers: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    read_by_server, why = meet(strangers[0], tls.client_context(SECRET))

    assert isinstance(why, ssl.SSLCertVerificationError)
    assert isinstance(read_by_server, ssl.SSLError)


def test_the_server_refuses_a_client_without_the_secret(
    strangers: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    why, read_by_client = meet(tls.server_context(SECRET), strangers[1])

    assert isinstance(why, ssl.SSLCertVerificationError)
    assert isinstance(read_by_client, ssl.SSLError)


def test_a_relay_that_ends_the_encryption_on_both_sides_reads_nothing(
    strangers: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    relay_server, relay_client = strangers

    from_client, _ = meet(relay_server, tls.client_context(SECRET))
    _, from_server = meet(tls.server_context(SECRET), relay_client)

    assert isinstance(from_client, ssl.SSLError)
    assert isinstance(from_server, ssl.SSLError)


def test_a_client_without_a_certificate_is_refused() -> None:
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    nobody.check_hostname = False

    why, read_by_client = meet(tls.server_context(SECRET), careless(nobody))

    assert "PEER_DID_NOT_RETURN_A_CERTIFICATE" in str(why)
    assert isinstance(read_by_client, ssl.SSLError)


@pytest.mark.parametrize("side", ["server", "client"])
def test_an_older_version_of_tls_is_refused(side: str) -> None:
    contexts = {"server": tls.server_context(SECRET), "client": tls.client_context(SECRET)}
    contexts[side].minimum_version = ssl.TLSVersion.TLSv1_2
    contexts[side].maximum_version = ssl.TLSVersion.TLSv1_2

    outcomes = meet(**contexts)

    assert all(isinstance(outcome, ssl.SSLError) for outcome in outcomes)
    assert any("VERSION" in str(outcome).upper() for outcome in outcomes)


def test_what_passes_on_the_wire_shows_neither_words_nor_certificate() -> None:
    carried: list[bytes] = []

    def listen(data: bytes) -> bytes:
        carried.append(data)
        return data

    outcomes = meet(tls.server_context(SECRET), tls.client_context(SECRET), listen)

    assert outcomes == (CLIENT_SAYS, SERVER_SAYS)
    for readable in (CLIENT_SAYS, SERVER_SAYS, b"smtc_lab", SECRET):
        assert readable not in b"".join(carried)


@pytest.mark.parametrize("flight", range(4))
def test_a_relay_that_changes_one_bit_is_noticed(flight: int) -> None:
    carried: list[bytes] = []

    def change(data: bytes) -> bytes:
        carried.append(data)
        return data if len(carried) != flight + 1 else data[:-1] + bytes([data[-1] ^ 1])

    outcomes = meet(tls.server_context(SECRET), tls.client_context(SECRET), change)

    assert any(isinstance(outcome, ssl.SSLError) for outcome in outcomes)


def test_a_connection_cannot_be_resumed_without_proof() -> None:
    ours, theirs = socket.socketpair()

    def answer() -> None:
        with tls.server_context(SECRET).wrap_socket(theirs, server_side=True) as server:
            server.sendall(SERVER_SAYS)
            server.recv(1)

    peer = threading.Thread(target=answer)
    peer.start()
    with tls.client_context(SECRET).wrap_socket(ours) as client:
        client.recv(100)
        session = client.session
    peer.join()

    assert session is not None
    assert not session.has_ticket


def test_contexts_are_made_once_for_a_secret() -> None:
    assert tls.server_context(SECRET) is tls.server_context(SECRET)
    assert tls.client_context(SECRET) is tls.client_context(SECRET)
    assert tls.client_context(OTHER_SECRET) is not tls.client_context(SECRET)


IN_ANOTHER_PROCESS = """
import hashlib, os, ssl, sys
from cryptography.hazmat.primitives.serialization import Encoding
from smtc_lab.dataservice.protocol import tls

def refuse(event, arguments):
    writes = event == "open" and isinstance(arguments[0], str) and arguments[2] & os.O_ACCMODE
    if writes or event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        raise RuntimeError(f"{event}{arguments}")

sys.addaudithook(refuse)
secret, descriptors = sys.stdin.buffer.read(), os.listdir("/proc/self/fd")
server, client = tls.server_context(secret), tls.client_context(secret)
assert os.listdir("/proc/self/fd") == descriptors
to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
one = client.wrap_bio(to_client, to_server)
other = server.wrap_bio(to_server, to_client, server_side=True)
for side in (one, other, one, other):
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        pass
assert one.version() == other.version() == "TLSv1.3"
print(tls._certificate(tls._private_key(secret)).public_bytes(Encoding.DER).hex())
"""


def test_every_process_makes_the_same_certificate_alone_and_leaves_no_file(
    tmp_path: Path,
) -> None:
    environment = {
        "TMPDIR": str(tmp_path),
        "SSLKEYLOGFILE": str(tmp_path / "keys"),
        "PYTHONPATH": ":".join(sys.path),
    }

    said = subprocess.run(
        [sys.executable, "-B", "-c", IN_ANOTHER_PROCESS],
        input=SECRET,
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )

    assert said.returncode == 0, said.stderr
    assert bytes.fromhex(said.stdout.decode()) == certificate_of(SECRET)
    assert list(tmp_path.iterdir()) == []


def certificate_of(secret: bytes) -> bytes:
    return tls._certificate(tls._private_key(secret)).public_bytes(Encoding.DER)


def test_instances_with_other_versions_of_the_libraries_make_the_same_certificate() -> None:
    digest = hashlib.sha256(certificate_of(bytes(range(32)))).hexdigest()

    assert digest == "3058378a2c4f1bd2f57a1bc947e94692438f7970a7510657d0d145fd1f065e4e"


def test_nothing_shows_the_secret_or_the_key() -> None:
    key = tls._private_key(SECRET)
    server, client = tls.server_context(SECRET), tls.client_context(SECRET)
    _, why = meet(careless(tls.server_context(OTHER_SECRET)), client)

    texts = [f"{value!r} {value!s}" for value in (key, server, client, why)]

    for hidden in (SECRET, key.private_bytes_raw()):
        assert hidden not in certificate_of(SECRET)
        for text in texts:
            assert hidden.hex() not in text
            assert repr(hidden)[2:-1] not in text
