"""Which addresses are nobody's business: this machine, its network, and what clouds put there for machines to ask."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

_NAT64 = ip_network("64:ff9b::/96")
_IPV4_COMPATIBLE = ip_network("::/96")
# Set apart by now, which older Pythons do not know.
_APART = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "3fff::/20", "5f00::/16")))
# Public by their number, but only machines of the cloud itself get an answer: Azure's wire server.
_METADATA = frozenset({ip_address("168.63.129.16"), ip_address("fd00:ec2::254")})
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"})


def is_loopback(host: str) -> bool:
    """For names and addresses, with or without brackets."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_public(address: Address) -> bool:
    """Whether it is an address on the open internet. An IPv4 address in IPv6's clothes is judged as what it is."""
    if inner := _within(address):
        return is_public(inner)
    apart = address.is_multicast or address.is_reserved or getattr(address, "is_site_local", False)
    known = address in _METADATA or any(address in network for network in _APART)
    return address.is_global and not apart and not known


def _within(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if address in _NAT64 or (address in _IPV4_COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def may_have_a_service(host: str) -> bool:
    """Whether an administrator may have a service of the installation's own there: anywhere but at addresses that only this
    machine's cloud answers, and those that are nobody's. Names are not looked up."""
    try:
        address: Address = ip_address(host.strip("[]"))
    except ValueError:
        return host.rstrip(".").lower() not in _METADATA_NAMES
    address = _within(address) or address
    return not (address.is_link_local or address.is_multicast or address.is_unspecified or address in _METADATA)
