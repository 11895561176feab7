"""Finds the app a user names as module:app, or says exactly what is missing."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from towpath.core.errors import ConfigurationError, TowpathError
from towpath.engine.app import App


def load_app(path: str) -> App:
    """`shop.jobs:app` is the name `app` in the module shop/jobs.py. The current directory can be imported from."""
    module_name, colon, name = path.partition(":")
    if not (module_name and colon and name):
        raise ConfigurationError(f"--app takes module:name, such as shop.jobs:app, got {path!r}")
    module = _import(module_name)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ConfigurationError(f"{module_name} has no {name!r}; {_apps_in(module)}")
        found = getattr(found, part)
    if not isinstance(found, App):
        raise ConfigurationError(f"{path} is a {type(found).__name__}, not an App; {_apps_in(module)}")
    return found


def _import(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            message = (
                f"there is no module {error.name!r} to import {name} from; run this where it can be found ({here} was tried)"
            )
            raise ConfigurationError(message) from error
        raise ConfigurationError(f"{name} needs the module {error.name!r}, which is not installed here") from error
    except TowpathError:
        raise
    except Exception as error:
        message = f"importing {name} failed with {type(error).__name__}: {error}; towpath --debug shows where"
        raise ConfigurationError(message) from error


def _apps_in(module: object) -> str:
    names = sorted(name for name, value in vars(module).items() if isinstance(value, App))
    return f"it has {', '.join(names)}" if names else "it has no App at all: app = App() makes one"
