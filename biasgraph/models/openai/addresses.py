"""Which addresses a server may send us to for the pictures that it made."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


SECRETS = tuple(
    map(
        ipaddress.ip_network,
        (
            *("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/32"),
            *("100.100.100.200/32", "168.63.129.16/32"),
        ),
    )
)
"""Where clouds tell their machines secrets; the last is of the internet by its number."""
TRANSLATED = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""IPv6 addresses whose last 32 bits are an IPv4 address: NAT64's (RFC 6052, 8215), and old ones."""


def may_send_to(server: str, host: str) -> bool:
    """Whether a picture may be fetched from `host` because `server` says so, both host names."""
    return host.lower() == server.lower() or may_reach(addresses_of(server), addresses_of(host))


def may_reach(server: Sequence[Address], host: Sequence[Address]) -> bool:
    """Whether a server may send us to a host for a picture, by the addresses of both.

    A service on the internet must not make this machine ask others of the network it stands in,
    nor itself; a server of one's own, which stands there too, may. What has no address here is
    left to the proxy that must know it.
    """
    if any(map(tells_secrets, host)):
        return any(map(tells_secrets, server))
    return all(map(is_public, host)) or not all(map(is_public, server))


def is_public(address: Address) -> bool:
    """Whether an address is of the internet; an IPv4 address in IPv6 clothes counts as IPv4."""
    return all(form.is_global for form in forms_of(address))


def tells_secrets(address: Address) -> bool:
    """Whether an address is one of `SECRETS`, in whatever clothes."""
    return any(form in network for form in forms_of(address) for network in SECRETS)


def forms_of(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address stands for; where there are none, itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    forms = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in TRANSLATED) and int(address) > 1:
        forms.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [form for form in forms if form is not None] or [address]


def addresses_of(host: str) -> list[Address]:
    """The addresses of a host; none where it has none."""
    try:
        entries = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
