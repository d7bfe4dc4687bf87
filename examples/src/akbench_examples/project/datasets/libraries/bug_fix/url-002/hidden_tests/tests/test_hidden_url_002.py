import pytest

from boltons.urlutils import URL, resolve_path_parts

HERE = "http://example.com:8080/docs/page?q=1"


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("other", "http://example.com:8080/docs/other"),
        ("/root", "http://example.com:8080/root"),
        ("#part", "http://example.com:8080/docs/page?q=1#part"),
        ("../../../top", "http://example.com:8080/top"),
    ],
)
def test_a_link_leads_where_the_rfc_says(link, expected):
    assert URL(HERE).navigate(link).to_text() == expected


def test_the_query_is_kept_without_a_port_too():
    assert URL("http://example.com/a?x=1").navigate("#p").to_text() == "http://example.com/a?x=1#p"


def test_the_root_cannot_be_left():
    assert list(resolve_path_parts(["", "..", "..", "a"])) == ["", "a"]


def test_normalising_keeps_the_root():
    url = URL("http://example.com/../../a")
    url.normalize()
    assert url.path == "/a"
