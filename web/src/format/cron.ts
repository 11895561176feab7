/** Common cron lines in words; the rest is left to be read as it stands. */

const DAYS = ["Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];

export function cronWords(cron: string): string | null {
  const parts = cron.trim().split(/\s+/);
  if (parts.length !== 5) return null;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  if (month !== "*") return null;
  const often = everySo(minute, hour);
  if (often) return day === "*" && weekday === "*" ? often : null;
  const at = clockOf(minute, hour);
  if (!at) return null;
  if (day === "*" && weekday === "*") return `daily at ${at}`;
  if (day === "*" && weekday === "1-5") return `on working days at ${at}`;
  if (day === "*" && /^[0-7]$/.test(weekday)) return `${DAYS[Number(weekday)] ?? ""} at ${at}`;
  if (/^\d+$/.test(day) && weekday === "*") return `on day ${day} of each month at ${at}`;
  return null;
}

function everySo(minute: string, hour: string): string | null {
  if (hour !== "*") {
    const hours = /^\*\/(\d+)$/.exec(hour);
    return hours && /^\d+$/.test(minute) ? `every ${hours[1] ?? ""} hours` : null;
  }
  if (minute === "*") return "every minute";
  const minutes = /^\*\/(\d+)$/.exec(minute);
  if (minutes) return `every ${minutes[1] ?? ""} minutes`;
  return /^\d+$/.test(minute) ? `hourly at ${minute.padStart(2, "0")} past` : null;
}

function clockOf(minute: string, hour: string): string | null {
  if (!/^\d+$/.test(minute) || !/^\d+$/.test(hour)) return null;
  return `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}
