"""Fixtures of the kernels' tests."""

import pytest
from helpers import KERNELS


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]
