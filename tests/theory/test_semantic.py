"""Learning of a deep linear network: the closed form, the simulation, and one against the other."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon.errors import UserError
from mnemon.theory import semantic

several = settings(deadline=None, max_examples=60, derandomize=True)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def number(value: float | list[float]) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def strength_at(time: float, strength: float, start: float) -> float:
    return semantic.learned_strengths(*(number(value)[None] for value in (time, strength, start))).item()


@several
@given(st.floats(0, 20), st.floats(0.05, 5), st.floats(1e-6, 10))
def test_closed_form_is_the_printed_one(time: float, strength: float, start: float) -> None:
    grown = math.exp(2 * strength * time)
    assert strength_at(time, strength, start) == pytest.approx(strength * grown / (grown - 1 + strength / start))


@several
@given(st.floats(0.01, 5), st.floats(0, 3), st.floats(1e-3, 3))
def test_closed_form_solves_its_equation(time: float, strength: float, start: float) -> None:
    """τ da/dt = 2 a (s − a), the product rule on the two weights of a mode."""
    moment = number(time)[None].requires_grad_()
    known = semantic.learned_strengths(moment, number(strength)[None], number(start)[None])
    (slope,) = torch.autograd.grad(known, moment)
    assert slope.item() == pytest.approx(2 * known.item() * (strength - known.item()), rel=1e-7, abs=1e-12)


def test_closed_form_at_the_extremes() -> None:
    assert strength_at(0.0, 2.0, 1e-3) == pytest.approx(1e-3)
    assert strength_at(1e4, 2.0, 1e-3) == pytest.approx(2.0)  # e^40000 is no number
    assert strength_at(3.0, 2.0, 0.0) == 0  # nothing grows from nothing
    assert strength_at(2.0, 0.0, 0.5) == pytest.approx(0.5 / (1 + 2 * 0.5 * 2))  # what is not there is unlearned
    assert strength_at(5.0, 2.0, 2.0) == pytest.approx(2.0)


def test_closed_form_has_the_right_gradients() -> None:
    arguments = [number(value).requires_grad_() for value in ([0.0, 0.7], [1.3, 0.2, 4.0], [0.02, 0.3, 5.0])]
    assert torch.autograd.gradcheck(semantic.learned_strengths, arguments)


@several
@given(st.floats(0.1, 5), st.floats(1e-6, 0.05), st.floats(0.51, 0.99))
def test_learning_time_is_when_the_share_is_reached(strength: float, start: float, share: float) -> None:
    time = semantic.learning_time(strength, start, share)
    assert strength_at(time, strength, start) == pytest.approx(share * strength)


def test_hierarchy_by_hand() -> None:
    lesson = semantic.hierarchy(2)
    assert lesson.properties.tolist() == [
        [1, 1, 0, 1, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 0, 0, 0, 1],
    ]
    torch.testing.assert_close(lesson.inputs.T @ lesson.inputs / 4, torch.eye(4, dtype=torch.float64))  # Σˣ = I


@pytest.mark.parametrize(("levels", "branching"), [(0, 2), (1, 2), (3, 2), (2, 3), (1, 5)])
def test_modes_of_a_hierarchy(levels: int, branching: int) -> None:
    lesson = semantic.hierarchy(levels, branching)
    modes = semantic.modes_of(lesson)
    expected = semantic.hierarchy_strengths(levels, branching)
    assert modes.strengths.tolist() == pytest.approx(expected)
    assert expected == sorted(expected, reverse=True)
    rebuilt = modes.properties @ modes.strengths.diag() @ modes.items.T
    torch.testing.assert_close(rebuilt, lesson.properties.T @ lesson.inputs / len(lesson.inputs))


def test_second_mode_parts_the_broadest_groups() -> None:
    """Every item of one half has the one sign, every item of the other the other."""
    signs = semantic.modes_of(semantic.hierarchy(3)).items[:, 1].sign()
    assert (signs[:4] == signs[0]).all()
    assert (signs[4:] == -signs[0]).all()


def loop_step(weights: semantic.Weights, lesson: semantic.Lesson, rate: float) -> tuple[Tensor, Tensor]:
    """The update rule, item by item and weight by weight."""
    first, second = weights.first.clone(), weights.second.clone()
    for x, y in zip(lesson.inputs, lesson.properties, strict=True):
        hidden = [sum((w * v for w, v in zip(row, x, strict=True)), number(0)) for row in weights.first]
        errors = [
            wanted - sum((w * h for w, h in zip(row, hidden, strict=True)), number(0))
            for wanted, row in zip(y, weights.second, strict=True)
        ]
        for h in range(len(hidden)):
            back = sum((weights.second[o, h] * error for o, error in enumerate(errors)), number(0))
            for i in range(len(x)):
                first[h, i] += rate * back * x[i]
            for o, error in enumerate(errors):
                second[o, h] += rate * error * hidden[h]
    return first, second


def test_epoch_is_the_update_rule_and_the_gradient_of_half_the_square() -> None:
    lesson = semantic.hierarchy(1, 3)
    weights = semantic.random_weights(lesson, 2, 1.0, generator())
    stepped = semantic.epoch_step(weights, lesson, 0.1)
    for part, by_loops in zip(stepped, loop_step(weights, lesson, 0.1), strict=True):
        torch.testing.assert_close(part, by_loops)
    leaves = semantic.Weights(*(part.clone().requires_grad_() for part in weights))
    loss = (lesson.properties - lesson.inputs @ leaves.first.T @ leaves.second.T).square().sum() / 2
    for part, leaf, gradient in zip(stepped, leaves, torch.autograd.grad(loss, list(leaves)), strict=True):
        torch.testing.assert_close(part, leaf.detach() - 0.1 * gradient)


def largest_gap(lesson: semantic.Lesson, weights: semantic.Weights, time_constant: int) -> float:
    """Between the simulation and the closed form, over ten τ."""
    course = semantic.learn(
        lesson, weights, rate=1 / (len(lesson.inputs) * time_constant), epochs=10 * time_constant, every=5
    )
    formula = semantic.learned_strengths(
        course.epochs / time_constant, semantic.modes_of(lesson).strengths, course.starts
    )
    return (course.strengths - formula).abs().max().item()


def test_balanced_weights_follow_the_closed_form() -> None:
    """What remains is the size of the steps: half of it with half the rate."""
    lesson = semantic.hierarchy(2)
    weights = semantic.balanced_weights(lesson, 1e-2, 6, generator())
    coarse, fine = largest_gap(lesson, weights, 50), largest_gap(lesson, weights, 100)
    assert fine < 0.02
    assert fine == pytest.approx(coarse / 2, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_small_random_weights_follow_it_nearly(seed: int) -> None:
    lesson = semantic.hierarchy(2)
    weights = semantic.random_weights(lesson, 64, 1e-2, generator(seed))
    assert largest_gap(lesson, weights, 100) < 0.06


def test_strong_modes_are_learned_first() -> None:
    lesson = semantic.hierarchy(2)
    modes = semantic.modes_of(lesson)
    course = semantic.learn(lesson, semantic.random_weights(lesson, 32, 1e-2, generator()), rate=1 / 200, epochs=800)
    reached = (course.strengths > modes.strengths / 2).double().argmax(0)
    assert (reached > 0).all()
    assert reached[0] < reached[1] < reached[2:].min()
    assert course.strengths[-1].tolist() == pytest.approx(modes.strengths.tolist(), rel=1e-2)


def test_hidden_items_part_as_the_closed_form_says() -> None:
    """h_i = √a(t) v_i, up to a rotation: distances between items depend on a alone."""
    lesson = semantic.hierarchy(2)
    modes = semantic.modes_of(lesson)
    course = semantic.learn(lesson, semantic.balanced_weights(lesson, 1e-2, 6, generator()), rate=1 / 400, epochs=150)
    learned = semantic.hidden_distances(course.weights[-1], lesson)
    torch.testing.assert_close(learned, semantic.item_distances(modes, course.strengths[-1]))
    items = lesson.inputs @ course.weights[-1].first.T
    assert learned[1, 2].item() == pytest.approx((items[1] - items[2]).square().sum().sqrt().item())
    assert learned[0, 1] < learned[0, 2]  # siblings are nearer than cousins


def test_effective_start_is_the_strength_where_weights_are_balanced() -> None:
    lesson = semantic.hierarchy(2)
    modes, weights = semantic.modes_of(lesson), semantic.balanced_weights(lesson, 0.03, 4, generator())
    assert semantic.effective_start(weights, modes).tolist() == pytest.approx([0.03] * 4)
    assert semantic.mode_strengths(weights, modes).tolist() == pytest.approx([0.03] * 4)


def test_records_every_so_many_epochs() -> None:
    lesson = semantic.hierarchy(1)
    weights = semantic.random_weights(lesson, 3, 0.1, generator())
    course = semantic.learn(lesson, weights, rate=0.01, epochs=7, every=3)
    whole = semantic.learn(lesson, weights, rate=0.01, epochs=7)
    assert course.epochs.tolist() == [0, 3, 6]
    assert torch.equal(course.strengths, whole.strengths[[0, 3, 6]])
    assert semantic.learn(lesson, weights, rate=0.01, epochs=0).strengths.shape == (1, 2)


def test_one_item_one_property() -> None:
    lesson = semantic.hierarchy(0)
    course = semantic.learn(lesson, semantic.balanced_weights(lesson, 0.1, 1, generator()), rate=0.05, epochs=200)
    assert course.strengths[-1].item() == pytest.approx(1)


LESSON = semantic.hierarchy(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: semantic.hierarchy(-1), "levels ≥ 0 and branching ≥ 2, got -1 and 2"),
        (lambda: semantic.hierarchy(2, 1), "got 2 and 1"),
        (lambda: semantic.learning_time(1.0, 0.9), "not on its way up to 0.5"),
        (lambda: semantic.learning_time(1.0, 0.0), "begins at 0.0"),
        (lambda: semantic.learning_time(1.0, 0.1, 1.0), "up to 1.0 of it"),
        (lambda: semantic.random_weights(LESSON, 0, 1.0, generator()), "hidden must be at least 1"),
        (lambda: semantic.balanced_weights(LESSON, 0.1, 1, generator()), "2 modes need at least as many hidden units"),
        (
            lambda: semantic.learn(LESSON, semantic.random_weights(LESSON, 2, 1.0, generator()), rate=0.0, epochs=3),
            "rate must be above 0",
        ),
        (
            lambda: semantic.learn(LESSON, semantic.random_weights(LESSON, 2, 9.0, generator()), rate=9.0, epochs=99),
            "a learning rate of 9.0 is too large",
        ),
    ],
)
def test_bad_input_is_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError) as raised:
        call()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
