from greeting import greet


def test_nobody_is_greeted_without_a_name():
    assert greet([]) == "Hello!"


def test_one_person_is_greeted_by_name():
    assert greet(["Ada"]) == "Hello, Ada!"
