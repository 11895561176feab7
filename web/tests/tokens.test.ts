import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** The contrast of every pair of colours that text or signs are drawn with, by day and by night. */
const css = readFileSync(new URL("../src/styles/tokens.css", import.meta.url), "utf-8");
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, day, night]) => [
    name as string,
    [day as string, night as string] as const,
  ]),
);

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, two: string): number {
  const [light, dark] = [luminance(one), luminance(two)].sort((left, right) => right - left) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ["paper", "sheet", "raised", "sunk", "hover", "accent-wash"];
const TEXT = ["ink", "ink-2", "ink-3", "accent", "bad", "warn", "good", "blue", "purple"];

describe.each([
  ["day", 0],
  ["night", 1],
] as const)("by %s", (_name, side) => {
  const colour = (name: string): string => colours.get(name)?.[side] ?? `no colour ${name}`;

  it.each(TEXT.flatMap((text) => GROUNDS.map((ground) => [text, ground] as const)))(
    "%s can be read on %s",
    (text, ground) => {
      expect(contrast(colour(text), colour(ground))).toBeGreaterThanOrEqual(4.5);
    },
  );

  it.each([
    ["on-accent", "accent"],
    ["on-accent", "accent-strong"],
    ["ink", "bad-wash"],
    ["bad", "bad-wash"],
    ["warn", "warn-wash"],
    ["ink-2", "bad-wash"],
    ["ink-2", "warn-wash"],
    ["ink-2", "good-wash"],
    ["ink-2", "water-soft"],
  ])("%s can be read on %s", (text, ground) => expect(contrast(colour(text), colour(ground))).toBeGreaterThanOrEqual(4.5));

  it.each([
    ["edge", "raised"],
    ["edge", "sheet"],
    ["accent", "sheet"],
    ["accent", "water-soft"],
  ])("%s can be seen against %s", (sign, ground) =>
    expect(contrast(colour(sign), colour(ground))).toBeGreaterThanOrEqual(3),
  );
});
