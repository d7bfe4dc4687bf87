"""The report in a real browser: nothing asked of the network, nothing on the console, readable in light and dark."""

from __future__ import annotations

import json
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (BROWSER and DRIVER), reason="Chromium or its driver is missing: apt-get install chromium-driver"
    ),
]

PAGES = [
    "index.html",
    "experiments/exp-0001/index.html",
    "experiments/exp-0002/index.html",
    "tasks/bugfix-001/index.html",
    "runs/exp-0001/run-0001/index.html",
    "runs/exp-0002/run-0001/index.html",
    "runs/index.html",
]

LOW_CONTRAST = """
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
function background(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
    if (colour[3] > 0) throw new Error("half transparent background: " + at.className);
  }
  return [255, 255, 255];
}
const found = new Set();
for (const element of document.body.querySelectorAll("*")) {
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
  const [one, two] = [parse(getComputedStyle(element).color), background(element)].map(luminance);
  const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  if (ratio < 4.5) found.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
}
return [...found];
"""


@pytest.fixture(scope="module")
def chromium():
    """A headless Chromium that logs its console and every request."""
    options = Options()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def _show(chromium, scheme="light", width=1300):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _open(chromium, site, path):
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)
    chromium.get((site.root / path).as_uri())


def _requests(chromium):
    messages = (json.loads(entry["message"])["message"] for entry in chromium.get_log("performance"))
    return [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]


def test_pages_ask_for_nothing_but_their_own_files_and_the_console_stays_empty(chromium, demo_site):
    _show(chromium)
    root = demo_site.root.as_uri()
    for path in PAGES:
        _open(chromium, demo_site, path)
        requests = _requests(chromium)
        assert {f"{root}/assets/report.css", f"{root}/assets/tables.js"} <= set(requests), path
        assert [url for url in requests if not url.startswith((root, "data:"))] == [], path
        assert chromium.get_log("browser") == [], path


def test_hostile_output_runs_nothing(chromium, hostile):
    _show(chromium)
    for page in hostile.pages:
        path = page.path.relative_to(hostile.root)
        _open(chromium, hostile, path)
        assert chromium.get_log("browser") == [], path
        assert all(url.startswith(("file:", "data:")) for url in _requests(chromium)), path
        assert chromium.find_elements(By.TAG_NAME, "img") == [], path
        assert chromium.title.endswith("AK-Bench report")  # an open alert would raise here


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(chromium, demo_site, scheme):
    _show(chromium, scheme)
    for path in PAGES:
        _open(chromium, demo_site, path)
        assert chromium.execute_script(LOW_CONTRAST) == [], path


def test_light_and_dark_really_differ(chromium, demo_site):
    colours = []
    for scheme in ("light", "dark"):
        _show(chromium, scheme)
        _open(chromium, demo_site, "index.html")
        colours.append(chromium.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert len(set(colours)) == 2


@pytest.mark.parametrize("width", [400, 1300])
def test_no_page_scrolls_sideways_as_a_whole(chromium, demo_site, width):
    _show(chromium, width=width)
    for path in PAGES:
        _open(chromium, demo_site, path)
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width, path


def test_the_keyboard_reaches_the_content_first(chromium, demo_site):
    _show(chromium)
    _open(chromium, demo_site, "index.html")
    chromium.switch_to.active_element.send_keys(Keys.TAB)
    skip = chromium.switch_to.active_element
    assert skip.text == "Skip to content"
    skip.send_keys(Keys.ENTER)
    assert chromium.switch_to.active_element.get_attribute("id") == "main"


def test_a_link_behind_a_number_shows_the_runs_meant(chromium, demo_site):
    _show(chromium)
    _open(chromium, demo_site, "index.html")
    chromium.find_element(By.LINK_TEXT, "1 infrastructure error").click()
    shown = chromium.find_element(By.CSS_SELECTOR, "tbody:target")
    assert "run-0013" in shown.text
    assert len(shown.find_elements(By.CSS_SELECTOR, "tr:not(.group)")) == 1


def _cells(chromium, column):
    rows = chromium.find_elements(By.CSS_SELECTOR, "table.runs tbody:first-of-type tr:not(.group)")
    return [row.find_elements(By.XPATH, "*")[column].text for row in rows if row.is_displayed()]


def test_a_table_can_be_sorted_and_says_how(chromium, demo_site):
    _show(chromium)
    _open(chromium, demo_site, "runs/index.html")
    button = chromium.find_element(By.CSS_SELECTOR, "table.runs thead th:nth-child(4) button")
    assert button.text == "Task"
    button.click()
    ascending = _cells(chromium, 3)
    button.click()
    assert ascending == sorted(ascending)
    assert _cells(chromium, 3) == sorted(ascending, reverse=True)
    assert chromium.find_element(By.CSS_SELECTOR, "th[aria-sort='descending']").text.startswith("Task")


def test_a_long_table_can_be_filtered(chromium, demo_site):
    _show(chromium)
    _open(chromium, demo_site, "runs/index.html")
    chromium.find_element(By.CSS_SELECTOR, ".filter input").send_keys("feature-001")
    assert set(_cells(chromium, 3)) == {"feature-001"}
    assert chromium.find_element(By.CSS_SELECTOR, ".filter [role='status']").text == "10 of 41"
