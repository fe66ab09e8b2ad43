"""What a capture says was accessed, against what a compiler's thread sanitizer says: two programs from one source."""

import pytest
from budget import seeds
from compilers import needs_gxx

from tests import thread_sanitizer
from tests.template_programs import N_KERNELS, program

pytestmark = needs_gxx

SOURCE = thread_sanitizer.FOLDER / "accesses.cu"
KERNELS = ["assignments", "loops", "structures", "shared_memory", "atomics", "operators", "objects", "members"]
MORE = 12  # random programs


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    return thread_sanitizer.sanitized(SOURCE, tmp_path_factory.mktemp("tsan"))


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    return thread_sanitizer.captured(SOURCE, tmp_path_factory.mktemp("traces"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_bytes_agree_with_the_thread_sanitizer(sanitized, captured, kernel):
    def of(totals):
        return {key[1:]: count for key, count in totals.items() if key[0] == kernel}

    assert of(sanitized)
    assert of(captured) == of(sanitized)


def check_templates(seed, folder):
    """Captured and sanitized bytes of a program are the same, of every kernel by kind and space."""
    source = folder / "templates.cu"
    source.write_text(program(seed))
    expected = thread_sanitizer.sanitized(source, folder)
    assert len({kernel for kernel, _, _ in expected}) == N_KERNELS
    assert thread_sanitizer.captured(source, folder / "traces") == expected


@pytest.mark.parametrize("seed", seeds(2))
def test_bytes_of_random_templates_agree(seed, tmp_path):
    check_templates(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 2 + MORE))
def test_bytes_of_many_random_templates_agree(seed, tmp_path):
    check_templates(seed, tmp_path)
