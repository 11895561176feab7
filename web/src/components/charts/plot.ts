/** The geometry of a chart over time: figures in, places and paths out. */
import { linearScale, timeScale, timeTicks, type Scale } from "@/components/charts/scale";
import { tickLabel } from "@/format/time";

export interface Series {
  name: string;
  values: (number | null)[];
  /** Bars stand on the axis or hang below it (`down`); the others are lines. */
  shape: "bar" | "down" | "line" | "thin" | "dashed";
  tone: "water" | "accent" | "ink" | "bad" | "warn" | "faint";
  /** The figure for the whole window, shown while no point is chosen. */
  total?: string;
}

export interface PlotOptions {
  times: readonly number[];
  bucketMs: number;
  series: readonly Series[];
  width: number;
  height: number;
  /** Times over orders of magnitude. */
  logTime?: boolean;
}

export interface Rect {
  key: string;
  x: number;
  y: number;
  height: number;
  tone: Series["tone"];
}

export interface Line {
  series: Series;
  path: string;
  /** Points without neighbours, which a line would not show. */
  dots: string;
}

export interface Plot {
  step: number;
  barWidth: number;
  grid: { value: number; y: number }[];
  rects: Rect[];
  lines: Line[];
  moments: { x: number; label: string }[];
}

/** Room for the labels left of the plot. */
export const GUTTER = 46;

interface Frame {
  step: number;
  scale: Scale;
  /** Where zero lies, and how much hangs below it. */
  axis: number;
  below: number;
  lowest: number;
}

export function plotOf(options: PlotOptions): Plot {
  const frame = frameOf(options);
  const { step, scale } = frame;
  const indexes = options.times.map((_, index) => index);
  const lines = options.series.filter((one) => !isBar(one));
  return {
    step,
    barWidth: Math.max(1, step - (step > 5 ? 1.5 : 0.5)),
    grid: scale.ticks.map((value) => ({ value, y: height(frame, value) })),
    rects: indexes.flatMap((index) => [...standing(options, frame, index), ...hanging(options, frame, index)]),
    lines: lines.map((series) => ({ series, path: pathOf(series, frame), dots: dotsOf(series, frame) })),
    moments: momentsOf(options),
  };
}

function isBar(series: Series): boolean {
  return series.shape === "bar" || series.shape === "down";
}

function stacked(options: PlotOptions, shape: Series["shape"]): number {
  const series = options.series.filter((one) => one.shape === shape);
  return Math.max(0, ...options.times.map((_, index) => series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0)));
}

function frameOf(options: PlotOptions): Frame {
  const known = options.series.filter((one) => !isBar(one)).flatMap((one) => one.values.filter((value) => value !== null));
  const greatest = Math.max(stacked(options, "bar"), ...known);
  const positive = known.filter((value) => value > 0);
  const scale = options.logTime ? timeScale(Math.min(...positive, greatest), greatest) : linearScale(greatest);
  const lowest = stacked(options, "down");
  const hangs = options.series.some((one) => one.shape === "down");
  const below = hangs ? belowAxis(scale, lowest, options.height) : 0;
  const step = Math.max(40, options.width - GUTTER) / Math.max(1, options.times.length);
  return { step, scale, axis: options.height - below, below, lowest };
}

/** What hangs has the same scale as what stands, within a quarter of the height, and can always be seen. */
function belowAxis(scale: Scale, lowest: number, whole: number): number {
  return lowest ? Math.max(10, Math.min(whole * 0.28, scale.at(lowest) * whole)) : 8;
}

function height(frame: Frame, value: number): number {
  return frame.axis - frame.scale.at(value) * (frame.axis - 6);
}

function standing(options: PlotOptions, frame: Frame, index: number): Rect[] {
  let base = 0;
  const rects: Rect[] = [];
  for (const one of options.series) {
    const value = one.values[index] ?? 0;
    if (one.shape !== "bar" || !value) continue;
    const top = height(frame, base + value);
    const tall = Math.max(1, height(frame, base) - top);
    rects.push({ key: `${one.name}${index}`, x: GUTTER + index * frame.step, y: top, height: tall, tone: one.tone });
    base += value;
  }
  return rects;
}

function hanging(options: PlotOptions, frame: Frame, index: number): Rect[] {
  let base = frame.axis + 1.5;
  const rects: Rect[] = [];
  for (const one of options.series) {
    const value = one.values[index] ?? 0;
    if (one.shape !== "down" || !value) continue;
    const tall = Math.max(2, (value / frame.lowest) * (frame.below - 2));
    rects.push({ key: `${one.name}${index}`, x: GUTTER + index * frame.step, y: base, height: tall, tone: one.tone });
    base += tall;
  }
  return rects;
}

function placeOf(frame: Frame, value: number, index: number): string {
  return `${(GUTTER + (index + 0.5) * frame.step).toFixed(1)} ${height(frame, value).toFixed(1)}`;
}

/** A line breaks where nothing was measured. */
function pathOf(series: Series, frame: Frame): string {
  let drawing = false;
  let path = "";
  series.values.forEach((value, index) => {
    if (value !== null) path += `${drawing ? "L" : "M"}${placeOf(frame, value, index)}`;
    drawing = value !== null;
  });
  return path;
}

function dotsOf(series: Series, frame: Frame): string {
  const empty = (index: number): boolean => (series.values[index] ?? null) === null;
  return series.values
    .map((value, index) => {
      const lone = value !== null && empty(index - 1) && empty(index + 1);
      return lone ? `M${placeOf(frame, value, index)}h.01` : "";
    })
    .join("");
}

function momentsOf(options: PlotOptions): { x: number; label: string }[] {
  const from = options.times[0];
  if (from === undefined) return [];
  const span = options.times.length * options.bucketMs;
  const room = Math.max(40, options.width - GUTTER);
  return timeTicks(from, from + span, Math.max(2, Math.floor(room / 90)))
    .map((at) => ({ x: GUTTER + ((at - from) / span) * room, label: tickLabel(at, span) }))
    .filter((moment) => moment.x < options.width - 12);
}
