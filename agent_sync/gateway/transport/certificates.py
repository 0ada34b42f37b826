"""Whom https believes: the system's certificate store, as git and gh do, and the bundles that the environment names."""

import ssl
from pathlib import Path

import truststore

from agent_sync.settings import environment

_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
HELPS = "add the authority's certificate to the system's store, or set SSL_CERT_FILE to a file with it"


def https_context() -> ssl.SSLContext:
    """Return whom a connection believes."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for bundle in _bundles():
        context.load_verify_locations(cafile=bundle)
    return context


def plain_https_context() -> ssl.SSLContext:
    """Return the same for TLS within TLS: there truststore leaves it to its caller to look at the certificate."""
    context = ssl.create_default_context()
    for bundle in _bundles():
        context.load_verify_locations(cafile=bundle)
    return context


def trust_system_store() -> None:
    """Let libraries that make their own connections believe the same; only for a server that is reached by https."""
    truststore.inject_into_ssl()


def requests_bundle() -> str | bool:
    """Return which bundle PyGithub's connections add to the system's store; True for its own."""
    return next(iter(_bundles()), True)


def certificate_trouble(error: BaseException, host: str) -> str:
    """Return what is wrong with a server's certificate, if an error is about that."""
    words = str(error)
    if "certificate verify failed" not in words.lower() and "CERTIFICATE_VERIFY_FAILED" not in words:
        return ""
    reason = words.partition("certificate verify failed:")[2].partition("(_ssl")[0].strip(" ')\"")
    return f"The certificate of {host} is not trusted{f': {reason}' if reason else ''}."


def _bundles() -> list[str]:
    """Return the files that are there; a variable that names none is not believed to be a reason to fail."""
    named = (environment().get(name, "") for name in _BUNDLES)
    return [file for file in dict.fromkeys(named) if file and Path(file).is_file()]
