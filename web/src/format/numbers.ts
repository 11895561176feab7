/** Figures: grouped when whole, shortened when large, and an en dash for what is unknown (never a zero). */

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : grouped.format(value);
}

/** "980", "12.4 k", "1.2 M": for places where a column must not grow. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) < 10_000) return grouped.format(value);
  if (Math.abs(value) < 999_500) return `${trim(value / 1000)} k`;
  return `${trim(value / 1_000_000)} M`;
}

/** A figure that is exact, or "5,000+" when not everything was counted. */
export function atLeast(value: number | null | undefined, capped: boolean | undefined): string {
  return `${short(value)}${capped && value ? "+" : ""}`;
}

function trim(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

/** A rate that may be below one: "0.4", "12", "1,240". */
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  return value < 10 ? value.toFixed(1) : grouped.format(value);
}

export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const shown = value * 100;
  if (shown === 0) return "0 %";
  if (shown < 0.1) return "<0.1 %";
  return `${shown < 10 ? shown.toFixed(1) : Math.round(shown)} %`;
}

/** Cents as dollars; small amounts keep their digits, because a step often costs a fraction of a cent. */
export function money(cents: number | null | undefined): string {
  if (cents === null || cents === undefined) return "–";
  if (cents === 0) return "$0.00";
  if (cents < 0.005) return "<$0.0001";
  if (cents < 1) return `$${(cents / 100).toFixed(4)}`;
  return `$${(cents / 100).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KiB`;
  return `${(size / 1024 / 1024).toFixed(1)} MiB`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
