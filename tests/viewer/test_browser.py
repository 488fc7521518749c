"""The page in a real browser: it draws, follows the cursor, says nothing on the console, and asks for nothing."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.tasks.base import Task
from mnemon.tasks.copy import Copy
from mnemon.tasks.multi_modal import MultiModal
from mnemon.tasks.tokens import TokenCopy
from mnemon.training.seeding import generator_from
from mnemon.viewer import View, view_answer
from mnemon.viewer.shown import Shown
from tests.pages import Watched, step

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COPY = Copy(min_length=4, max_length=4)  # ten steps: start, four items, end, four answers
EVIL = "</script><img src=x onerror=alert(1)><b>&"


def view_of(name: str, task: Task, title: str | None = None, **settings: Any) -> View:
    torch.manual_seed(0)
    config = ModelConfig(name=name, **({"hidden": 8, "slots": 6, "word": 4, "heads": 2} | settings))
    model = build_model(config, task.input_size, task.output_size)
    return view_answer(model, task, task.sample(1, generator_from(0)), title=title or name)


@pytest.fixture(scope="module")
def dnc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "dnc.html"
    view_of("nutm-dnc", COPY).save(path)
    return path


# How much of a canvas is painted: panels that failed to draw are empty.
INK = """canvas => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return data.filter((value, place) => place % 4 === 3 && value > 0).length;
}"""


def test_every_panel_draws(watched: Watched, dnc: Path, screenshots: Path) -> None:
    page = watched.open(dnc)
    panels = page.locator("figure")
    titles = page.locator("figure h4").all_inner_texts()
    for wanted in (
        "Input",
        "Prediction",
        "Where it writes",
        "Which input each slot holds",
        "Gates",
        "Which slots are in use",
    ):
        assert wanted in titles
    for wanted in ("What is in the memory", "In which order slots were written", "Where the controller is"):
        assert wanted in titles
    for number in range(panels.count()):
        assert panels.nth(number).locator("> canvas").evaluate(INK) > 50
    page.screenshot(path=screenshots / "dnc.png", full_page=True)
    assert watched.is_quiet(), watched.complaints
    assert watched.requests == [dnc.as_uri()]


def test_the_keyboard_moves_the_cursor(watched: Watched, dnc: Path) -> None:
    page = watched.open(dnc)
    assert step(page) == 0
    for key, wanted in {
        "ArrowRight": 1,
        "End": 9,
        "ArrowLeft": 8,
        "Shift+ArrowLeft": 0,
        "PageDown": 6,
        "PageUp": 0,
        "Home": 0,
    }.items():
        page.keyboard.press(key)
        assert step(page) == wanted, key
    assert "Step 0" in page.locator(".story").inner_text()
    before = page.locator("figure.matrix > canvas").first.evaluate("canvas => canvas.toDataURL()")
    page.keyboard.press("End")
    assert page.locator("figure.matrix > canvas").first.evaluate("canvas => canvas.toDataURL()") != before
    assert watched.is_quiet(), watched.complaints


def test_space_plays_to_the_end(watched: Watched, dnc: Path) -> None:
    page = watched.open(dnc)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    page.wait_for_function("() => document.querySelector('.cursor').dataset.step === '9'")
    page.wait_for_selector("button.play[aria-label=play]")
    assert watched.is_quiet(), watched.complaints


def test_the_mouse_moves_the_cursor_and_shows_numbers(watched: Watched, dnc: Path) -> None:
    page = watched.open(dnc)
    canvas = page.locator("figure.heat > canvas").nth(3)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    width = page.evaluate("() => mnemonPage.stepWidth")
    left, y = box["x"] + 92, box["y"] + 5

    def x(number: int) -> float:
        return float(left + (number + 0.5) * width)

    page.mouse.move(x(3), y)
    tooltip = page.locator("#tooltip")
    assert tooltip.inner_text().startswith("step 3\nslot 0: ")
    page.mouse.down()
    assert step(page) == 3
    page.mouse.move(x(7), y)
    assert step(page) == 7
    page.mouse.up()
    page.mouse.move(x(2), y)
    assert step(page) == 7
    page.mouse.move(2, 2)
    assert tooltip.is_hidden()
    page.locator("input[type=range]").fill("4")
    assert step(page) == 4
    assert watched.is_quiet(), watched.complaints


def test_dark_as_the_system_and_by_hand(browser: "Browser", dnc: Path, screenshots: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    Watched(page).open(dnc)
    grounds = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate(grounds)
    page.screenshot(path=screenshots / "dark.png")
    page.locator("button.theme").click()
    assert page.evaluate(grounds) != dark
    page.close()


def test_two_runs_beside_each_other(watched: Watched, tmp_path: Path, screenshots: Path) -> None:
    longer = Copy(min_length=6, max_length=6)
    views = view_of("ntm", COPY).beside(view_of("nutm", longer, writing="uniform", interval=2))
    views.save(tmp_path / "pair.html")
    page = watched.open(tmp_path / "pair.html")
    boxes = [page.locator("section.run").nth(number).bounding_box() for number in range(2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"] - 1
    page.keyboard.press("ArrowRight")
    steps = page.locator(".cursor").evaluate_all("lines => lines.map(line => line.dataset.step)")
    assert steps == ["1", "1"]
    page.keyboard.press("End")  # the shorter run stays at its own last step
    assert page.locator(".cursor").evaluate_all("lines => lines.map(line => line.dataset.step)") == ["9", "13"]
    page.screenshot(path=screenshots / "pair.png", full_page=True)
    assert watched.is_quiet(), watched.complaints


@pytest.mark.parametrize(
    ("name", "task", "settings"),
    [
        ("lstm", TokenCopy(length=3), {}),
        ("stack", TokenCopy(length=25), {}),
        ("deltanet", COPY, {}),
        ("lmu", COPY, {}),
        ("vmed", MultiModal(), {}),
    ],
)
def test_other_models(
    watched: Watched, tmp_path: Path, screenshots: Path, name: str, task: Task, settings: dict[str, Any]
) -> None:
    view_of(name, task, **settings).save(tmp_path / "page.html")
    page = watched.open(tmp_path / "page.html")
    page.keyboard.press("End")
    page.screenshot(path=screenshots / f"{name}.png")
    assert watched.is_quiet(), watched.complaints


def test_what_users_write_is_text(watched: Watched, tmp_path: Path) -> None:
    view = view_of("lstm", TokenCopy(length=3), title=EVIL)
    run = view.runs[0]
    shown = run.shown
    run.shown = Shown(shown.panels, [EVIL] * len(shown.phases), [EVIL] * len(shown.texts), shown.answers)
    run.panels[0] = dataclasses.replace(run.panels[0], texts=[EVIL] * 8)  # type: ignore[call-arg]
    view.save(tmp_path / "evil.html")
    page = watched.open(tmp_path / "evil.html")
    assert page.locator("h1").inner_text() == EVIL
    assert page.locator(".story code").first.inner_text() == EVIL
    assert page.locator("img").count() == 0
    assert watched.is_quiet(), watched.complaints


def test_in_a_frame_of_a_notebook(watched: Watched) -> None:
    watched.page.set_content(f"<h1>notebook</h1>{view_of('ntm', COPY)._repr_html_()}")
    frame = watched.page.frame_locator("iframe")
    frame.locator("body[data-drawn]").wait_for()
    frame.locator("button.play").press("End")
    assert frame.locator(".cursor").get_attribute("data-step") == "9"
    assert watched.is_quiet(), watched.complaints
