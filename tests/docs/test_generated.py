"""The lifecycle on the concepts page is the one the engine obeys."""

from tests.docs.generate import CONCEPTS, main, with_lifecycle
from towpath.core.lifecycle import TABLE


def test_the_lifecycle_in_the_docs_is_up_to_date():
    page = CONCEPTS.read_text("utf-8")
    assert page == with_lifecycle(page), "it is not; run: python -m tests.docs.generate"
    assert all(f"| `{verb}` |" in page for verb in TABLE)


def test_regenerating_replaces_what_is_out_of_date_and_nothing_else(tmp_path):
    page = CONCEPTS.read_text("utf-8")
    copy = tmp_path / "concepts.md"
    copy.write_text(page.replace("| `claim` | queued |", "| `claim` | waiting |"), "utf-8")
    assert copy.read_text("utf-8") != page
    main(copy)
    assert copy.read_text("utf-8") == page
