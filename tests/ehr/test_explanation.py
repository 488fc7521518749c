"""Why a model recommends what it does: effects against asking again by hand, shares against small numbers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from mnemon.ehr.explanation import (
    Event,
    Explanation,
    Recommended,
    _follow,
    _shares,
    explain,
    last_visit,
    probabilities,
    recommend,
    visits_of,
)
from mnemon.ehr.page import explanation_page
from mnemon.ehr.prediction import prediction
from mnemon.ehr.prepared import Prepared, load_prepared
from mnemon.ehr.runs import TrainedRun
from mnemon.ehr.vocabulary import FIRST_CODE
from mnemon.errors import UserError
from mnemon.memory.joined import Joined
from mnemon.models.catalogue import build_model
from mnemon.trace import CellTrace, Step
from tests.ehr.tiny_visits import prepare_hospital, small

Trained = Callable[..., TrainedRun]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prepared]:
    folder = tmp_path_factory.mktemp("hospital")
    names = ("procedures", "drugs-set", "next-diagnoses")
    return {task: load_prepared(prepare_hospital(folder / task, task, patients=9)) for task in names}


@pytest.fixture
def trained(folders: dict[str, Prepared]) -> Trained:
    """Models are as good as trained: what is explained is what they do."""

    def make(task: str, model: str, inputs: tuple[str, ...] | None = None) -> TrainedRun:
        own = prediction(folders[task], "test", inputs)
        torch.manual_seed(1)
        built = build_model(small(name=model), own.input_size, own.output_size)
        for parameter in built.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
        return TrainedRun(model=built.eval(), prepared=folders[task], inputs=own.inputs, step=1)

    return make


def codes(run: TrainedRun, visit: int) -> list[list[int]]:
    """The tokens of a visit, by view."""
    return [run.prepared.views[view].of(visit).tolist() for view in run.inputs]


def asked(run: TrainedRun, history: list[list[list[int]]], steps: int) -> Tensor:
    """The probabilities of all codes of the target, by asking with lists of tokens."""
    memories = None
    with torch.no_grad():
        for visit in history:
            views = [torch.tensor(view or [0]).unsqueeze(1) for view in visit]
            lengths = [torch.tensor([len(view)]) for view in visit]
            output, memories = run.model(views, memories, lengths=lengths, steps=steps)
    if run.prepared.task.as_set:
        return torch.sigmoid(output[0, 0])
    odds: list[Tensor] = []
    for step in torch.softmax(output[:, 0], -1):
        if odds and step.argmax() == 0:
            break
        odds.append(step[2:])
        if step.argmax() == 0:
            break
    return torch.stack(odds).amax(0)


CASES = [
    ("procedures", "dcw-mann"),
    ("procedures", "dnc-single"),
    ("drugs-set", "dmnc-late"),
    ("drugs-set", "dnc-single"),
    ("drugs-set", "seq2seq"),
    ("drugs-set", "seq2seq-attention"),
    ("next-diagnoses", "dmnc-early"),
    ("next-diagnoses", "dnc-single"),
    ("next-diagnoses", "deepcare"),
]


@pytest.mark.parametrize(("task", "model"), CASES)
def test_effects_are_what_changes_without_the_event(trained: Trained, task: str, model: str) -> None:
    run = trained(task, model)
    patient = 2
    visit = last_visit(run, patient)
    numbers = run.prepared.history(visit) if task == "next-diagnoses" else [visit]
    history = [codes(run, number) for number in numbers]
    longest = 1 + max(len(run.prepared.target(other)) for other in run.prepared.visits("train").tolist())
    steps = 1 if run.prepared.task.as_set else longest
    whole = asked(run, history, steps)
    torch.testing.assert_close(probabilities(run, visits_of(run, visit)), whole)
    found = explain(run, "2", visit, 2)
    assert found.recommended == recommend(run, visit, 2)
    vocabulary = run.prepared.vocabularies[run.prepared.task.target]
    labels = [vocabulary.token(entry.code) - FIRST_CODE for entry in found.recommended]
    assert labels == whole.argsort(descending=True)[:2].tolist()
    assert [entry.probability for entry in found.recommended] == pytest.approx(whole[labels].tolist())
    wanted: list[Any] = []
    for number, views in enumerate(history):
        for place, view in enumerate(run.inputs):
            for step, token in enumerate(views[place]):
                without = [[list(own) for own in one] for one in history]
                del without[number][place][step]
                effect = (whole - asked(run, without, steps))[labels].mean()
                code = run.prepared.vocabularies[view].code(token)
                wanted.append(
                    (view, int(numbers[number]) - numbers[0] + 1, code, pytest.approx(float(effect), abs=1e-6))
                )
    first = len(run.prepared.history(numbers[0])) - 1
    assert [(event.view, event.visit - first, event.code, event.effect) for event in found.events] == wanted
    assert any(abs(event.effect) > 1e-4 for event in found.events)
    assert found.visit == found.events[-1].visit


def test_all_earlier_visits_are_explained_where_the_memory_persists(trained: Trained) -> None:
    run = trained("next-diagnoses", "dmnc-late")
    for patient in range(3):
        visit = last_visit(run, patient)
        found = explain(run, str(patient), visit, 3)
        history = list(run.prepared.history(visit))
        assert len(found.events) == sum(len(view) for number in history for view in codes(run, number))
        assert {event.visit for event in found.events} == set(range(1, len(history) + 1))
        assert all(event.write_gate is not None and 0 <= event.write_gate <= 1 for event in found.events)
        assert sum(event.read or 0.0 for event in found.events) == pytest.approx(1)
        right = set(run.prepared.target(visit).tolist())
        names = run.prepared.vocabularies["diagnosis"]
        assert all(entry.true == (names.token(entry.code) in right) for entry in found.recommended)


@pytest.mark.parametrize(
    ("task", "model", "inside"),
    [
        ("procedures", "dcw-mann", (True, False)),  # what a sequence reads differs from step to step
        ("drugs-set", "dmnc-early", (True, True)),
        ("drugs-set", "seq2seq", (False, False)),
        ("drugs-set", "dnc-single", (False, False)),  # its views are read as one
    ],
)
def test_what_a_model_has_not_is_none(trained: Trained, task: str, model: str, inside: tuple[bool, bool]) -> None:
    run = trained(task, model)
    found = explain(run, "0", last_visit(run, 0), 2)
    told = {(event.write_gate is not None, event.read is not None) for event in found.events}
    assert told == {inside}


def test_only_codes_are_recommended(trained: Trained) -> None:
    for task in ("procedures", "drugs-set"):
        run = trained(task, "dmnc-late")
        found = recommend(run, last_visit(run, 0), 100)
        known = run.prepared.vocabularies[run.prepared.task.target].codes
        assert sorted(entry.code for entry in found) == sorted(known)


def test_the_only_event_of_all_can_be_removed(trained: Trained) -> None:
    for model in ("dmnc-late", "dmnc-early", "dnc-single", "seq2seq-attention", "seq2seq-concatenated"):
        run = trained("next-diagnoses", model)
        alone = [
            visit
            for split in ("train", "valid", "test")
            for visit in run.prepared.visits(split).tolist()
            if sum(map(len, codes(run, visit))) == 1 and len(run.prepared.history(visit)) == 1
        ]
        assert alone
        found = explain(run, "0", alone[0], 2)
        assert len(found.events) == 1


class Wrote(NamedTuple):
    """Of a memory's state, what is followed."""

    write_weights: Tensor


class Erased(NamedTuple):
    """Of a memory's interface."""

    erase: Tensor


class Read(NamedTuple):
    """Of the state of a memory that was read."""

    read_weights: Tensor


def wrote(*steps: tuple[list[float], list[float]]) -> CellTrace:
    """Writes of one row, each with its weights over slots and its erase vector."""
    trace = CellTrace()
    for weights, erase in steps:
        step = (Erased(torch.tensor([erase])), Wrote(torch.tensor([weights])), ())
        trace.add(Step(*step, written=torch.ones(1, dtype=torch.bool)))
    return trace


def test_an_overwritten_slot_holds_the_last_event_only() -> None:
    held = _follow(wrote(([1.0, 0.0], [1.0, 1.0]), ([1.0, 0.0], [1.0, 1.0])), 2, None)
    assert held.tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_what_is_not_erased_stays() -> None:
    trace = wrote(([0.5, 0.0], [0.0, 0.0]), ([0.5, 0.5], [1.0, 0.0]), ([9.0, 9.0], [1.0, 1.0]))
    held = _follow(trace, 2, None)  # the third is padding
    assert held.tolist() == [[0.5 * (1 - 0.5 * 0.5), 0.5], [0.0, 0.5]]
    later = _follow(wrote(([1.0, 0.0], [1.0, 1.0])), 1, held)
    assert later.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.5, 0.0]]


def test_shares_of_what_was_read() -> None:
    held = torch.tensor([[0.25, 0.5], [0.0, 0.5]])
    origins = [[(0, 0, 0), (0, 0, 1)], [(0, 1, 0)]]
    one = _shares(Read(torch.tensor([[[1.0, 0.0]]])), [held], origins[:1])
    assert one == {(0, 0, 0): pytest.approx(1 / 3), (0, 0, 1): pytest.approx(2 / 3)}
    states = Joined(Read(torch.tensor([[[1.0, 0.0]]])), Read(torch.tensor([[[0.0, 0.5]]])))
    both = _shares(states, [held, torch.tensor([[0.0], [0.5]])], origins)
    assert both == {(0, 0, 0): 0.25, (0, 0, 1): 0.5, (0, 1, 0): 0.25}
    joint = [torch.cat([held, torch.zeros(2, 2)]), torch.tensor([[0.0], [0.0], [0.0], [0.5]])]
    assert _shares(states, joint, origins) == both  # each view's slots among those of all
    assert _shares(Joined(*(Read(torch.zeros(1, 1, 2)) for _ in "ab")), joint, origins) == {}
    assert _shares(states, [held, None], [origins[0], []]) == one


def test_the_page_escapes_and_names_no_one() -> None:
    recommended = [Recommended("<b>", "<script>alert(1)</script>", 0.5, True)]
    events = [
        Event("diagnosis", 1, "<i>&", "<script>alert(2)</script>", 0.25, None, -0.125),
        Event("procedure", 2, "P1", "P1", None, 0.5, 0.5),
    ]
    page = explanation_page(Explanation("<3>", 2, recommended, events), "drug")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;script&gt;alert(2)" in page
    assert "&lt;i&gt;&amp;" in page
    assert "<h1>Drug for patient &lt;3&gt;, visit 2</h1>" in page
    assert page.index("P1") < page.index("alert(2)")  # the largest effect first
    assert "-0.1250" in page
    assert "http" not in page
    assert explanation_page(Explanation("3", 1, [], []), "drug").endswith("</html>\n")


def test_bad_patients(trained: Trained) -> None:
    run = trained("drugs-set", "dmnc-late")
    count = len(run.prepared.patient_split)
    for patient in (-1, count):
        with pytest.raises(UserError, match=rf"there is no patient {patient}: write a number from 0 to {count - 1}"):
            last_visit(run, patient)
