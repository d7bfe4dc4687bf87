"""Which requests may pass the model endpoint."""

from email.message import Message
from http import HTTPStatus

import pytest

from akbench.sandbox.admission import refusal_of

TOKEN = "akbench-token"


def verdict(method="POST", target="/api/v1/responses", base_path="/api/v1", **headers):
    message = Message()
    defaults = {"Host": "127.0.0.1:8080", "Authorization": f"Bearer {TOKEN}"}
    for name, value in {
        **defaults,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }.items():
        for one in value if isinstance(value, tuple) else (value,):
            message[name] = one
    refusal = refusal_of(method, target, message, base_path=base_path, token=TOKEN)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1",
        "/api/v1/",
        "/api/v1/responses",
        "/api/v1/responses?stream=true&next=/../x",
        "/api/v1/models/a%20b",
        "/api/v1/files/..name",
    ],
)
def test_what_lies_below_the_base_path_passes(target):
    assert verdict(target=target) is None


def test_an_upstream_without_a_path_gets_every_path():
    assert verdict(target="/anything", base_path="") is None


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/api",
        "/api/v11/responses",
        "/other",
        "/api/v1/../admin",
        "/api/v1/./x",
        "/api/v1/%2e%2e/admin",
        "/api/v1/%252e%252e/admin",
        "/api/v1/..%2fadmin",
        "/api/v1%2f..%2fadmin",
        "/api%2Fv1/responses",
        "/api/v1/..\\admin",
        "/api/v1/..%5cadmin",
        "/api/v1/%00",
        "/api/v1/%0d%0aHost:x",
        "/api/v1/\x7f",
        "/api/v1/é",
        "/api/v1/..#",
    ],
)
def test_what_could_be_read_as_another_path_does_not(target):
    assert verdict(target=target) == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("target", ["http://127.0.0.1/api/v1/responses", "https://other/api/v1", "other:443", "*", ""])
def test_it_is_no_proxy(target):
    assert verdict(target=target) == HTTPStatus.FORBIDDEN


def test_it_makes_no_tunnels():
    assert verdict(method="CONNECT", target="/api/v1") == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("host", ["api.example.org", "127.0.0.1.example.org", "10.0.0.1:8080", "[", ""])
def test_it_answers_for_no_other_host(host):
    assert verdict(Host=host) == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8080", "localhost:8080", "[::1]:8080"])
def test_it_answers_for_the_loopback(host):
    assert verdict(Host=host) is None


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN} ",
        f"Bearer {TOKEN}x",
        "Bearer \xe9",
    ],
)
def test_without_the_token_nothing_passes(authorization):
    assert verdict(Authorization=authorization) == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize(
    "framing",
    [
        {"Content_Length": "5", "Transfer_Encoding": "chunked"},
        {"Transfer_Encoding": "gzip, chunked"},
        {"Content_Length": ("5", "5")},
        {"Content_Length": "-1"},
        {"Content_Length": "1_0"},
        {"Content_Length": "٣"},
        {"Content_Length": "five"},
    ],
)
def test_a_body_of_doubtful_length_does_not_pass(framing):
    assert verdict(**framing) == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize("framing", [{"Content_Length": "5"}, {"Transfer_Encoding": "chunked"}, {}])
def test_a_body_of_certain_length_passes(framing):
    assert verdict(**framing) is None
