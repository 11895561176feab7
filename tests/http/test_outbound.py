"""Addresses that users give must not lead to what only this machine can reach."""

import asyncio
import logging
import ssl
from ipaddress import ip_address

import pytest

from tests.http.certificates import make_certificate
from tests.http.serving import answering
from towpath import SchemaInvalid, Transient
from towpath.outbound.addresses import is_public
from towpath.outbound.client import Outbound, UnsafeUrl, check_url

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


def leading_to(*addresses):
    """A resolver that knows these names; it counts how often it is asked."""

    async def resolve(host, _port):
        resolve.asked.append(host)
        return list(addresses)

    resolve.asked = []
    return resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "0.0.0.0", "169.254.169.254", "100.100.100.200",
        "168.63.129.16", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.8", "198.18.0.1", "::1", "::", "fe80::1",
        "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1",
        "2002:7f00:1::", "::127.0.0.1", "2001:db8::1",
    ],
)  # fmt: skip
def test_an_address_of_this_machine_or_its_network_is_not_public(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_an_address_on_the_internet_is(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/", "file:///etc/passwd", "gopher://example.com", "javascript:alert(1)", "//example.com", "a.b",
        "http://", "https:///path", "http://user:pass@example.com/", "http://user@example.com/", "http://example.com:99999/",
        "http://exa mple.com/", "http://example.com\\@127.0.0.1/", "http://[::1/", "http://example.com/\r\nX: y", "http://a\x00b/",
        "http://example.com/" + "x" * 2000, "http://a..b/", "http://.example.com/", "http://xn--/",
        "http://" + "a" * 64 + ".com/", "http://" + "a.b" * 100 + ".com/", "http://-a.com/", "http://a%62.com/", "http://a.com../",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(url):
    with pytest.raises(UnsafeUrl) as caught:
        check_url(url)
    assert caught.value.path == "url"
    assert isinstance(caught.value, SchemaInvalid)


@pytest.mark.parametrize(
    "host", ["example.com.", "m_inio", "münchen.example", "xn--mnchen-3ya.example", "[2001:db8::1]", "a-b.c"]
)
def test_what_may_be_a_name_is_taken(host):
    assert check_url(f"https://{host}/x").hostname


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "0.0.0.0", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "127.0.0.1.", "LOCALHOST",
    ],
)  # fmt: skip
async def test_this_machine_is_not_called_however_it_is_written(host):
    """With a real server there, and the machine's own resolver."""
    called = asyncio.Event()

    def answer(_head):
        called.set()
        return OK

    async with answering(answer) as port:
        with pytest.raises((UnsafeUrl, Transient)):  # some systems cannot read some of these
            await Outbound().post(f"http://{host}:{port}/", b"", {})
    assert not called.is_set()


async def test_a_name_that_leads_to_a_private_address_is_refused():
    with pytest.raises(UnsafeUrl, match="private network"):
        await Outbound(resolve=leading_to("10.1.2.3")).post("https://hooks.example/x", b"", {})


async def test_one_private_address_among_public_ones_is_enough_to_refuse():
    with pytest.raises(UnsafeUrl):
        await Outbound(resolve=leading_to("8.8.8.8", "127.0.0.1")).check("https://hooks.example/x")


async def test_the_connection_goes_to_the_address_that_was_checked():
    """A name that answers differently the second time is not asked a second time."""
    heads = []

    def answer(head):
        heads.append(head)
        return OK

    async with answering(answer) as port:
        resolver = leading_to("127.0.0.1")
        client = Outbound(resolve=resolver, permitted=lambda address: str(address) == "127.0.0.1")
        reply = await client.post(f"http://hooks.example:{port}/deliver?x=1", b"{}", {"towpath-id": "7"})
    assert (reply.status, reply.body) == (200, b"hello")
    assert resolver.asked == ["hooks.example"]
    [head] = heads
    assert head.startswith(b"POST /deliver?x=1 HTTP/1.1\r\n")
    assert f"host: hooks.example:{port}".encode() in head.lower()
    assert b"towpath-id: 7" in head.lower()


async def test_over_tls_the_certificate_must_be_the_names_not_the_addresss(tmp_path):
    offered = make_certificate(tmp_path, "hooks.example")
    trust = ssl.create_default_context(cafile=str(offered))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(offered)
    async with answering(lambda _: OK, tls=tls) as port:
        client = Outbound(resolve=leading_to("127.0.0.1"), permitted=lambda _: True, trust=trust)
        assert (await client.post(f"https://hooks.example:{port}/", b"", {})).status == 200
        with pytest.raises(Transient, match=r"other\.example"):
            await client.post(f"https://other.example:{port}/", b"", {})


async def test_a_redirect_is_an_answer_and_is_not_followed():
    inside = asyncio.Event()

    def secret(_head):
        inside.set()
        return OK

    async with answering(secret, host="127.0.0.2") as target:
        redirect = f"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2:{target}/\r\ncontent-length: 0\r\n\r\n".encode()
        async with answering(lambda _: redirect) as port:
            client = Outbound(permitted=lambda address: str(address) == "127.0.0.1")
            assert (await client.post(f"http://127.0.0.1:{port}/", b"", {})).status == 302
    assert not inside.is_set()


async def test_private_addresses_can_be_allowed_where_everybody_is_trusted():
    async with answering(lambda _: OK) as port:
        assert (await Outbound(allow_private=True).post(f"http://localhost:{port}/", b"", {})).status == 200


async def test_only_the_beginning_of_an_answer_is_read():
    async with answering(lambda _: b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200_000) as port:
        reply = await Outbound(allow_private=True).send("GET", f"http://127.0.0.1:{port}/", most=1000)
    assert reply.body == b"x" * 1000


async def test_a_server_that_does_not_answer_is_given_up():
    never = asyncio.Event()

    async def hang(_reader, writer):
        await never.wait()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Transient, match="did not answer within"):
            await Outbound(allow_private=True, timeout=0.1).post(f"http://127.0.0.1:{port}/", b"", {})
        never.set()


async def test_who_asks_for_nothing_of_a_body_does_not_wait_for_it():
    never = asyncio.Event()

    async def drip(_reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        await writer.drain()
        await never.wait()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        outbound = Outbound(allow_private=True, timeout=60.0)
        async with asyncio.timeout(30):
            reply = await outbound.post(f"http://127.0.0.1:{port}/", b"", {}, most=0)
        assert (reply.status, reply.body) == (200, b"")
        never.set()


async def test_what_cannot_be_reached_may_be_tried_again():
    async with answering(lambda _: OK) as port:
        pass
    with pytest.raises(Transient, match="could not be reached"):
        await Outbound(allow_private=True).post(f"http://127.0.0.1:{port}/", b"", {})
    # Some networks say no to a name that is none, some say nothing.
    with pytest.raises(Transient, match=r"cannot be resolved|did not answer within"):
        await Outbound(allow_private=True).post("http://nowhere.invalid/", b"", {})


async def test_the_secret_in_an_address_is_not_logged(caplog):
    caplog.set_level(logging.DEBUG)
    async with answering(lambda _: OK) as port:
        await Outbound(allow_private=True).post(
            f"http://127.0.0.1:{port}/hook?key=hunter2", b"hunter2", {"x-key": "hunter2"}
        )
    visible = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert "hunter2" not in "".join(visible)
