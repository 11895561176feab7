/**
 * Whether the transcript follows what is being said. It does until the reader scrolls the current line out of sight, and
 * again as soon as the reader brings it back, jumps to a line, or asks for it. Scrolling that the page does itself changes
 * nothing, and while a line is edited nothing moves.
 */
export interface Following {
  follows: boolean;
  editing: boolean;
}

export type ReaderDid =
  | { what: "scrolled"; sees: boolean }
  | { what: "jumped" }
  | { what: "returned" }
  | { what: "looked-elsewhere" }
  | { what: "edits"; on: boolean };

export const AT_FIRST: Following = { follows: true, editing: false };

export function after(now: Following, did: ReaderDid): Following {
  switch (did.what) {
    case "scrolled":
      return { ...now, follows: did.sees };
    case "jumped":
    case "returned":
      return { ...now, follows: true };
    case "looked-elsewhere":
      return { ...now, follows: false };
    case "edits":
      return { ...now, editing: did.on };
  }
}

export function mayScroll(now: Following): boolean {
  return now.follows && !now.editing;
}

export interface Band {
  top: number;
  bottom: number;
}

/** Whether any of the line can be seen in the part of the window that nothing covers. */
export function sees(line: Band, view: Band): boolean {
  return line.bottom > view.top && line.top < view.bottom;
}

/** How far to scroll so that the line stands in the upper third; 0 while it is well in view, so that the page rests. */
export function correction(line: Band, view: Band): number {
  const height = view.bottom - view.top;
  const place = view.top + height * 0.3;
  const inView = line.top >= view.top + height * 0.05 && line.bottom <= view.top + height * 0.75;
  const tooTallToFit = line.top >= view.top && line.top <= place;
  return inView || tooTallToFit ? 0 : line.top - place;
}
