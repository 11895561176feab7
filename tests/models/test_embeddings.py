"""Vectors of text."""

import subprocess
import sys

import numpy as np

from towpath.models.embeddings import DIMENSIONS, embed


def test_near_in_meaning_is_near_in_direction() -> None:
    cat, kitten, tax = embed(["The cat sleeps on the sofa.", "A kitten is napping on the couch.", "Tax rates rose in May."])
    assert cat @ kitten > cat @ tax + 0.1


def test_rows_have_length_one_or_are_zero_where_nothing_is_said() -> None:
    rows = embed(["Hello", "", "   ", "x" * 10_000, "word " * 5000])
    assert rows.shape == (5, DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 0, 1, 1], atol=1e-5)
    assert embed([]).shape == (0, DIMENSIONS)


def test_a_text_has_the_same_vector_in_any_company() -> None:
    alone = embed(["The bridge is closed."])[0]
    assert np.allclose(embed(["The bridge is closed.", "long " * 3000])[0], alone, atol=1e-5)


def test_the_programs_log_is_left_as_it_is() -> None:
    """In a process of its own: the library does its mischief when it is first imported."""
    program = (
        "import logging; from towpath.models.embeddings import embed; embed(['x']); root = logging.getLogger(); "
        "print(root.handlers, root.level)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == f"[] {30}"


def test_importing_the_room_loads_none_of_its_heavy_libraries() -> None:
    program = (
        "import sys; from towpath.models import speech, windows, chat, summaries, embeddings, remote_speech, moonshine, "
        "whisper, inventory, pulling; heavy = {'numpy', 'moonshine_voice', 'wordllama', 'httpx', 'webrtcvad'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
