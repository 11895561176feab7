"""The public surface changes on purpose or not at all."""

import inspect

import pytest

import towpath

NAMES = {
    "App",
    "BlobStore",
    "Children",
    "ChildrenFailed",
    "ConfigurationError",
    "Context",
    "DEFAULT_PRIORITY",
    "DEFAULT_TENANT",
    "Deferred",
    "Done",
    "EncodingError",
    "Event",
    "Fatal",
    "HistoryMismatch",
    "InLine",
    "IsolatedContext",
    "Job",
    "JobCancelled",
    "JobFailed",
    "JobNotFound",
    "JobRef",
    "LeaseLost",
    "NameTaken",
    "NotRequeueable",
    "Order",
    "OrderInput",
    "Partial",
    "Parts",
    "PayloadTooLarge",
    "Price",
    "Projection",
    "Prospect",
    "ProviderJob",
    "ProviderState",
    "QueueNotFound",
    "RateLimited",
    "Reading",
    "ResultTimeout",
    "Retry",
    "RetryLater",
    "Row",
    "ScheduleNotFound",
    "SchemaInvalid",
    "Settings",
    "Slice",
    "State",
    "Step",
    "StepNameReused",
    "StoreUnavailable",
    "StreamReset",
    "Subject",
    "SyncApp",
    "SyncContext",
    "TowpathError",
    "Transaction",
    "Transient",
    "UnknownOperation",
    "WaitRefused",
    "WaitTimeout",
    "Why",
    "Work",
    "__version__",
    "first_id_at",
    "from_json",
    "moment",
    "new_id",
    "outcome_from_envelope",
    "plain_text",
    "to_json",
}


def test_the_public_names_are_these_and_no_others():
    assert set(towpath.__all__) == NAMES
    assert len(towpath.__all__) == len(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES - {"__version__"}))
def test_every_public_name_says_what_it_is_for(name):
    thing = getattr(towpath, name)
    assert inspect.getdoc(thing)


def test_every_error_can_be_caught_as_one():
    errors = [thing for thing in vars(towpath).values() if inspect.isclass(thing) and issubclass(thing, Exception)]
    assert len(errors) > 15
    assert all(issubclass(error, towpath.TowpathError) for error in errors)


@pytest.mark.parametrize(
    "verb",
    [
        "open",
        "close",
        "operation",
        "resource",
        "map_exception",
        "schedule",
        "add_slice",
        "enqueue",
        "enqueue_many",
        "transaction",
        "get",
        "list",
        "steps",
        "payload",
        "events",
        "result",
        "explain",
        "workers",
        "inbox",
        "queues",
        "cancel",
        "requeue",
        "reprioritize",
        "signal",
        "delete",
        "run_worker",
    ],
)
def test_the_app_keeps_its_verbs(verb):
    assert hasattr(towpath.App, verb)


@pytest.mark.parametrize(
    "verb",
    [
        "emit",
        "progress",
        "meter",
        "step",
        "parallel",
        "gather",
        "spawn",
        "sleep",
        "wait_for",
        "enqueue",
        "budget",
        "id",
        "operation",
        "queue",
        "tenant",
        "parent_id",
        "attempt",
        "trace",
        "cancelled",
        "resources",
        "blobs",
    ],
)
def test_the_context_keeps_its_verbs(verb):
    assert hasattr(towpath.Context, verb)
