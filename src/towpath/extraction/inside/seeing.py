"""Text in pictures: scanned pages and images. The models come with the library, and nothing is fetched."""

from __future__ import annotations

import importlib.metadata
import io
import math
from typing import Any

from towpath.extraction.inside.asked import Asked, Read
from towpath.extraction.inside.kinds import PDF, Kind
from towpath.extraction.inside.refusals import Refused, damaged

_DPI = 200
_LONGEST_SIDE = 4000
"""Pixels; a larger picture is made smaller: letters on it are large enough then, too."""


class Eyes:
    """Loaded once for a process, with all parts that it would load late."""

    def __init__(self) -> None:
        import cv2
        import numpy
        import PIL.Image
        import pypdfium2
        from rapidocr import RapidOCR

        cv2.setNumThreads(0)
        PIL.Image.init()
        PIL.Image.MAX_IMAGE_PIXELS = None  # counted here, before anything is unpacked
        self._pillow, self._numpy, self._pdfium = PIL.Image, numpy, pypdfium2
        self._ocr = RapidOCR(
            params={
                "EngineConfig.onnxruntime.intra_op_num_threads": 1, "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Global.log_level": "critical",
            }
        )  # fmt: skip
        self._text(_sample())  # it loads its models when a picture needs them
        self._version = importlib.metadata.version("rapidocr")

    def read(self, data: bytes, kind: Kind, asked: Asked) -> Read:
        pages = self._pdf_pages(data, asked) if kind is PDF else self._frames(data, kind, asked)
        return Read(
            kind.name, kind.media_type, "page", pages, "rapidocr", self._version, method="ocr",
            warnings=["the text was read off pictures, and may have mistakes"] if any(text for _, text in pages) else [],
        )  # fmt: skip

    def _pdf_pages(self, data: bytes, asked: Asked) -> list[tuple[int, str]]:
        try:
            document = self._pdfium.PdfDocument(data)
            return [(number, self._text(self._rendered(document[number - 1], asked))) for number in asked.pages]
        except (self._pdfium.PdfiumError, IndexError) as error:
            raise damaged("PDF", str(error)[:200]) from None

    def _rendered(self, page: Any, asked: Asked) -> Any:
        width, height = page.get_size()
        scale = min(_DPI / 72, _LONGEST_SIDE / max(width, height, 1), math.sqrt(asked.most_pixels / max(width * height, 1)))
        return page.render(scale=scale, grayscale=False).to_pil()

    def _frames(self, data: bytes, kind: Kind, asked: Asked) -> list[tuple[int, str]]:
        """A TIFF file may hold many pages, a fax for instance."""
        try:
            with self._pillow.open(io.BytesIO(data)) as picture:
                count = getattr(picture, "n_frames", 1) if kind.media_type == "image/tiff" else 1
                if count > asked.most_pages:
                    raise Refused("too_large", f"the picture has {count:,} pages, and at most {asked.most_pages:,} are read",
                                  "cut it into parts, or raise TOWPATH_EXTRACT_PAGES")  # fmt: skip
                return [(number + 1, self._text(self._frame(picture, number, asked))) for number in range(count)]
        except (OSError, ValueError, SyntaxError, EOFError, KeyError, IndexError, TypeError) as error:
            raise damaged(f"picture ({kind.media_type})", str(error)[:200]) from None

    def _frame(self, picture: Any, number: int, asked: Asked) -> Any:
        if number:
            picture.seek(number)
        width, height = picture.size
        if width * height > asked.most_pixels:
            raise Refused(
                "bomb", f"the picture has {width:,}×{height:,} pixels, and at most {asked.most_pixels:,} are unpacked",
                "send it smaller",
            )  # fmt: skip
        if max(width, height) > _LONGEST_SIDE:
            picture.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
            copy = picture.convert("RGB")
            copy.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
            return copy
        return picture.convert("RGB")

    def _text(self, picture: Any) -> str:
        pixels = self._numpy.asarray(picture.convert("RGB"))[:, :, ::-1]
        found: Any = self._ocr(self._numpy.ascontiguousarray(pixels))
        return _in_lines(found.boxes, found.txts) if found.txts else ""


def _sample() -> Any:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (320, 96), "white")
    ImageDraw.Draw(picture).text((20, 20), "Towpath", fill="black", font=ImageFont.load_default(40))
    return picture


def _in_lines(boxes: Any, texts: Any) -> str:
    """Pieces that stand beside each other are one line, from left to right."""
    pieces = sorted(
        ((float(box[:, 1].mean()), float(box[:, 0].min()), float(abs(box[2][1] - box[0][1])), text)
         for box, text in zip(boxes, texts, strict=True)),
        key=lambda piece: piece[0],
    )  # fmt: skip
    lines: list[list[tuple[float, float, float, str]]] = []
    for piece in pieces:
        if lines and abs(piece[0] - lines[-1][-1][0]) < piece[2] / 2:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return "\n".join(" ".join(piece[3] for piece in sorted(line, key=lambda one: one[1])) for line in lines)
