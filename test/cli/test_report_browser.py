"""The page of a report in a browser: selection, zoom, colour schemes and labels."""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_fixtures import FACTS

from convoy.cli.main import main
from convoy.report import collect_report, report_page
from convoy_runtime.inspection import program_calls
from convoy_runtime.opening import open_artifact
from convoy_runtime.profile import Profile

RESNET = Path(__file__).resolve().parents[2] / "examples" / "resnet.py"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a ResNet-18 whose times are three times the roofline."""
    folder = tmp_path_factory.mktemp("page")
    path = folder / "resnet18.convoy"
    flags = ["--target", "cuda", "--dtype", "float16", "--no-weights", "-q"]
    assert main(["compile", f"{RESNET}:resnet18", "-o", str(path), *flags]) == 0
    artifact = open_artifact(path)
    calls = tuple(
        replace(call, microseconds=1.0 + 3e-6 * step.bytes, in_place_microseconds=3e-6 * step.bytes)
        for call, step in zip(program_calls(artifact), collect_report(artifact).steps, strict=True)
    )
    report = collect_report(artifact, Profile(FACTS, "CUDA graph", calls, 100.0))
    shown = folder / "report.html"
    shown.write_text(report_page(report))
    return shown


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium; skips if it is not installed."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: the Debian packages chromium and chromium-driver are missing")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(driver)
    found = webdriver.Chrome(options=options, service=service)
    found.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    yield found
    found.quit()


def opened(browser: Any, page: Path, scheme: str = "light") -> Any:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(page.as_uri())
    return browser


def wait(browser: Any, condition: str) -> Any:
    """Waits until an expression of JavaScript is true, and returns its value."""
    end = time.monotonic() + 60
    while not (value := browser.execute_script(f"return {condition}")):
        assert time.monotonic() < end, f"timed out: {condition}"
        time.sleep(0.05)
    return value


def click(browser: Any, selector: str) -> None:
    """Clicks the middle of an element, as a mouse does."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    browser.execute_script(
        "document.querySelector(arguments[0]).closest('section').scrollIntoView()", selector
    )
    middle = """
      const box = document.querySelector(arguments[0]).getBoundingClientRect();
      return [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)]
    """
    actions = ActionBuilder(browser)
    actions.pointer_action.move_to_location(*browser.execute_script(middle, selector)).click()
    actions.perform()


def no_errors(browser: Any) -> None:
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []


def test_every_part_selects_the_call(browser: Any, page: Path) -> None:
    opened(browser, page)
    selected = "document.querySelector('#table tr.selected')?.id"
    # Small dots are drawn last, so the last one is not covered.
    click(browser, "#roofline-plot circle:last-of-type")
    number = browser.execute_script(
        "return document.querySelector('#roofline-plot circle:last-of-type').dataset.call"
    )
    wait(browser, f"{selected} === 'call-{number}'")
    click(browser, ".timeline a[data-call='1'] svg")
    wait(browser, f"{selected} === 'call-1'")
    browser.execute_script("document.getElementById('graph-plot').scrollIntoView()")
    wait(browser, "document.querySelector('#graph-plot .box')")
    # The graph has moved to the call that was selected.
    box = "document.querySelector(\"#graph-plot .box[data-call='1']\").getBoundingClientRect()"
    wait(browser, f"{box}.left > 0 && !d3.active(document.querySelector('#graph-plot svg'))")
    click(browser, "#graph-plot .box[data-call='2'] .frame")
    wait(browser, f"{selected} === 'call-2'")
    # The same call is selected everywhere, and its source line is lit.
    assert browser.execute_script("return document.querySelectorAll('[data-call].selected').length") == 4  # fmt: skip
    assert browser.execute_script("return document.querySelectorAll('.source tr.selected').length") == 1  # fmt: skip
    assert "call-2" in browser.execute_script("return document.querySelector('#details a').href")
    click(browser, "#memory-plot rect[data-call='3']")
    wait(browser, f"{selected} === 'call-3'")
    heights = (
        "[...document.querySelectorAll('#memory-plot rect')].map(bar => bar.height.baseVal.value)"
    )
    drawn = browser.execute_script(f"return {heights}")
    live = browser.execute_script("return data.steps.map(step => step.live)")
    assert len(drawn) == len(live) > 10
    assert np.allclose(np.divide(drawn, max(drawn)), np.divide(live, max(live)), atol=1e-3)
    no_errors(browser)


def test_zoom_filter_and_sort(browser: Any, page: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    opened(browser, page)
    browser.execute_script("document.getElementById('graph-plot').scrollIntoView()")
    wait(browser, "document.querySelector('#graph-plot .box')")
    scale = "d3.zoomTransform(document.querySelector('#graph-plot svg')).k"
    before = browser.execute_script(f"return {scale}")
    plot = browser.execute_script("return document.getElementById('graph-plot')")
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(plot), 0, -300).perform()
    wait(browser, f"{scale} > {before}")
    browser.execute_script("document.querySelector('.timeline').scrollIntoView({block: 'center'})")
    bars = browser.execute_script("return document.querySelector('.timeline')")
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(bars), 0, -300).perform()
    wait(browser, "Number(document.getElementById('zoom').value) > 1.5")
    browser.execute_script(
        "filter.value = 'matmul'; filter.dispatchEvent(new Event('input'));"
        "document.querySelectorAll('thead button')[9].click()"
    )
    assert wait(browser, "document.querySelectorAll('#table tbody tr:not([hidden])').length") == 1
    no_errors(browser)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_look(browser: Any, page: Path, scheme: str, tmp_path: Path) -> None:
    opened(browser, page, scheme)
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, colour[4:-1].split(","))) < 200) == (scheme == "dark")
    for part in ("roofline", "timeline", "memory", "graph", "calls"):
        browser.execute_script(f"document.getElementById('{part}').scrollIntoView()")
        if part == "graph":
            wait(browser, "document.querySelector('#graph-plot .box')")
        shot = tmp_path / f"{part}.png"
        assert browser.save_screenshot(str(shot))
        # A blank page of this size compresses to a tenth of that.
        assert len(zlib.compress(shot.read_bytes())) > 20_000
    # No label leaves its box or bar, and none is cut by it.
    wide = """
      const outside = [];
      const check = (text, frame) => {
        const a = text.getBoundingClientRect(), b = frame.getBoundingClientRect();
        if (a.width && (a.left < b.left - 1 || a.right > b.right + 1)) outside.push(text.textContent);
      };
      for (const box of document.querySelectorAll('#graph-plot .box'))
        for (const text of box.querySelectorAll('text')) check(text, box.querySelector('.frame'));
      for (const bar of document.querySelectorAll('.timeline a'))
        check(bar.querySelector('text'), bar.querySelector('.whole'));
      for (const plot of document.querySelectorAll('#roofline-plot, #memory-plot'))
        for (const text of plot.querySelectorAll('text')) check(text, plot);
      return outside;
    """
    assert browser.execute_script(wide) == []
    names = """
      return [...document.querySelectorAll('#graph-plot .box')].filter(box => {
        const name = box.querySelector('.name'), share = box.querySelector('.share');
        return name.getBoundingClientRect().right > share.getBoundingClientRect().left;
      }).length
    """
    assert browser.execute_script(names) == 0
    no_errors(browser)


def test_page_of_many_calls(browser: Any, page: Path, tmp_path: Path) -> None:
    """The graph of 2000 calls is laid out within two seconds."""
    artifact = open_artifact(page.with_name("resnet18.convoy"))
    step = replace(collect_report(artifact).steps[0], microseconds=2.0)
    steps = tuple(replace(step, after=(max(0, n - 1 - n % 3),) if n else ()) for n in range(2000))
    many = tmp_path / "many.html"
    many.write_text(report_page(replace(collect_report(artifact), times="measured", steps=steps)))
    opened(browser, many)
    browser.execute_script("document.getElementById('graph-plot').scrollIntoView()")
    wait(browser, "document.querySelectorAll('#graph-plot .box').length == 2000")
    longest = browser.execute_script("const t = performance.now(); placed(data.steps); return performance.now() - t")  # fmt: skip
    assert longest < 2000
    no_errors(browser)
