"""Mutual TLS in front of a server of this machine that has none, and certificates for it."""

import asyncio
import ssl
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_LOOPBACK = "127.0.0.1"
_CHUNK = 1 << 16


def certificates(folder: Path) -> None:
    """An authority, and one certificate each for server and client: NAME.pem and NAME.key."""
    authority = ec.generate_private_key(ec.SECP256R1())
    _write(
        folder, "authority", authority, _certificate("authority", authority, "authority", authority)
    )
    for name in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        _write(folder, name, key, _certificate(name, key, "authority", authority))


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    subject, issued_by = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (name, issuer)
    )
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address(_LOOPBACK))])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issued_by)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1))
    builder = builder.not_valid_after(now + timedelta(hours=1))
    is_authority = x509.BasicConstraints(ca=name == issuer, path_length=None)
    builder = builder.add_extension(is_authority, critical=True)
    return builder.add_extension(addresses, critical=False).sign(issuer_key, hashes.SHA256())


def _write(
    folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
) -> None:
    pem = serialization.Encoding.PEM
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / f"{name}.key").write_bytes(key.private_bytes(pem, form, secret))
    (folder / f"{name}.pem").write_bytes(certificate.public_bytes(pem))


def relay_words(folder: Path, port: int, target: int) -> list[str]:
    """The command line of a relay: a port for clients of our authority, passed on to another."""
    return [sys.executable, __file__, str(folder), str(port), str(target)]


async def _serve(folder: Path, port: int, target: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.load_verify_locations(folder / "authority.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])

    async def relay(near: asyncio.StreamReader, reply: asyncio.StreamWriter) -> None:
        far, request = await asyncio.open_connection(_LOOPBACK, target)
        await asyncio.gather(_copy(near, request), _copy(far, reply))

    server = await asyncio.start_server(relay, _LOOPBACK, port, ssl=context)
    await server.serve_forever()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
    target.close()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
