"""How well text stands out from what is behind it, as WCAG 2 counts it."""

from typing import Any

from playwright.async_api import Page

_MEASURE = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const read = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(read(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seeThrough = (element) => {
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(".sr, noscript, script, style, option, :disabled, [aria-hidden=true]")) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const ink = [...read(element instanceof SVGElement ? style.fill : style.color)];
    ink[3] *= seeThrough(element);
    const [light, dark] = [luminance(over(ink, ground)), luminance(ground)].sort((left, right) => right - left);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.push({ text: node.textContent.trim().slice(0, 60), ratio: (light + 0.05) / (dark + 0.05), large });
  }
  return found;
}"""


async def measured(page: Page) -> list[dict[str, Any]]:
    """Every text in view with its ratio."""
    found: list[dict[str, Any]] = await page.evaluate(_MEASURE)
    assert len(found) > 2, "hardly any text was found on the page"
    return found


async def too_faint(page: Page) -> list[str]:
    """Texts below 4.5 to 1, or 3 to 1 where they are large."""
    faint = [item for item in await measured(page) if item["ratio"] < (3 if item["large"] else 4.5)]
    return sorted({f"{item['text']!r} has {item['ratio']:.2f} to 1" for item in faint})
