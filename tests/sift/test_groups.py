"""Numbers of groups, and their levels."""

import numpy as np

from gradsift.sift.groups import JOINT, NEVER, PRODUCT, GroupIndex, Levels


def test_every_number_says_its_kind_and_place():
    index = GroupIndex(np.array([2, 5, 9, 11]), n_joint=2)
    kinds = [(index.part(g), index.place(g)) for g in range(17)]
    univariate = [(part, j) for part in range(3) for j in range(4)]
    assert kinds == [*univariate, (JOINT, 0), (JOINT, 1), *((PRODUCT, j) for j in range(3))]
    assert [index.univariate(part, j) for part, j in univariate] == list(range(12))
    assert [list(range(16))[index.of_part(part)] for part in (0, 2)] == [
        [0, 1, 2, 3],
        [8, 9, 10, 11],
    ]
    assert index.univariate_of((1, 7, 13, 15)) == (1, 7)
    assert index.products_of((1, 7, 13, 15)) == (15,)
    assert [index.place_of(column) for column in (2, 3, 11, 12)] == [0, None, 3, None]


def test_a_support_in_the_numbers_of_another_pool():
    old = GroupIndex(np.array([2, 5, 9]), n_joint=1)
    new = GroupIndex(np.array([0, 2, 5, 8, 9]), n_joint=1)
    support = (1, 3, 8, 9, 11)  # linear 5, quadratic 2, local 9, joint, second product
    assert old.renumbered(support, new) == (2, 6, 14, 15, 17)


def test_levels_change_together():
    levels = Levels(np.array([9.0, 8.0, 7.0]), np.array([3.0, 2.0, 1.0]))
    excluded = levels.with_value(np.array([1]), NEVER)
    assert excluded.new.tolist() == [9.0, NEVER, 7.0]
    assert excluded.further.tolist() == [3.0, NEVER, 1.0]
    assert levels.new[1] == 8.0
    joined = levels.take(slice(0, 2)).followed_by(levels.map(np.negative))
    assert joined.new.tolist() == [9.0, 8.0, -9.0, -8.0, -7.0]
