import pytest
import torch

from mnemon.associative.tensor_product import bind, branch, child, dual_roles, leaf, unbind
from mnemon.errors import UserError


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_binding_against_loops() -> None:
    fillers, roles = drawn(3, 4), drawn(3, 5, seed=1)
    for f in range(4):
        for r in range(5):
            expected = sum(float(fillers[q, f] * roles[q, r]) for q in range(3))
            assert float(bind(fillers, roles)[f, r]) == pytest.approx(expected)


def test_dog_barks_and_horse_is_big() -> None:
    """The thesis's example, with roles that are far from orthogonal."""
    dog, horse = drawn(2, 6)
    roles = torch.tensor([[1.0, 0.0, 0.5], [1.0, 0.2, 0.5]], dtype=torch.float64)
    bound = bind(torch.stack([dog, horse]), roles)
    torch.testing.assert_close(unbind(bound, dual_roles(roles)), torch.stack([dog, horse]))
    assert (unbind(bound, roles) - torch.stack([dog, horse])).abs().max() > 0.1
    orthonormal = torch.linalg.qr(drawn(3, 3))[0][:2]
    torch.testing.assert_close(dual_roles(orthonormal), orthonormal)


def test_duals_in_batches() -> None:
    roles = drawn(4, 3, 5)
    torch.testing.assert_close(
        torch.einsum("bir,bjr->bij", dual_roles(roles), roles), torch.eye(3, dtype=torch.float64).expand(4, 3, 3)
    )


def test_trees_keep_their_depths_apart() -> None:
    """A on the left, (B, C) on the right: every leaf comes back from its path, and the tensors are as printed."""
    a, b, c = drawn(3, 4)
    roles = drawn(2, 3, seed=1)
    left, right = dual_roles(roles)
    tree = branch([leaf(a), branch([leaf(b), leaf(c)], roles)], roles)
    assert tree[0] is None
    assert tree[1] is not None
    assert tree[2] is not None
    torch.testing.assert_close(tree[1], torch.einsum("f,r->fr", a, roles[0]))
    torch.testing.assert_close(
        tree[2],
        torch.einsum("f,r,s->frs", b, roles[0], roles[1]) + torch.einsum("f,r,s->frs", c, roles[1], roles[1]),
    )
    torch.testing.assert_close(child(tree, left)[0], a)
    torch.testing.assert_close(child(child(tree, right), left)[0], b)
    torch.testing.assert_close(child(child(tree, right), right)[0], c)
    torch.testing.assert_close(child(child(tree, left), left)[0], torch.zeros_like(a))


def test_deep_and_lopsided_trees() -> None:
    roles = drawn(2, 2)
    duals = dual_roles(roles)
    fillers = drawn(6, 3, seed=1)
    tree = leaf(fillers[5])
    for filler in fillers[:5].flip(0):
        tree = branch([leaf(filler), tree], roles)
    for filler in fillers[:5]:
        torch.testing.assert_close(child(tree, duals[0])[0], filler)
        tree = child(tree, duals[1])
    torch.testing.assert_close(tree[0], fillers[5])


def test_gradients() -> None:
    inputs = (drawn(3, 4).requires_grad_(), drawn(3, 5, seed=1).requires_grad_())
    assert torch.autograd.gradcheck(lambda fillers, roles: unbind(bind(fillers, roles), dual_roles(roles)), inputs)


def test_bad_input() -> None:
    with pytest.raises(UserError, match="3 roles of size 2 are not linearly independent: give fewer, or larger"):
        dual_roles(drawn(3, 2))
    with pytest.raises(UserError, match="1 children need as many roles, not 2"):
        branch([leaf(drawn(3))], drawn(2, 2))
    with pytest.raises(UserError, match="a leaf has no children: read its filler"):
        child(leaf(drawn(3)), drawn(2))
