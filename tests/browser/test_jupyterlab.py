"""A chapter in JupyterLab: its live figure and quiz work there, and the sliders are values in Python and back."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbformat
import pytest
from browser.bookpages import ROOT, until

CHAPTER = "roofline.ipynb"
FIGURE = "live-critical-batch"
# The notebook's own variables are not needed: the kernel knows its widgets.
FIND = f"""
import gc, json
from gpuscale.widgets.card import Card
cards = [o for o in gc.get_objects() if isinstance(o, Card)]
figure = [c for c in cards if json.loads(c.spec or "{{}}").get("id") == "{FIGURE}"][-1]
"""
RUN = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, store_history: false });
  let out = '';
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === 'stream') out += content.text;
    if (header.msg_type === 'error') out += content.traceback.join('\\n');
  };
  await future.done;
  return out;
}"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab of its own: nothing of the user's is read or written, nothing leaves the machine."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: make lab installs it")
    home = tmp_path_factory.mktemp("lab")
    (home / "work").mkdir()
    chapter = nbformat.read(ROOT / "chapters" / CHAPTER, as_version=4)
    chapter.cells = [cell for cell in chapter.cells if cell.cell_type == "code"]
    for cell in chapter.cells:
        cell.outputs = []
    nbformat.write(chapter, home / "work" / CHAPTER)  # JupyterLab takes seconds to typeset the text, which is not ours
    settings = {
        "notebook-extension/tracker": {"windowingMode": "none"},
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    }
    for name, value in settings.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    folders = {f"JUPYTER_{what}_DIR": str(home / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")}
    folders |= {"JUPYTERLAB_SETTINGS_DIR": str(home / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(home / "spaces")}
    environment = {**os.environ, **folders, "IPYTHONDIR": str(home / "ipython"), "GPUSCALE_DIGEST": ""}
    port = free_port()
    options = [f"--port={port}", "--ip=127.0.0.1", "--no-browser", "--ServerApp.port_retries=0", "--allow-root"]
    options += [
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--expose-app-in-browser",
        "--ServerApp.log_level=ERROR",
    ]
    options += [f"--ServerApp.root_dir={home / 'work'}", "--LabApp.extension_manager=readonly", "--LabApp.news_url="]
    with open(home / "log", "w") as log:
        start = "import gpuscale.book; from jupyterlab.labapp import main; main()"
        command = [sys.executable, "-c", start, *options]
        process = subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=log)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(address, process, home / "log")
            yield address
        finally:
            stop(address, process)


def wait_for(address: str, process, log) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{address}/api", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)  # nothing to wait on but the port
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def stop(address: str, process) -> None:
    """Ends the kernels first, then the server."""
    try:
        request = urllib.request.Request(f"{address}/api/shutdown", method="POST")
        urllib.request.urlopen(request, timeout=10).close()
        process.wait(15)
    except (OSError, subprocess.TimeoutExpired):
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def notebook(lab, visiting):
    """The chapter, opened in JupyterLab and run."""
    with visiting(viewport={"width": 1400, "height": 1000}) as page:
        page.set_default_timeout(45_000)
        page.goto(f"{lab}/doc/tree/{CHAPTER}")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.wait_for_function(
            "() => window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
        )
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        page.wait_for_selector(f".live:has-text('{title()}') .sliders input")
        page.wait_for_selector("form.quiz .btn.main")
        yield page


def title() -> str:
    return "Time of a matrix multiplication against its batch"


def python(page, code: str) -> str:
    """What the notebook's kernel prints."""
    return page.evaluate(RUN, FIND + code).strip()


def figure(page):
    return page.locator(f".jp-OutputArea-output .live:has-text('{title()}')").first


def test_a_slider_moved_by_keyboard_is_a_value_in_python(notebook):
    slider = figure(notebook).locator(".sliders input").first
    assert python(notebook, "print(figure.values['B'])") == "64.0"
    sentence = figure(notebook).locator(".drawn .state").inner_text()
    slider.focus()
    notebook.keyboard.press("ArrowRight")
    notebook.keyboard.press("ArrowRight")
    shown = slider.get_attribute("aria-valuetext")
    assert shown != "64" and figure(notebook).locator(".drawn .state").inner_text() != sentence
    until(notebook, lambda: python(notebook, "print(f\"{figure.values['B']:g}\")") == shown)
    assert slider.evaluate("(el) => document.activeElement === el")


def test_a_value_set_in_python_moves_the_slider(notebook):
    slider = figure(notebook).locator(".sliders input").first
    assert python(notebook, "figure.values = {**figure.values, 'B': 4096}") == ""
    notebook.wait_for_function("(el) => el.getAttribute('aria-valuetext') === '4,096'", arg=slider.element_handle())
    assert "[4,096, 4,096] ×" in figure(notebook).locator(".drawn .state").inner_text()


def test_a_quiz_card_grades_in_the_notebook(notebook):
    form = notebook.locator("form.quiz:has(.answer input)").first
    field, button = form.locator(".answer input"), form.locator(".btn.main")
    from gpuscale import quiz

    number = int(form.locator(".prompt b").first.inner_text().rstrip("."))
    one = quiz.load_set("roofline")[number]
    unit = one.question.base
    field.fill("foo")
    button.click()
    assert form.get_attribute("data-result") == "unclear"
    field.fill(f"{one.question.value(one.question.expr):.6g} {'' if unit == '1' else unit}")
    field.press("Enter")
    notebook.wait_for_function("(form) => form.dataset.result === 'right'", arg=form.element_handle())
    assert "Right." in form.locator(".feedback").inner_text()
    score = notebook.locator(".score[data-set=roofline] [role=status]").first
    assert score.inner_text().startswith("1 of")


def test_all_cells_ran_and_our_widgets_said_nothing(notebook):
    ours = [
        said for said in notebook.errors if any(word in said.lower() for word in ("gpuscale", "anywidget", "traitlet"))
    ]
    assert ours == []
    assert notebook.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    assert notebook.outside == []
