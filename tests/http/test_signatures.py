"""Signed messages: what a receiver may believe."""

import pytest

from towpath.outbound.signatures import ID, SIGNATURE, TIMESTAMP, InvalidSignature, sign, verify_signature

SECRET, BODY, NOW = "whsec_secret", b'{"type":"ping"}', 1_800_000_000


def headers(**changes: str) -> dict[str, str]:
    return {ID: "evt_1", TIMESTAMP: str(NOW), SIGNATURE: sign(SECRET, "evt_1", NOW, BODY)} | changes


def test_a_message_that_was_signed_is_believed_and_its_id_is_told():
    assert verify_signature(SECRET, headers(), BODY, now=NOW) == "evt_1"


def test_the_case_of_header_names_does_not_matter():
    assert verify_signature(SECRET, {name.lower(): value for name, value in headers().items()}, BODY, now=NOW)


def test_the_signature_is_what_the_documentation_says():
    """By hand, with nothing of ours."""
    import hashlib
    import hmac

    by_hand = hmac.new(SECRET.encode(), b"evt_1.1800000000." + BODY, hashlib.sha256).hexdigest()
    assert headers()[SIGNATURE] == f"v1={by_hand}"


@pytest.mark.parametrize(
    ("secret", "changes", "body", "now"),
    [
        ("whsec_other", {}, BODY, NOW),
        (SECRET, {}, BODY + b" ", NOW),
        (SECRET, {ID: "evt_2"}, BODY, NOW),
        (SECRET, {TIMESTAMP: str(NOW + 1)}, BODY, NOW),
        (SECRET, {SIGNATURE: "v1="}, BODY, NOW),
        (SECRET, {SIGNATURE: "v0=" + "0" * 64}, BODY, NOW),
        (SECRET, {SIGNATURE: "ünsinn"}, BODY, NOW),
        (SECRET, {SIGNATURE: ""}, BODY, NOW),
        (SECRET, {}, BODY, NOW + 301),
        (SECRET, {}, BODY, NOW - 301),
    ],
)
def test_anything_else_is_not(secret, changes, body, now):
    with pytest.raises(InvalidSignature):
        verify_signature(secret, headers(**changes), body, now=now)


def test_a_timestamp_that_is_none_is_refused_even_when_signed():
    for odd in ("soon", "-1", "1e9", "١٢", "9" * 20):
        from towpath.outbound.signatures import _digest

        signed = headers(**{TIMESTAMP: odd, SIGNATURE: f"v1={_digest(SECRET, 'evt_1', odd, BODY)}"})
        with pytest.raises(InvalidSignature):
            verify_signature(SECRET, signed, BODY, now=NOW)


def test_one_of_several_signatures_is_enough():
    """While a receiver changes its secret, two may be sent."""
    both = f"v1={'0' * 64}, {headers()[SIGNATURE]}"
    assert verify_signature(SECRET, headers(**{SIGNATURE: both}), BODY, now=NOW) == "evt_1"
