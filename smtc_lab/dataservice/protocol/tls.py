"""Encryption between the processes of one job, made from the job's secret alone.

Every process derives the same key from the secret, and from the key the same self-signed
certificate, byte for byte. Both sides show it and trust nothing else, so whoever shows it holds
the secret; no file is distributed, and nobody in between can read or alter what is sent. It is
TLS 1.3 without session tickets: every connection has fresh keys (forward secrecy), and all of
them prove the secret anew.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import ssl

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_KEY_INFO = b"smtc_lab data service tls v1"
_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "smtc_lab data service")])

# Fixed, so that the bytes are the same everywhere, and wide, so that no clock can be wrong. The
# end is what RFC 5280, section 4.1.2.5 gives to certificates that do not expire.
_NOT_BEFORE = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_NOT_AFTER = dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC)


# A process belongs to one job and holds its secret anyway; a thousand connections would
# otherwise spend seconds on making the same certificate again.
@functools.lru_cache(maxsize=1)
def server_context(secret: bytes) -> ssl.SSLContext:
    """Return the context of the side that accepts connections; made once for a secret.

    Args:
        secret: The job's secret, 32 random bytes.
    """
    context = _context(ssl.PROTOCOL_TLS_SERVER, secret)
    context.num_tickets = 0
    return context


@functools.lru_cache(maxsize=1)
def client_context(secret: bytes) -> ssl.SSLContext:
    """Return the context of the side that connects; made once for a secret.

    In TLS 1.3 the client's handshake ends before the server has checked the client: a refusal
    is raised by the client's first read.

    Args:
        secret: The job's secret, 32 random bytes.
    """
    return _context(ssl.PROTOCOL_TLS_CLIENT, secret)


def _context(protocol: ssl._SSLMethod, secret: bytes) -> ssl.SSLContext:
    # Not ssl.create_default_context: it trusts the system's authorities, and writes the keys
    # of all connections to the file SSLKEYLOGFILE where that is set.
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate stands for the job, not for a host
    context.verify_mode = ssl.CERT_REQUIRED
    key = _private_key(secret)
    own = _certificate(key)
    _load(context, key, own)
    context.load_verify_locations(cadata=own.public_bytes(Encoding.DER))
    return context


def _load(context: ssl.SSLContext, key: Ed25519PrivateKey, own: x509.Certificate) -> None:
    # OpenSSL reads them from a file only; this one is memory and never on a disk.
    descriptor = os.memfd_create("smtc_lab tls", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.write(own.public_bytes(Encoding.PEM))
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")


def _private_key(secret: bytes) -> Ed25519PrivateKey:
    """Return the key that belongs to a secret."""
    seed = HKDF(algorithm=SHA256(), length=32, salt=None, info=_KEY_INFO).derive(secret)
    return Ed25519PrivateKey.from_private_bytes(seed)


def _certificate(key: Ed25519PrivateKey) -> x509.Certificate:
    """Return the certificate of a key: always the same bytes for the same key."""
    return (
        x509.CertificateBuilder(subject_name=_NAME, issuer_name=_NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        # It signs no other certificates: only itself is trusted.
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, algorithm=None)
    )
