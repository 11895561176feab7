"""--app module:name."""

import pytest


@pytest.fixture
def modules(tmp_path):
    (tmp_path / "broken_shop.py").write_text("import nothing_of_the_kind\n")
    (tmp_path / "angry_shop.py").write_text("1 / 0\n")
    (tmp_path / "empty_shop.py").write_text("")
    (tmp_path / "local_shop.py").write_text(
        "from towpath import App\napp = App()\nclass shelf:\n    app = app\n@app.operation('sweep', queue='home')\n"
        "async def sweep(ctx): ...\n"
    )


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("shop", "--app takes module:name"),
        (":app", "--app takes module:name"),
        ("no_such_shop:app", "there is no module 'no_such_shop'"),
        ("tests.cli.no_such_shop:app", "there is no module 'tests.cli.no_such_shop'"),
        ("tests.cli.shop:application", "has no 'application'; it has app"),
        ("tests.cli.shop:not_an_app", "is a str, not an App; it has app"),
        ("empty_shop:app", "it has no App at all"),
        ("broken_shop:app", "needs the module 'nothing_of_the_kind'"),
        ("angry_shop:app", "importing angry_shop failed with ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("command", [["worker"], ["enqueue", "add"], ["migrate"]], ids=" ".join)
def test_an_app_that_cannot_be_found_is_told_with_what_is_missing(towpath, modules, path, hint, command):
    result = towpath(*command, "--app", path, code=2)
    assert hint in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["app", "shelf.app"])
def test_an_app_is_found_in_the_current_directory(towpath, modules, name):
    job = towpath.json("enqueue", "sweep", "--app", f"local_shop:{name}", "--database", towpath.url)
    assert job["queue"] == "home"
