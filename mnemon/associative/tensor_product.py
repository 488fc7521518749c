"""Tensor product representations (thesis §2.4.3; Smolensky, 1990): fillers bound to roles, and trees of them.

Letters: ``Q pairs, P probes, F size of a filler, R size of a role``.

    T = Σ_i f_i ⊗ r_i                              ⊗ is the tensor product, ⊕ the sum
    f_j = T • u_j                                  u_j · r_i = 1 where i = j, else 0

For orthonormal roles u_j = r_j; for linearly independent ones the u_j are the dual vectors. A tree binds each child, a
tensor of any order, to its role once more: the leaf at the end of the path r_1 (the root's branch), r_2, … is
f ⊗ … ⊗ r_2 ⊗ r_1, so that A on the left and (B, C) on the right is A⊗r_0 + B⊗r_0⊗r_1 + C⊗r_1⊗r_1.

One level, as an :class:`~mnemon.associative.base.AssociativeMemory`, is ``CorrelationMemory(unit_keys=False)``, with
roles for keys.

**Deviations.** The thesis's example should have the fillers {dog, horse}; and its tree adds tensors of different order,
which has no meaning but as a direct sum: a tree here is a tuple with one tensor for each depth.
"""

from collections.abc import Sequence
from itertools import zip_longest

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.associative.correlation import outer_products, recall
from mnemon.errors import UserError

Tree = tuple[Tensor | None, ...]  # by depth d: (F, R, …, R) with d roles, or None where no leaf is so deep
TOLERANCE = 1e-5  # of singular values: below, roles count as dependent


def dual_roles(roles: Float[Tensor, "*batch Q R"]) -> Float[Tensor, "*batch Q R"]:
    """The vectors u_j in the span of the roles with u_j · r_i = 1 for i = j and 0 else."""
    if int(torch.linalg.matrix_rank(roles, rtol=TOLERANCE).min()) < roles.shape[-2]:
        raise UserError(
            f"{roles.shape[-2]} roles of size {roles.shape[-1]} are not linearly independent: give fewer, or larger"
        )
    inverse: Tensor = torch.linalg.pinv(roles)
    return inverse.transpose(-2, -1)


def bind(fillers: Float[Tensor, "*batch Q F"], roles: Float[Tensor, "*batch Q R"]) -> Float[Tensor, "*batch F R"]:
    """T, of order two: the correlation matrix of fillers and roles."""
    return outer_products(roles, fillers)


def unbind(tensor: Float[Tensor, "*batch F R"], duals: Float[Tensor, "*batch P R"]) -> Float[Tensor, "*batch P F"]:
    """The fillers of the roles whose duals these are; orthonormal roles are their own duals."""
    return recall(tensor, duals)


def leaf(filler: Float[Tensor, "F"]) -> Tree:
    """A tree that is nothing but a filler."""
    return (filler,)


def branch(children: Sequence[Tree], roles: Float[Tensor, "C R"]) -> Tree:
    """The tree of these children, each bound to its role; depths stay apart."""
    if len(children) != roles.shape[0]:
        raise UserError(f"{len(children)} children need as many roles, not {roles.shape[0]}")
    bound = [
        tuple(None if part is None else part.unsqueeze(-1) * role for part in child)
        for child, role in zip(children, roles, strict=True)
    ]
    return (None, *(_sum(parts) for parts in zip_longest(*bound)))


def child(tree: Tree, dual: Float[Tensor, "R"]) -> Tree:
    """The subtree at the role whose dual this is; a role that was not bound gives zeros."""
    if len(tree) < 2:
        raise UserError("a leaf has no children: read its filler, tree[0]")
    return tuple(None if part is None else part @ dual for part in tree[1:])


def _sum(parts: Sequence[Tensor | None]) -> Tensor | None:
    there = [part for part in parts if part is not None]
    return torch.stack(there).sum(dim=0) if there else None
