import pytest
import torch

from mnemon.associative.holographic import (
    ConvolutionMemory,
    HolographicMemory,
    clean_up,
    convolve,
    exact_inverse,
    involution,
    random_phases,
    unitary,
)
from mnemon.errors import UserError


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def real(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=generator(seed), dtype=torch.float64)


@pytest.mark.parametrize("size", [1, 2, 5, 8, 31])
def test_convolution_against_loops(size: int) -> None:
    x, y = real(size), real(size, seed=1)
    expected = [sum(float(x[i] * y[(j - i) % size]) for i in range(size)) for j in range(size)]
    torch.testing.assert_close(convolve(x, y), torch.tensor(expected, dtype=torch.float64))
    assert involution(x).tolist() == [float(x[-i % size]) for i in range(size)]
    correlated = [sum(float(x[i] * y[(i + j) % size]) for i in range(size)) for j in range(size)]
    torch.testing.assert_close(convolve(involution(x), y), torch.tensor(correlated, dtype=torch.float64))


def test_convolution_is_the_product_of_spectra() -> None:
    """Which is what makes the two forms one."""
    x, y = real(9), real(9, seed=1)
    product = HolographicMemory().encode(torch.fft.fft(x), torch.fft.fft(y))
    torch.testing.assert_close(torch.fft.fft(convolve(x, y)), product)


def test_one_pair_is_exact() -> None:
    keys = random_phases(1, 12, generator=generator(), dtype=torch.complex128)
    values = torch.randn(1, 12, generator=generator(1), dtype=torch.complex128)
    for memory, key in ((HolographicMemory(), keys), (HolographicMemory(conjugate=False), 3 * keys)):
        torch.testing.assert_close(memory.decode(key, memory.store(key, values)), values)
    turned, content = unitary(real(1, 13)), real(1, 13, seed=1)
    torch.testing.assert_close(ConvolutionMemory().decode(turned, ConvolutionMemory().store(turned, content)), content)


def test_noise_is_the_other_pairs() -> None:
    keys = random_phases(3, 6, generator=generator(), dtype=torch.complex128)
    values = torch.randn(3, 6, generator=generator(1), dtype=torch.complex128)
    memory = HolographicMemory()
    recalled = memory.decode(keys, memory.store(keys, values))
    for right in range(3):
        noise = sum(keys[right].conj() * keys[other] * values[other] for other in range(3) if other != right)
        torch.testing.assert_close(recalled[right], values[right] + noise)


@pytest.mark.parametrize("form", ["complex", "real"])
def test_clean_up_finds_the_items(form: str) -> None:
    if form == "complex":
        memory, keys = HolographicMemory(), random_phases(5, 256, generator=generator())
        items = random_phases(40, 256, generator=generator(1))
        recalled = memory.decode(keys, memory.store(keys, items[:5]))
    else:
        plain, turned = ConvolutionMemory(), unitary(real(5, 512))
        items = real(40, 512, seed=1)
        recalled = plain.decode(turned, plain.store(turned, items[:5]))
    assert clean_up(recalled, items).tolist() == [0, 1, 2, 3, 4]


def test_phases_have_modulus_one_and_come_from_the_generator() -> None:
    keys = random_phases(4, 7, generator=generator())
    torch.testing.assert_close(keys.abs(), torch.ones(4, 7))
    assert torch.equal(keys, random_phases(4, 7, generator=generator()))
    assert random_phases(2, dtype=torch.complex128).dtype == torch.complex128


@pytest.mark.parametrize("size", [1, 2, 7, 8])
def test_unitary_keys_keep_lengths(size: int) -> None:
    keys, values = unitary(real(size)), real(size, seed=1)
    torch.testing.assert_close(convolve(keys, values).norm(), values.norm())


def test_gradients_of_unitary_keys() -> None:
    assert torch.autograd.gradcheck(unitary, (real(2, 5).requires_grad_(),))


def test_keys_without_an_inverse() -> None:
    with pytest.raises(UserError, match="a key with an element of zero has no inverse: use keys of modulus 1"):
        exact_inverse(torch.zeros(3, dtype=torch.complex64))
    with pytest.raises(UserError, match="whose spectrum has a zero cannot be made unitary"):
        unitary(torch.zeros(4))
