"""Numbers of groups, and their levels."""

import numpy as np

from gradsift.sift.groups import JOINT, NEVER, PRODUCT, GroupIndex, Levels


def test_every_number_says_its_kind_and_columns():
    products = ((2, 5), (2, 9), (9, 11))
    index = GroupIndex(np.array([2, 5, 9, 11]), joint=((0, 1), (5, 9)), products=products)
    univariate = [(part, (c,)) for part in range(3) for c in (2, 5, 9, 11)]
    others = [(JOINT, (0, 1)), (JOINT, (5, 9)), *((PRODUCT, pair) for pair in products)]
    assert [(index.part(g), index.parents(g)) for g in range(17)] == [*univariate, *others]
    assert [index.number(*key) for key in [*univariate, *others]] == list(range(17))
    assert (index.first_joint, index.first_product) == (12, 14)
    assert index.number(0, (3,)) is None


def test_a_support_in_the_numbers_of_another_pool():
    joint, products = ((0, 3),), ((2, 5), (5, 9))
    old = GroupIndex(np.array([2, 5, 9]), joint, products)
    new = GroupIndex(np.array([0, 2, 5, 8, 9]), joint, products)
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
