"""The examples of the library's docstrings run, and every public function of the core has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import gpuscale
import gpuscale.core

OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
MODULES = [found.name for found in pkgutil.walk_packages(gpuscale.__path__, "gpuscale.") if ".book" not in found.name]
CORE = [name for name in MODULES if name.startswith("gpuscale.core.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0


@pytest.mark.parametrize("name", CORE)
def test_every_public_function_of_the_core_has_an_example(name):
    module = importlib.import_module(name)
    public = {key: value for key, value in vars(module).items() if getattr(value, "__module__", "") == name}
    functions = {key: value for key, value in public.items() if inspect.isfunction(value) and key[0] != "_"}
    assert [key for key, value in functions.items() if ">>>" not in (inspect.getdoc(value) or "")] == []
