/** Scales for charts: where a value lies, and round values to draw lines at. */

export interface Scale {
  /** 0 at the foot of the chart, 1 at its top. */
  at(value: number): number;
  ticks: number[];
}

/** From zero to a round number above the greatest value. */
export function linearScale(greatest: number, wanted = 3, round = niceStep): Scale {
  const step = round(Math.max(greatest, 1e-9) / wanted);
  const top = Math.max(step, Math.ceil(greatest / step) * step);
  const ticks: number[] = [];
  for (let index = 0; index * step <= top * 1.0001; index += 1) ticks.push(index * step);
  return { at: (value) => value / top, ticks };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  const nice = lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10;
  return nice * power;
}

/** Steps that read well as a time: 1, 2, 5 of a unit, and quarters of minutes and hours. */
const TIME_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5,
];

function niceTime(rough: number): number {
  return TIME_STEPS.find((step) => step >= rough) ?? niceStep(rough);
}

/** Times spread over orders of magnitude: 1 ms … 1 h, at values that read well. */
const TIMES = [1, 10, 100, 1e3, 1e4, 6e4, 6e5, 36e5, 36e6];

export function timeScale(least: number, greatest: number): Scale {
  if (greatest <= 0 || greatest / Math.max(least, 1) < 20) return linearScale(greatest, 3, niceTime);
  const low = TIMES.findLast((time) => time <= Math.max(least, 1)) ?? 1;
  const high = TIMES.find((time) => time >= greatest) ?? greatest;
  const span = Math.log(high / low);
  return {
    at: (value) => Math.max(0, Math.log(Math.max(value, low) / low) / span),
    ticks: thinned(TIMES.filter((time) => time >= low && time <= high)),
  };
}

/** Every other one where there are too many to read. */
function thinned(ticks: number[]): number[] {
  return ticks.length > 6 ? ticks.filter((_, index) => index % 2 === 0) : ticks;
}

/** Where lines for time go: at most `most`, at round moments of the reader's clock. */
const STEPS = [1e3, 5e3, 15e3, 6e4, 3e5, 6e5, 9e5, 18e5, 36e5, 108e5, 216e5, 432e5, 864e5];

export function timeTicks(from: number, to: number, most = 6): number[] {
  const step = STEPS.find((candidate) => (to - from) / candidate <= most) ?? 864e5 * Math.ceil((to - from) / 864e5 / most);
  const shift = new Date(from).getTimezoneOffset() * 6e4;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) ticks.push(at);
  return ticks;
}
