import random

import pytest

from boltons.setutils import IndexedSet


def without(size, *removed):
    items = IndexedSet(range(size))
    for value in removed:
        items.remove(value)
    return items


def positions(items):
    return [items[index] for index in range(len(items))]


@pytest.mark.parametrize("removed", [0, 1, 5, 18])
def test_each_position_agrees_with_the_list_after_one_removal(removed):
    items = without(20, removed)
    assert positions(items) == list(items)


@pytest.mark.parametrize("removed", [(5, 6), (6, 5), (5, 7, 6), (10, 12, 11, 13)])
def test_a_gap_of_several_slots_is_stepped_over(removed):
    items = without(60, *removed)
    assert positions(items) == list(items)


def test_several_gaps_are_stepped_over():
    items = without(100, 3, 4, 20, 21, 22, 60, 0)
    assert positions(items) == list(items)


def test_gaps_that_touch_after_out_of_order_removals_are_stepped_over():
    items = without(100, 30, 32, 31, 29, 33)
    assert positions(items) == list(items)


def test_negative_positions_count_from_the_end():
    items = without(50, 10, 11, 40)
    assert [items[-index] for index in range(1, len(items) + 1)] == list(reversed(items))


def test_popping_from_the_front_works_as_a_queue():
    items = IndexedSet(range(64))
    assert [items.pop(0) for _ in range(64)] == list(range(64))
    assert not items


def test_pop_at_a_gap_takes_the_element_that_is_there():
    items = without(40, 7, 8)
    assert items.pop(7) == 9
    assert items.pop(7) == 10
    assert list(items) == [*range(7), *range(11, 40)]


def test_popped_elements_are_gone_from_the_set_as_well():
    items = without(40, 7)
    assert items.pop(7) == 8
    assert 8 not in items
    assert len(items) == 38


def test_index_and_look_up_are_each_others_inverse():
    items = without(80, 5, 6, 30)
    assert [items[items.index(value)] for value in items] == list(items)


def test_random_removals_and_insertions_keep_up_with_a_list():
    chance = random.Random(20260105)
    items, model = IndexedSet(range(400)), list(range(400))
    for step in range(300):
        index = chance.randrange(len(model))
        assert items[index] == model[index]
        assert items.pop(index) == model.pop(index)
        if step % 5 == 0:
            items.add(1000 + step)
            model.append(1000 + step)
    assert positions(items) == model
