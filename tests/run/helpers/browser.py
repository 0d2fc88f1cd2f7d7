"""A headless Chromium for tests: pages at a width and in a colour scheme, what they complain of, what they ask for."""

import importlib
import json
import pathlib
import shutil
import subprocess
import tempfile

import job
import pytest

# Without its sandbox: root and containers do not get one, and the pages are our own.
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update", "--no-first-run", "--force-color-profile=srgb"]
LIMIT = 300  # seconds


class Browser:
    """One browser, for many pages."""

    def __init__(self):
        self._webdriver = pytest.importorskip("selenium.webdriver")  # with REPORT=no `make test-deps` installs none
        self._home = tempfile.mkdtemp(prefix="epop-browser-")
        self._driver = self._started()
        self._driver.set_page_load_timeout(LIMIT)
        self._driver.set_script_timeout(LIMIT)

    def _options(self, attempt):
        options = self._webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for option in [*OPTIONS, f"--user-data-dir={self._home}/{attempt}"]:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        return options

    def _started(self, attempts=4):
        """A busy machine may be too slow for the time that the browser's driver gives both to start. What was begun may still
        have its directory, and a second browser would not start there."""
        for attempt in range(attempts):
            service = self._webdriver.chrome.service.Service(shutil.which("chromedriver") or "chromedriver")
            try:
                return self._webdriver.Chrome(service=service, options=self._options(attempt))
            except importlib.import_module("selenium.common.exceptions").WebDriverException:
                service.stop()
                if attempt == attempts - 1:
                    raise

    def close(self):
        self._driver.quit()
        shutil.rmtree(self._home, ignore_errors=True)

    def open(self, path, width=1000, scheme="light"):
        """Loads a file; what earlier pages said is forgotten."""
        self.complaints(), self.requests()
        self._cdp("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
        self.prefer(scheme)
        self.visit(pathlib.Path(path).resolve().as_uri())

    def visit(self, url):
        self._driver.get(url)

    def prefer(self, scheme):
        self._cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width):
        self._cdp("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)

    def settle(self):
        """Until the page has seen what was changed, and has been drawn again."""
        self.run_async("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def run(self, script, *arguments):
        """What the script, a function's body, returns."""
        return self._driver.execute_script(script, *arguments)

    def run_async(self, script, *arguments):
        """What the script gives to the function that is its last argument."""
        return self._driver.execute_async_script(script, *arguments)

    def complaints(self):
        """What the console has shown since the last call: errors, refusals of the page's own policy, and all else; but
        for what Chromium says of the page that it begins with, on a busy machine."""
        messages = [entry["message"] for entry in self._driver.get_log("browser")]
        return [message for message in messages if not message.startswith("chrome://")]

    def requests(self):
        """The addresses that pages have asked for since the last call, without what is in the page itself."""
        messages = [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]
        urls = [it["params"]["request"]["url"] for it in messages if it["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

    def picture(self):
        """The page, from top to bottom: a PNG in base64."""
        return self._cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"]

    def _cdp(self, command, **parameters):
        return self._driver.execute_cdp_cmd(command, parameters)

    def axe(self):
        """What axe-core, which the report's build has fetched, finds on the page: its violations, and what passes."""
        modules = subprocess.run([job.ROOT / "report/web/modules.sh"], capture_output=True, text=True, check=True, timeout=600)
        self.run((pathlib.Path(modules.stdout.strip()) / "axe-core/axe.min.js").read_text())
        return self.run_async("axe.run({ resultTypes: ['violations'] }).then(arguments[0])")
