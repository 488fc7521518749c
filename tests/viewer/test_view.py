"""What a page is told, for every model; and that nothing in it can be anything but text."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell, UserError, record_trace
from mnemon.models.catalogue import MODELS, build_model
from mnemon.models.config import ModelConfig
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.catalogue import find_task
from mnemon.tasks.copy import Copy
from mnemon.tasks.odd_even import OddEven
from mnemon.tasks.sum_of_two import SumOfTwo
from mnemon.training.seeding import generator_from
from mnemon.viewer import View, view_answer, view_trace
from mnemon.viewer.page import safe_json
from mnemon.views import ViewSizes, Visit

SMALL: dict[str, Any] = {"hidden": 6, "slots": 5, "word": 4, "heads": 2}
STORIES = ("memnn", "memn2n", "memn2n-layer-wise", "kv-memn2n")


def shown(name: str, task: Task, seed: int = 0, **settings: Any) -> dict[str, Any]:
    """A small untrained model on a sequence: what the page is told of it."""
    torch.manual_seed(seed)
    model = build_model(ModelConfig(name=name, **(SMALL | settings)), task.input_size, task.output_size)
    view = view_answer(model, task, task.sample(1, generator_from(seed)), title=name)
    return view.runs[0].describe(10**6)


def titles(run: dict[str, Any]) -> list[str]:
    return [panel["title"] for panel in run["panels"]]


COPY = Copy(min_length=3, max_length=3)


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if not entry.reads_views])
def test_every_model_of_sequences(name: str) -> None:
    run = shown(name, COPY)
    found = titles(run)
    assert run["steps"] == 8
    assert found[:3] == ["Input", "Target", "Prediction"]
    if name not in ("lstm", "transformer"):
        assert "Where the controller is" in found
    entry = MODELS[name]
    assert any(title.startswith("What is in the memory") for title in found) == entry.has_memory
    assert any(title.startswith("Which program steers it") for title in found) == entry.has_programs
    for panel in run["panels"]:
        assert sum(count for _, count in panel["clock"]) == 8


@pytest.mark.parametrize(
    "name", [name for name, entry in MODELS.items() if entry.reads_views and name not in (*STORIES, "deepcare")]
)
def test_every_model_of_views(name: str) -> None:
    task: Task = OddEven(max_length=5) if name == "vmed" else SumOfTwo(max_length=4)
    run = shown(name, task)
    found = titles(run)
    assert {"Target", "Prediction"} <= set(found)
    assert set(run["phases"]["names"]) == {"read", "answer"}
    if name in ("dnc-single", "dc-mann", "dcw-mann", "dmnc-late", "vmed"):
        held = next(panel for panel in run["panels"] if panel["kind"] == "held")
        assert sum(count for _, count in held["clock"]) == run["steps"]  # through encoder and decoder
    assert ("Modes of the mixture" in found) == (name == "vmed")
    if name == "seq2seq-attention":
        assert "Where it reads, memory 1" in found


@pytest.mark.parametrize("name", [*STORIES, "deepcare"])
def test_models_without_cells_show_what_was_said(name: str) -> None:
    answer, asked = ("set", 1) if name == "deepcare" else ("sequence", 1)
    sizes = ViewSizes((6, 6), answer)  # type: ignore[arg-type]
    model = build_model(ModelConfig(name=name, **SMALL), sizes, 8)
    views = (torch.tensor([[1], [2], [0]]), torch.tensor([[3], [0]]))
    batch = Batch(
        torch.zeros(asked, 1, 0),
        torch.eye(8)[:asked].unsqueeze(1),
        torch.ones(asked, 1),
        visits=(Visit(views, (torch.tensor([3]), torch.tensor([2]))),),
    )

    class Story(SumOfTwo):
        input_size = sizes

        def metrics(self, output: torch.Tensor, batch: Batch) -> dict[str, float]:  # noqa: ARG002
            return {}

    run = view_answer(model, Story(), batch, title=name).runs[0].describe(10**6)
    said = ["Input, view 1", "Input, view 2", "Target", "Prediction"]
    if name not in STORIES[1:]:
        assert titles(run) == said
        return
    assert titles(run) == [*said, "Where each hop looks"]
    hops = run["panels"][-1]
    assert hops["clock"] == run["panels"][0]["clock"], "beside the words of the story"
    assert hops["names"] == ["1", "2", "3"]


def test_panels_of_a_dnc() -> None:
    found = titles(shown("dnc", COPY))
    assert found == [
        "Input",
        "Target",
        "Prediction",
        "Where it writes",
        "Where it reads, head 1",
        "Where it reads, head 2",
        "Which input each slot holds",
        "Gates",
        "How it finds what to read, head 1",
        "How it finds what to read, head 2",
        "Which slots are in use",
        "What is in the memory",
        "In which order slots were written",
        "Where the controller is",
    ]


def test_numbers_of_the_page_are_those_of_the_trace() -> None:
    from tests.viewer.test_packing import unpack

    torch.manual_seed(0)
    model = build_model(ModelConfig(name="dnc", **SMALL), COPY.input_size, COPY.output_size)
    batch = COPY.sample(1, generator_from(0))
    with torch.no_grad(), record_trace(model) as trace:
        model(batch.inputs)
    run = view_answer(model, COPY, batch, title="dnc").runs[0].describe(10**6)
    panels = {panel["title"]: panel for panel in run["panels"]}
    for title, wanted in {
        "Where it writes": trace.state.write_weights[:, 0],
        "Where it reads, head 2": trace.state.read_weights[:, 0, 1],
        "In which order slots were written": trace.state.links[:, 0].flatten(1),
    }.items():
        described = run["arrays"][panels[title]["array"]]
        tolerance = 0.51 * (described["high"] - described["low"]) / 254
        numbers = unpack(run, panels[title]["array"])
        torch.testing.assert_close(numbers, wanted.double(), atol=tolerance, rtol=0)


def test_steps_between_writes_are_blank() -> None:
    from tests.viewer.test_packing import unpack

    run = shown("dnc", COPY, writing="uniform", interval=3)
    panels = {panel["title"]: panel for panel in run["panels"]}
    drawn = ~unpack(run, panels["Where it writes"]["array"]).isnan().any(1)
    assert drawn.tolist() == [False, False, True, False, False, True, False, False]
    gates = unpack(run, panels["Gates"]["array"])
    assert panels["Gates"]["names"] == ["write", "allocation", "free 1", "free 2"]
    assert gates[0].isnan().tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("ngrams", ["heat", "heat", "heat"]),
        ("token-copy", ["tokens", "tokens", "tokens"]),
        ("brackets", ["tokens", "tokens", "tokens"]),
        ("sinusoid", ["heat", "lines"]),
        ("multi-query-recall", ["heat", "tokens", "tokens"]),
        ("continual", ["heat", "heat", "heat"]),
        ("four-in-sequence", ["heat", "heat", "heat"]),
    ],
)
def test_kinds_of_tasks(task: str, kinds: list[str]) -> None:
    run = shown("lstm", find_task(task).train)
    assert [panel["kind"] for panel in run["panels"]] == kinds
    assert len(run["texts"]) == len(run["phases"]["steps"]) == run["steps"]


def test_what_was_shown_and_said_in_words() -> None:
    run = shown("lstm", COPY)
    assert run["texts"][0] == "start"
    assert re.fullmatch("[01]{8}", run["texts"][1])
    assert run["texts"][4:] == ["end", "", "", ""]
    assert [answer["step"] for answer in run["answers"]] == [5, 6, 7]
    assert [answer["right"] for answer in run["answers"]] == run["texts"][1:4]
    assert all(answer["wrong"] == (answer["right"] != answer["said"]) for answer in run["answers"])


def made(title: str = "mine", length: int = 6) -> View:
    torch.manual_seed(0)
    model = MANN(MemoryCell(LSTMController(3, 4), DNCMemory(4, 3), output_size=2))
    inputs = torch.randn(length, 2, 3)
    with record_trace(model) as trace:
        output, _ = model(inputs)
    return view_trace(trace, inputs, output, row=1, title=title)


def test_a_trace_of_ones_own() -> None:
    run = made().runs[0].describe(10**6)
    assert titles(run)[:3] == ["Input", "Output", "Where it writes"]
    with pytest.raises(UserError, match="row=2 is outside a batch of 2"):
        view_trace(record_empty(), torch.zeros(3, 2, 1), row=2)


def record_empty() -> Any:
    with record_trace(torch.nn.Identity()) as trace:
        pass
    return trace


@pytest.mark.parametrize("length", [1, 2])
def test_very_short_sequences(length: int) -> None:
    assert "What is in the memory" in titles(made(length=length).runs[0].describe(10**6))


def test_numbers_that_are_not_finite_are_blank() -> None:
    model = build_model(ModelConfig(name="ntm", **SMALL), COPY.input_size, COPY.output_size)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(torch.nan)
    view = view_answer(model, COPY, COPY.sample(1, generator_from(0)), title="broken")
    assert "Where the controller is" not in titles(view.runs[0].describe(10**6))
    assert "<title>broken</title>" in view.html()


EVIL = "</script><script>alert(1)</script><!--&\u2028"


def test_nothing_closes_the_script() -> None:
    page = made(EVIL).html()
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts == ['<script type="application/json" id="document">', '<script type="module">']
    assert page.count("</script>") == 2
    text = re.search(r'id="document">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    assert json.loads(text[1])["title"] == EVIL
    assert not set("<>&\u2028\u2029") & set(safe_json({EVIL: EVIL}))


def test_the_page_needs_nothing_else() -> None:
    page = made().html()
    assert not re.search(r"https?://|@import|\bsrc=|\bhref=|url\(|fetch\(|XMLHttp|import\s|innerHTML|eval\(", page)
    assert "default-src 'none'" in page


def test_in_a_notebook_it_is_a_frame() -> None:
    view = made(EVIL).beside(made("other"))
    frame = view._repr_html_()
    document = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" title="[^"]*" sandbox="allow-scripts" style="[^"]*"></iframe>', frame
    )
    assert document is not None
    assert unescape(document[1]) == view.html()
    assert frame.count("<") == 2


def test_usual_traces_stay_below_two_megabytes(tmp_path: Path) -> None:
    """Two of an untrained DNC with 128 slots: links that change everywhere are the worst there is."""
    torch.manual_seed(0)
    model = MANN(MemoryCell(LSTMController(8, 16), DNCMemory(128, 20, reads=4)))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    inputs = torch.randn(80, 1, 8)
    with torch.no_grad(), record_trace(model) as trace:
        model(inputs)
    view = view_trace(trace, inputs)
    view.beside(view).save(tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 2_000_000


def test_saving_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        made().save(tmp_path / "nowhere" / "page.html")
