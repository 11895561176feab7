/** How fast bytes go out of late: a few points of the recent past, so that a pause or a resumed start does not count. */
const REMEMBERED = 20;
const RECENT_MS = 15_000;

export class Pace {
  private points: { at: number; bytes: number }[] = [];

  add(bytes: number, at = Date.now()): void {
    const last = this.points.at(-1);
    if (last && bytes < last.bytes) this.points = [];
    this.points = [...this.points, { at, bytes }].slice(-REMEMBERED).filter((point) => at - point.at <= RECENT_MS);
  }

  perSecond(): number | null {
    const [first, last] = [this.points[0], this.points.at(-1)];
    if (!first || !last || last.at - first.at < 500 || last.bytes <= first.bytes) return null;
    return ((last.bytes - first.bytes) / (last.at - first.at)) * 1000;
  }
}
