/** What a browser calls itself, in two words; good enough to recognise one's own. */
export function browserName(agent: string | null): string {
  if (!agent) return "Unknown browser";
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1] ?? agent.split(/[/ ]/)[0] ?? "Browser";
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  return system ? `${browser} on ${system}` : browser;
}

const BROWSERS: readonly [string, string][] = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
];

const SYSTEMS: readonly [string, string][] = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Mac OS X", "macOS"],
  ["Windows", "Windows"],
  ["Linux", "Linux"],
];
