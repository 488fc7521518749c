import math
from typing import Any

import torch
from torch import Tensor

from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.views import ViewSizes


def make() -> Any:
    torch.manual_seed(0)
    config = ModelConfig(name="deepcare", hidden=3, embedding=2)
    return build_model(config, ViewSizes((5, 4), "set"), 6).double().requires_grad_(False)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_admissions_against_a_loop() -> None:
    model = make()
    visits = [([1, 2, 4], [3]), ([2], []), ([3, 3], [1, 2])]
    states = None
    hidden, cell, before = [0.0] * 3, [0.0] * 3, [0.0] * 2
    weight, bias = model.gates.weight.tolist(), model.gates.bias.tolist()
    forget, leave = model.forget.weight.tolist(), model.leave.weight.tolist()
    for diagnoses, interventions in visits:
        views = [torch.tensor(diagnoses).unsqueeze(1), torch.tensor(interventions or [0]).unsqueeze(1)]
        lengths = [torch.tensor([len(diagnoses)]), torch.tensor([len(interventions)])]
        output, states = model(views, states, lengths=lengths)
        x = [sum(model.embeddings[0].weight[code, e] for code in diagnoses) / len(diagnoses) for e in range(2)]
        p = [
            sum(model.embeddings[1].weight[code, e] for code in interventions) / max(1, len(interventions))
            for e in range(2)
        ]
        seen = [*map(float, x), *hidden]
        new_hidden, new_cell = [], []
        for h in range(3):
            gates = [
                sum(w * s for w, s in zip(weight[h + 3 * g], seen, strict=True)) + bias[h + 3 * g] for g in range(4)
            ]
            gates[1] += sum(forget[h][e] * before[e] for e in range(2))
            gates[3] += sum(leave[h][e] * float(p[e]) for e in range(2))
            new_cell.append(sigmoid(gates[1]) * cell[h] + sigmoid(gates[0]) * math.tanh(gates[2]))
            new_hidden.append(sigmoid(gates[3]) * math.tanh(new_cell[h]))
        hidden, cell, before = new_hidden, new_cell, [float(number) for number in p]
        torch.testing.assert_close(states[0].hidden[0].tolist(), hidden)
        assert output.shape == (1, 1, 6)


def test_rows_without_a_visit_stand_still() -> None:
    model = make()
    tokens: list[Tensor] = [torch.tensor([[1, 2]]), torch.tensor([[1, 1]])]
    first, states = model(tokens, lengths=[torch.tensor([1, 1]), torch.tensor([1, 0])])
    second, after = model(tokens, states, lengths=[torch.tensor([1, 0]), torch.tensor([0, 0])])
    assert torch.equal(second[:, 1], first[:, 1])
    assert not torch.equal(second[:, 0], first[:, 0])
    assert torch.equal(after[0].cell[1], states[0].cell[1])
