"""A sentence as a tree of tensor products, and questions to it.

Run with: python examples/tensor_product.py
"""

import torch

from mnemon.associative.tensor_product import Tree, branch, child, dual_roles, leaf

WORDS = ["the", "dog", "chased", "a", "cat"]
generator = torch.Generator().manual_seed(0)
fillers = torch.randn(len(WORDS), 12, generator=generator)
roles = torch.randn(2, 3, generator=generator)  # left and right: independent, not orthogonal
left, right = dual_roles(roles)


def word(name: str) -> Tree:
    """A leaf."""
    return leaf(fillers[WORDS.index(name)])


def pair(first: Tree, second: Tree) -> Tree:
    """A branch with a left and a right child."""
    return branch([first, second], roles)


def read(tree: Tree) -> str:
    """The word that is nearest to the filler of a leaf."""
    filler = tree[0]
    assert filler is not None, "a leaf is at depth 0"
    return WORDS[int((fillers - filler).norm(dim=-1).argmin())]


# ((the dog) (chased (a cat)))
sentence = pair(pair(word("the"), word("dog")), pair(word("chased"), pair(word("a"), word("cat"))))
print("tensors by depth:", *("none" if part is None else tuple(part.shape) for part in sentence))
print("who:", read(child(child(sentence, left), right)))
print("did what:", read(child(child(sentence, right), left)))
print("to whom:", read(child(child(child(sentence, right), right), right)))
