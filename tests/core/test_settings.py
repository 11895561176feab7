"""Where a setting comes from, and what goes before what."""

import pytest

from towpath import App, ConfigurationError, Settings, config


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("TOWPATH_LEASE_SECONDS", "60")
    monkeypatch.setenv("TOWPATH_POOL_SIZE", "7")


def test_what_is_given_goes_before_the_environment_and_that_before_the_default():
    settings = Settings.load(pool_size=3)
    assert (settings.pool_size, settings.lease_seconds, settings.poll_seconds) == (3, 60.0, 1.0)


def test_settings_that_are_not_loaded_do_not_look_at_the_environment():
    assert Settings(pool_size=3).lease_seconds == 30.0


def test_an_app_reads_the_environment_unless_it_is_given_settings():
    assert App("sqlite:///x.db").settings.lease_seconds == 60.0
    assert App("sqlite:///x.db", settings=Settings.load(pool_size=3)).settings == Settings.load(pool_size=3)
    assert App("sqlite:///x.db", settings=Settings()).settings.lease_seconds == 30.0


def test_a_variable_that_is_overruled_need_not_fit(monkeypatch):
    monkeypatch.setenv("TOWPATH_LEASE_SECONDS", "soon")
    assert Settings.load(lease_seconds=5.0).lease_seconds == 5.0
    with pytest.raises(ConfigurationError, match="TOWPATH_LEASE_SECONDS"):
        Settings.load()


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(ConfigurationError, match=r"no setting 'lease_second'; did you mean 'lease_seconds'\?"):
        Settings.load(lease_second=5)


@pytest.mark.parametrize(
    "name",
    [
        "header_seconds", "body_idle_seconds", "max_connections", "max_connections_per_address", "max_payload_bytes",
        "max_upload_bytes", "open_uploads_per_account", "decoded_quota_bytes", "max_recording_hours",
    ],
)  # fmt: skip
def test_what_strangers_can_make_a_server_hold_is_bounded_unless_told_otherwise(name):
    assert getattr(Settings(), name) > 0


def test_a_secret_is_read_from_a_file(tmp_path):
    (tmp_path / "url").write_text("postgresql://shop:secret@db/shop\n")
    found = config.load({"TOWPATH_DATABASE_URL_FILE": str(tmp_path / "url")})
    assert found.database_url == "postgresql://shop:secret@db/shop"
    assert config.names_database({"TOWPATH_DATABASE_URL_FILE": "x"})
    assert config.unknown({"TOWPATH_DATABASE_URL_FILE": "x", "TOWPATH_DATABASE_FILE": "x"}) == ["TOWPATH_DATABASE_FILE"]
    with pytest.raises(ConfigurationError, match="TOWPATH_POOL_SIZE and TOWPATH_POOL_SIZE_FILE are both set"):
        config.load({"TOWPATH_POOL_SIZE": "1", "TOWPATH_POOL_SIZE_FILE": str(tmp_path / "url")})
    with pytest.raises(ConfigurationError, match="TOWPATH_POOL_SIZE_FILE names a file that cannot be read"):
        config.load({"TOWPATH_POOL_SIZE_FILE": str(tmp_path / "nothing")})
    with pytest.raises(ConfigurationError, match="TOWPATH_POOL_SIZE"):
        config.load({"TOWPATH_POOL_SIZE_FILE": str(tmp_path / "url")})
