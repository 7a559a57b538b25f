"""Which addresses a server may send us to for the pictures that it made."""

from __future__ import annotations

import ipaddress
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def may_send_to(server: str, host: str) -> bool:
    """Whether a picture may be fetched from `host` because `server` says so, both host names.

    A service on the internet must not make this machine ask others of the network it stands in,
    nor itself; a server of one's own, which stands there too, may. What has no address here is
    left to the proxy that must know it.
    """
    if host.lower() == server.lower():
        return True
    there, own = addresses_of(host), addresses_of(server)
    if any(address.is_link_local for address in there):  # where clouds tell machines their secrets
        return any(address.is_link_local for address in own)
    return all(map(is_public, there)) or not all(map(is_public, own))


def is_public(address: Address) -> bool:
    """Whether an address is of the internet; an IPv4 address in IPv6 clothes counts as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_global


def addresses_of(host: str) -> list[Address]:
    """The addresses of a host; none where it has none."""
    try:
        entries = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
