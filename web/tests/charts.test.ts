import { describe, expect, it } from "vitest";
import { GUTTER, plotOf, type Series } from "@/components/charts/plot";
import { linearScale, timeScale, timeTicks } from "@/components/charts/scale";

describe("scales", () => {
  it("begin at zero and end at a round number above the greatest value", () => {
    expect(linearScale(83).ticks).toEqual([0, 50, 100]);
    expect(linearScale(0).at(0)).toBe(0);
    expect(linearScale(0.4).at(0.4)).toBeLessThanOrEqual(1);
  });

  it("spread times over orders of magnitude only when they are", () => {
    expect(timeScale(100, 800).ticks[0]).toBe(0);
    expect(timeScale(40_000, 100_000).ticks).toEqual([0, 60_000, 120_000]);
    const scale = timeScale(5, 400_000);
    expect(scale.ticks[0]).toBe(1);
    expect(scale.ticks.length).toBeLessThanOrEqual(6);
    expect(scale.at(600_000)).toBeCloseTo(1);
    expect(scale.at(0)).toBe(0);
  });

  it("mark a few round moments, whatever the span", () => {
    for (const span of [60e3, 36e5, 864e5, 7 * 864e5, 90 * 864e5]) {
      const ticks = timeTicks(1_794_787_200_000, 1_794_787_200_000 + span, 6);
      expect(ticks.length).toBeGreaterThanOrEqual(1);
      expect(ticks.length).toBeLessThanOrEqual(7);
    }
  });
});

describe("a plot", () => {
  const times = [0, 60_000, 120_000];
  const plot = (series: Series[]) => plotOf({ times, bucketMs: 60_000, series, width: GUTTER + 300, height: 100 });
  const bars = (name: string, values: number[], shape: Series["shape"] = "bar"): Series => ({
    name,
    values,
    shape,
    tone: "water",
  });

  it("stacks what stands and hangs what failed below the axis", () => {
    const { rects, grid } = plot([bars("good", [4, 0, 1]), bars("partial", [2, 0, 0]), bars("bad", [1, 0, 0], "down")]);
    const axis = grid.find((line) => line.value === 0)?.y ?? 0;
    expect(rects.map((rect) => rect.key)).toEqual(["good0", "partial0", "bad0", "good2"]);
    const [good, partial, bad] = rects;
    expect(good && good.y + good.height).toBeCloseTo(axis);
    expect(partial && partial.y + partial.height).toBeCloseTo(good?.y ?? 0);
    expect(bad?.y).toBeGreaterThan(axis);
    expect(rects.every((rect) => rect.y >= 0 && rect.y + rect.height <= 100)).toBe(true);
  });

  it("breaks a line where nothing was measured and shows a lone point as a dot", () => {
    const [line] = plot([{ name: "p50", values: [5, null, 7], shape: "line", tone: "accent" }]).lines;
    expect(line?.path.match(/M/g)).toHaveLength(2);
    expect(line?.path).not.toContain("L");
    expect(line?.dots.match(/M/g)).toHaveLength(2);
  });

  it("has places for everything when there is nothing", () => {
    const empty = plotOf({ times: [], bucketMs: 60_000, series: [], width: 0, height: 100, logTime: true });
    expect(empty.rects).toEqual([]);
    expect(empty.grid.every((line) => Number.isFinite(line.y))).toBe(true);
  });
});
