/** Places in a recording as players write them: "0:07", "12:40", "1:02:03". Hours only where the recording has some. */
export function timecode(seconds: number | null | undefined, longest = 0): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, pad(whole % 60)];
  if (!hours && longest < 3600) return `${minutes}:${rest}`;
  return `${hours}:${pad(minutes)}:${rest}`;
}

/** The same for those who listen: "1 hour 2 minutes 3 seconds". */
export function spokenTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [
    [Math.floor(whole / 3600), "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [whole % 60, "second"],
  ] as const;
  const told = parts.filter(([value]) => value > 0).map(([value, unit]) => `${value} ${unit}${value === 1 ? "" : "s"}`);
  return told.join(" ") || "the beginning";
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
