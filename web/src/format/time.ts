/** Times and durations as people read them. All functions take their "now", so that one clock moves the whole page. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function toMillis(time: string | null | undefined): number | null {
  if (!time) return null;
  const value = Date.parse(time);
  return Number.isNaN(value) ? null : value;
}

/** "840 ms", "3.2 s", "4 m 05 s", "2 h 11 m", "3 d 4 h": two units at most, so that columns stay narrow. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "–";
  const value = Math.max(0, ms);
  if (value < SECOND) return `${Math.round(value)} ms`;
  if (value < 9.95 * SECOND) return `${(value / SECOND).toFixed(1)} s`;
  if (value < MINUTE - 500) return `${Math.round(value / SECOND)} s`;
  return longDuration(value);
}

function longDuration(ms: number): string {
  const seconds = Math.round(ms / SECOND);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Round values along an axis: "0", "500 ms", "10 s", "2 m". */
export function axisDuration(ms: number | null): string {
  if (!ms) return "0";
  if (ms < SECOND) return `${Number(ms.toPrecision(3))} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toPrecision(3))} s`;
  if (ms < HOUR) return `${Number((ms / MINUTE).toPrecision(3))} m`;
  return `${Number((ms / HOUR).toPrecision(3))} h`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

/** "now", "12 s ago", "in 3 m", "2 d ago": one unit, for scanning; what is hours ahead is told to the minute. */
export function relative(time: number | null, now: number): string {
  if (time === null) return "–";
  const gap = Math.abs(now - time);
  if (gap < 1.5 * SECOND) return "now";
  return time <= now ? `${coarse(gap)} ago` : `in ${ahead(gap)}`;
}

function ahead(gap: number): string {
  return gap >= HOUR && gap < 10 * HOUR ? longDuration(gap).replace(/ 00 m$/, "") : coarse(gap);
}

function coarse(gap: number): string {
  if (gap < MINUTE) return `${Math.round(gap / SECOND)} s`;
  if (gap < HOUR) return `${Math.floor(gap / MINUTE)} m`;
  if (gap < 2 * DAY) return `${Math.round(gap / HOUR)} h`;
  return `${Math.round(gap / DAY)} d`;
}

/** "14:03:22" today, "12 Nov 14:03" otherwise, in the reader's own time zone. */
export function clock(time: number | null, now: number): string {
  if (time === null) return "–";
  const date = new Date(time);
  const hands = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return `${hands}:${pad(date.getSeconds())}`;
  return `${day(date)} ${hands}`;
}

/** For logs, where a second is long: "14:03:22.517" today. */
export function clockMillis(time: number | null, now: number): string {
  if (time === null) return "–";
  const date = new Date(time);
  if (date.toDateString() !== new Date(now).toDateString()) return clock(time, now);
  return `${clock(time, now)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** The whole truth, for titles: "2026-11-16 14:03:22.517 (UTC+1)". */
export function exact(time: number | null): string {
  if (time === null) return "";
  const date = new Date(time);
  const hands = [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":");
  const millis = String(date.getMilliseconds()).padStart(3, "0");
  const dated = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  return `${dated} ${hands}.${millis} (${zone(date)})`;
}

function zone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const sign = minutes > 0 ? "+" : "−";
  const rest = Math.abs(minutes) % 60;
  return `UTC${sign}${Math.floor(Math.abs(minutes) / 60)}${rest ? `:${pad(rest)}` : ""}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function day(date: Date): string {
  return `${date.getDate()} ${MONTHS[date.getMonth()] ?? ""}`;
}

/** A label for a chart's axis: hours within two days, days beyond. */
export function tickLabel(time: number, spanMs: number): string {
  const date = new Date(time);
  if (spanMs > 2 * DAY) return day(date);
  if (spanMs < 3 * MINUTE) return [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(":");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** An expected range in seconds as one phrase: "about 2 to 8 m". */
/** To whole minutes or hours where they are shown: what is said to be the most is not to be exceeded. */
function roundedUp(gap: number): number {
  const unit = gap < MINUTE ? SECOND : gap < HOUR ? MINUTE : HOUR;
  return Math.ceil(gap / unit) * unit;
}

export function etaRange(range: readonly number[] | null | undefined): string | null {
  const [low, high] = range ?? [];
  if (low === undefined || high === undefined) return null;
  if (high < 5) return "a few seconds";
  const [from, to] = [coarse(low * SECOND), coarse(roundedUp(high * SECOND))];
  if (low < 1) return `up to ${to}`;
  return from === to ? `about ${from}` : `about ${from} to ${to}`;
}
