"""A browser, the page as `dermis view` serves it, and a watch on the browser's console."""

import os
import re
import subprocess

import pytest
from playwright.sync_api import sync_playwright

PROGRAM = os.environ["DERMIS"]
SITE = os.environ["DERMIS_SITE"]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as play:
        # Rendered by the CPU: a test machine has no GPU, and a container has no sandbox of its own.
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=os.environ["CHROMIUM"], args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def url():
    command = [PROGRAM, "view", "--no-open", "--dir", SITE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield re.match(r"http://127\.0\.0\.1:\d+/", server.stdout.readline()).group()
        server.kill()


def watched(page):
    """The page, with what it complains of in `page.complaints`."""
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda line: line.type in ("error", "warning") and page.complaints.append(f"{line.text} ({line.location['url']})"))
    # Ignores the browser's own warnings about rendering without a GPU.
    page.own_complaints = lambda: [text for text in page.complaints if "GPU stall" not in text and "GL Driver" not in text]
    return page


@pytest.fixture(scope="session")
def one_page(browser, url):
    page = watched(browser.new_page(viewport={"width": 1200, "height": 760}))
    page.goto(url)
    page.wait_for_selector("body[data-shown]")
    yield page
    page.close()


@pytest.fixture
def page(one_page):
    """One page for all tests, which go to their own states: so it is also one that goes on for long."""
    one_page.complaints.clear()
    one_page.click("#reset")
    yield one_page
    assert one_page.own_complaints() == []
