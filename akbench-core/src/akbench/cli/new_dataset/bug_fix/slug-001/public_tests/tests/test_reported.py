"""Laid over the repository that the agent gets: it sees this test."""

from slugs import slug


def test_the_reported_title_has_the_slug_that_was_asked_for():
    assert slug("Hello, world!") == "hello-world"
