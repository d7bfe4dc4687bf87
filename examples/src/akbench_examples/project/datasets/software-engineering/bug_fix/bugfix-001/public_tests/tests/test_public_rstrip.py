from boltons.iterutils import rstrip


def test_a_run_of_two_inside_the_data_is_kept():
    assert rstrip([1, 0, 0, 2, 0, 0], 0) == [1, 0, 0, 2]
