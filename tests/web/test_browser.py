"""discotext serve in a real browser: typed, clicked and by keyboard alone, narrow and dark, with hostile text."""

import importlib.util
import re
import shutil
from pathlib import Path
from urllib.parse import quote, urlencode

import numpy as np
import pytest

for needed in ("starlette", "uvicorn", "selenium"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("chromium or chromium-driver is not installed", allow_module_level=True)

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.web.page_server import TEXT, Opinions, attacks_running, serving, wait_until  # noqa: E402

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1200,900"
).split()
PHONE, DESKTOP = (375, 800), (1200, 900)
pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """One browser for all tests, with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield found
    found.quit()


class Page:
    """The page in the browser, as its user meets it."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def run(self, script, *given):
        return self.driver.execute_script(script, *given)

    def open(self, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(self.address + fragment)
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def wait(self, condition):
        assert wait_until(lambda: self.run(f"return Boolean({condition})")), condition

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.texts(f"#{name}")[0]

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)", selector)

    def visible(self, name):
        return self.find(name).is_displayed()

    def click(self, selector, number=0):
        self.driver.find_elements(By.CSS_SELECTOR, selector)[number].click()

    def press(self, *keys):
        """Keys to whatever has the focus."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def focus(self):
        """The id, or else the text, of the element with the focus."""
        return self.run("const it = document.activeElement; return it.id || it.textContent")

    def write(self, text):
        """Type a text, and wait for the answer."""
        self.find("text").send_keys(text)
        self.read()

    def read(self):
        """Wait until the words on the page are those of the text."""
        self.wait("!document.getElementById('attack').disabled")
        self.wait("document.getElementById('words').textContent === document.getElementById('text').value")

    def look_up(self, text="", **kept):
        """Open the page by a link, and wait for the answer."""
        self.open("#" + urlencode({"text": text, **kept}, quote_via=quote))
        self.read()

    def start(self, button):
        """Click, and wait until it has ended."""
        self.find(button).click()
        self.ended()

    def put(self, name, value):
        """Put a value into a field, as a paste or a slider does."""
        self.run(
            "const it = document.getElementById(arguments[0]); it.value = arguments[1];"
            "it.dispatchEvent(new Event('input'))",
            name,
            value,
        )

    def ended(self):
        self.wait("document.getElementById('stop').hidden && !document.getElementById('result').hidden")

    def swaps(self):
        return self.run(
            "return [...document.querySelectorAll('.word.changed')].map("
            "one => [one.querySelector('del').textContent, one.querySelector('ins').textContent])"
        )

    def resize(self, size, dark=False):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                          {"name": "prefers-reduced-motion", "value": "reduce"}]},
        )  # fmt: skip


@pytest.fixture
def page(driver, server, victim):
    found = Page(driver, server.address)
    found.resize(DESKTOP)
    driver.get_log("browser")
    found.open()
    yield found
    # What the page was refused (a script, a style, a request) or did wrong stands here; answers of status 4xx and 5xx
    # are listed too, and belong to tests about faults.
    severe = [one["message"] for one in driver.get_log("browser") if one["level"] == "SEVERE"]
    assert [one for one in severe if "the server responded with a status of" not in one] == []


def test_a_text_is_answered_as_it_is_typed(page, victim):
    page.write(TEXT)
    assert page.text("prediction") == "Prediction: positive"
    bars = page.texts("#bars li")
    assert [one.lstrip("● ").rstrip("0123456789.−") for one in bars] == ["negative", "positive"]
    assert bars[1].startswith("● ")  # which is predicted is said by a mark, and not by colour alone
    words = page.texts(".word")
    assert words == ["good", "film", "plot", "good", "bad", "fine"]
    assert page.text("count") == "16 words, of which 6 may change."
    assert page.text("budget-text") == "3 of 6"
    page.find("text").send_keys(Keys.CONTROL, "a")
    page.find("text").send_keys(Keys.DELETE)
    page.wait("document.getElementById('prediction').textContent === 'Prediction'")
    assert not page.find("attack").is_enabled()
    assert not page.visible("words-section")


@pytest.mark.parametrize(
    ("text", "most", "shown", "note"),
    [
        (TEXT, "6", "3 of 6", "19 % of the text. Only 6 of its 16"),
        ("good " + "the " * 19, "1", "1 of 1", "The default, 20 %, would be 4 words."),
        ("good film", "2", "1 of 2", "50 % of the text."),
        ("the music", "1", "–", "No word"),
    ],
)
def test_the_slider_ends_at_the_words_that_can_change(page, text, most, shown, note):
    page.write(text)
    slider = page.find("budget")
    assert slider.get_property("max") == most
    assert page.text("budget-text") == shown
    assert note in page.text("budget-note")
    assert slider.get_attribute("aria-describedby") == "budget-note"
    assert slider.is_enabled() is (shown != "–")
    if slider.is_enabled():
        slider.send_keys(Keys.HOME, Keys.END)
        assert page.text("budget-text") == f"{most} of {most}"
        assert slider.get_attribute("aria-valuetext") == f"{most} of {most} words with candidates"
        assert "default" not in page.text("budget-note")


def test_an_attack_recolours_words_and_says_how_it_ended(page):
    page.write(TEXT)
    page.start("attack")
    assert page.text("sentence").startswith("Flipped to negative by 2 changed words")
    assert len(page.swaps()) == 2
    assert {old for old, _ in page.swaps()} <= {"good", "fine"}
    labels = [one.get_attribute("aria-label") for one in page.driver.find_elements(By.CSS_SELECTOR, ".word.changed")]
    assert all(", instead of " in one for one in labels)
    assert page.visible("curve")
    assert page.run("return document.getElementById('plot').getAttribute('aria-label')").startswith("Margin from ")
    after = page.run("return document.querySelector('#after-bars .best').textContent")
    assert after.startswith("● negative")
    page.find("back").click()
    assert page.swaps() == []
    page.find("back").click()
    assert len(page.swaps()) == 2
    page.find("use").click()
    page.wait("document.getElementById('prediction').textContent === 'Prediction: negative'")
    assert not page.visible("result")


def test_stopping_and_typing_end_an_attack(page, victim):
    page.write(TEXT)
    victim.delay = 0.1
    page.find("solver").send_keys("beam")
    page.find("attack").click()
    page.wait("!document.getElementById('curve').hidden")
    page.find("stop").click()
    assert page.text("sentence") == "Stopped."
    assert not page.visible("stop")
    assert page.focus() == "attack"
    assert wait_until(lambda: not attacks_running())
    page.find("attack").click()
    page.wait("!document.getElementById('stop').hidden")
    page.find("text").send_keys("!")
    assert wait_until(lambda: not attacks_running())
    victim.delay = 0.0
    page.read()
    assert not page.visible("result")


def test_a_word_shows_its_candidates_and_one_can_be_tried_and_undone(page):
    page.write(TEXT)
    page.click(".word")
    assert page.text("candidates-title") == "Candidates for “good”"
    found = page.texts("#candidate-list button")
    assert [re.fullmatch(r"(\w+?)\d+ %", one)[1] for one in found] == ["great", "fine", "nice"]
    page.click("#candidate-list button", 2)
    changed = TEXT.replace("A good", "A nice")
    page.wait("document.querySelector('.word.changed')")
    assert page.find("text").get_property("value") == changed
    assert page.swaps() == [["good", "nice"]]
    assert page.text("by-hand-text") == "Changed by hand: 1 word (6 %)."
    page.find("undo").click()
    page.wait("!document.querySelector('.word.changed')")
    assert page.find("text").get_property("value") == TEXT


def test_solvers_are_compared_in_a_table(page):
    page.write(TEXT)
    page.start("compare")
    rows = page.run(
        "return [...document.querySelectorAll('#rows tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    solvers = [row for row in rows if len(row) == 5]
    assert [row[0] for row in solvers] == ["disco", "greedy", "left-to-right", "beam"]
    assert all(row[1] == "⇄ yes" and row[2] == "2" and row[4].endswith(" s") for row in solvers)
    assert sum("→" in row[0] for row in rows if len(row) == 1) == 4
    assert page.text("sentence") == "4 of 4 solvers flipped the label."


def test_what_is_proved_is_said_and_marked_and_what_was_not_tested_is_not(page):
    for kept, beginning, marks in (
        ({"text": TEXT, "words": 1}, "Robust: ", ["sentence", "held"]),
        ({"text": TEXT, "words": 3}, "Broken: ", ["sentence", "flipped"]),
        ({"text": "the music is here"}, "Nothing to prove: ", ["sentence"]),
        ({"text": "good film plot " * 8, "words": 3, "solver": "greedy"}, "Open: ", ["sentence"]),
    ):
        page.look_up(**kept)
        page.run("document.getElementById('passes').value = '100'")
        page.start("prove")
        assert page.text("sentence").startswith(beginning)
        assert page.find("sentence").get_attribute("class").split() == marks
    assert re.match(r"Attack and proof took (\d+) passes \(\1 queries\), .*solver greedy\.$", page.text("progress"))


# --- by keyboard alone


def test_everything_can_be_done_by_keyboard_alone(page, victim):
    assert page.focus() == "text"
    page.press(*TEXT)
    page.wait("document.querySelectorAll('.word').length === 6")
    page.press(Keys.TAB)
    assert page.focus() == "copy"
    page.press(Keys.TAB)
    assert page.focus() == "good"  # the words are one stop; arrow keys go from one to the next
    page.press(Keys.ARROW_RIGHT)
    assert page.focus() == "film"
    page.press(Keys.END)
    assert page.focus() == "fine"
    page.press(Keys.ARROW_RIGHT)
    assert page.focus() == "good"
    page.press(Keys.ENTER)
    assert page.focus().startswith("great")
    page.press(Keys.ESCAPE)
    assert page.focus() == "good"
    assert not page.visible("candidates")
    page.press(Keys.ENTER, Keys.TAB, Keys.TAB, Keys.ENTER)  # the third candidate
    page.wait("document.querySelector('.word.changed') === document.activeElement")
    page.press(Keys.TAB)
    assert page.focus() == "undo"
    page.press(Keys.ENTER)
    page.read()  # what was undone is read again
    assert page.focus() == "text"
    stops = ["copy", "good", "budget", "solver", "attack", "prove", "compare", "Options"]
    for stop in stops:
        page.press(Keys.TAB)
        assert page.focus().strip().startswith(stop)
        style = "const it = getComputedStyle(document.activeElement); return it.outlineStyle + it.outlineWidth"
        assert page.run(style) == "solid3px", stop
    page.find("budget").send_keys(Keys.ARROW_RIGHT)
    assert page.text("budget-text") == "4 of 6"
    page.run("document.getElementById('attack').focus()")
    page.press(Keys.ENTER)
    page.ended()
    assert page.text("sentence").startswith("Flipped")
    assert page.focus() == "attack"  # the focus is not lost while it runs
    victim.delay = 0.1
    page.run("document.getElementById('text').focus()")
    webdriver.ActionChains(page.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    page.wait("!document.getElementById('stop').hidden")
    page.press(Keys.ESCAPE)
    page.wait("document.getElementById('sentence').textContent === 'Stopped.'")


# --- narrow and dark, and what axe says


def states(page):
    """The page in all its states, one after the other."""
    yield "empty"
    page.write(TEXT + " A_word_that_is_far_too_long_for_a_narrow_window_and_cannot_be_broken_anywhere_at_all")
    yield "a text"
    page.click(".word")
    yield "candidates"
    page.find("close").click()
    page.start("attack")
    yield "an attack"
    page.run("document.getElementById('more').open = true")
    page.start("compare")
    yield "a comparison"
    page.start("prove")
    yield "a proof"
    page.find("text").send_keys("x" * 100)
    page.put("text", "a " * 3000)
    page.wait("!document.getElementById('problem').hidden")
    yield "a problem"


def axe():
    """The script of axe-core, which the package axe-core-python carries."""
    found = importlib.util.find_spec("axe_core_python")
    if found is None:
        pytest.skip("axe-core-python is not installed")
    return (Path(found.submodule_search_locations[0]) / "axe.min.js").read_text()


@pytest.mark.parametrize(("size", "dark"), [(PHONE, True), (DESKTOP, False)], ids=["phone, dark", "desktop, light"])
def test_it_fits_a_phone_and_axe_finds_nothing_serious(page, size, dark):
    page.resize(size, dark)
    page.open()
    script = axe()
    for state in states(page):
        assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0, state
        page.run(script)
        found = page.driver.execute_async_script(
            "axe.run(document, {resultTypes: ['violations']}).then(arguments[arguments.length - 1])"
        )
        assert [one for one in found["violations"] if one["impact"] in ("serious", "critical")] == [], state
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, background.removeprefix("rgb(").removesuffix(")").split(",")))
    assert (brightness < 200) is dark


# --- what goes wrong

HOSTILE = [
    "<script>window.hacked = 1</script> a good <b onmouseover=hacked=1>film</b>",
    "<img src=x onerror='window.hacked=1'> good \"'><svg onload=window.hacked=1>",
    "</textarea></script><!-- {{good}} ${hacked=1} `film` &lt;b&gt; &#60;",
    "good \u202e film \u0000 \u2028 plot \ufeff 👍🏽 \u0301\u0301",
]


def test_hostile_text_stays_text(page):
    # What a browser puts into a field is kept as it is, but for NUL and line ends.
    before = page.run("return document.querySelectorAll('script, img, b').length")
    for text in HOSTILE:
        page.look_up(text)
        page.read()
        assert page.find("text").get_property("value") == text
        page.start("attack")
        page.start("compare")
        assert page.run("return typeof window.hacked") == "undefined"
        assert page.run("return document.querySelectorAll('script, img, b').length") == before


def test_hostile_names_of_classes_stay_text_and_one_can_be_the_target(driver):
    class Hostile(Opinions):
        name = "<img src=x onerror=window.hacked=1>"
        labels = ("<script>window.hacked=1</script>", "<b>good</b>", "neutral")

        def scores(self, texts):
            return np.hstack([super().scores(texts), np.full((len(texts), 1), 1.0)])

    with serving(Hostile()) as other:
        page = Page(driver, other.address)
        page.look_up(TEXT, words=16, target=0)
        assert page.text("victim") == Hostile.name
        assert page.text("prediction") == "Prediction: <b>good</b>"
        assert page.visible("target-field")
        assert page.find("target").get_property("value") == "0"
        page.start("attack")
        assert not page.text("sentence").startswith("Flipped to neutral")
        page.find("target").send_keys("neutral")
        page.start("attack")
        assert page.text("sentence").startswith("Flipped to neutral")
        page.wait("location.hash.includes('target=2')")
        assert page.run("return typeof window.hacked") == "undefined"


def test_a_victim_that_dies_is_one_sentence_and_the_page_goes_on(page, victim):
    page.write(TEXT)
    victim.fault = SystemExit("out of order")
    page.find("attack").click()
    page.wait("document.getElementById('sentence').textContent === 'the victim ended: SystemExit: out of order'")
    page.find("text").send_keys("!")
    page.wait("!document.getElementById('problem').hidden")
    assert page.text("problem") == "the victim ended: SystemExit: out of order"
    victim.fault = None
    page.find("text").send_keys("!")
    page.wait("!document.getElementById('attack').disabled")
    assert not page.visible("problem")


def test_a_server_that_has_ended_is_one_sentence(driver):
    with serving(Opinions()) as other:
        page = Page(driver, other.address)
        page.look_up("a good film")
    page.find("text").send_keys("!")
    page.wait("!document.getElementById('problem').hidden")
    assert page.text("problem").startswith("The server does not answer; start `discotext serve` again")
    driver.get_log("browser")


# --- the link


def test_the_link_brings_the_same_state_back(page, driver, victim):
    text = "A good film & a #plot?\nIs it 100 % + “good”? 👍🏽"
    page.look_up(text)
    page.put("budget", 4)
    page.find("solver").send_keys("beam")
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    page.find("copy").click()
    page.wait("document.getElementById('copy').textContent === 'Link copied'")
    link = driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert link == driver.current_url
    assert link.startswith(page.address + "#")
    page.start("attack")
    shown = page.text("sentence"), page.swaps()
    page.open(link.removeprefix(page.address))
    page.read()
    assert page.find("text").get_property("value") == text
    assert page.find("solver").get_property("value") == "beam"
    assert page.text("budget-text").startswith("4 of ")
    page.start("attack")
    assert (page.text("sentence"), page.swaps()) == shown


def test_a_broken_link_opens_the_page(page):
    for fragment in ("#words=-3&solver=nothing&target=99&text=good", "#%", "#words=x", "#text=%ff"):
        page.open(fragment)
        page.run("document.getElementById('text').value = ''")
        page.write("a good film")
        assert page.find("solver").get_property("value") == "auto"
        assert not page.visible("problem")
