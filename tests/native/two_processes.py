"""One of two processes: the gradients of a network under DistributedDataParallel, written by the first."""

import sys

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from tests.parts import make_rnn, random_input

STEPS, BATCH = 7, 6
MEMORIES = ("ntm", "dnc-repaired", "lrua")


def gradients(memory: str, rank: int, processes: int) -> dict[str, torch.Tensor]:
    """Of the mean loss over a process's share of the rows; on one process, over all."""
    rnn = make_rnn(memory, engine="native", seed=rank)  # DDP sends the first process's weights to all
    network = DistributedDataParallel(rnn) if processes > 1 else rnn
    rows = slice(rank, BATCH, processes)
    lengths = torch.tensor([7, 3, 5, 0, 7, 1])
    output, _ = network(random_input(STEPS, BATCH, 4)[:, rows], lengths=lengths[rows])
    (output * random_input(STEPS, BATCH, 2, seed=2)[:, rows]).sum(2).mean().backward()
    named = {name: parameter.grad for name, parameter in rnn.named_parameters()}
    return {name: gradient for name, gradient in named.items() if gradient is not None}


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder, rank = sys.argv[1], int(sys.argv[2])
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    found = {memory: gradients(memory, rank, processes=2) for memory in MEMORIES}
    if rank == 0:
        torch.save(found, f"{folder}/gradients.pt")
    distributed.destroy_process_group()
