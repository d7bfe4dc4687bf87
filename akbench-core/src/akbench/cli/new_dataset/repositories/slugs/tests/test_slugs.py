from slugs import slug


def test_words_are_joined_by_hyphens():
    assert slug("one two  three") == "one-two-three"


def test_letters_become_small():
    assert slug("One") == "one"
