/** Finds the first place where a text stops being JSON. Browsers disagree on whether and how they tell; this does not. */

export interface Mistake {
  at: number;
  message: string;
}

class Stop extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const BLANK = /[ \t\r\n]*/y;

/** Null when the text is JSON. */
export function firstMistake(text: string): Mistake | null {
  let at = 0;

  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return false;
    at = pattern.lastIndex;
    return true;
  }

  function fail(message: string): never {
    throw new Stop(at, at >= text.length ? "It ends too early: something is not closed." : message);
  }

  function next(character: string): boolean {
    match(BLANK);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  }

  function string(what: string): void {
    match(BLANK);
    if (!match(STRING)) fail(text[at] === '"' ? "This text is not closed, or has a character that must be escaped." : what);
  }

  function value(): void {
    match(BLANK);
    if (text[at] === "{") object();
    else if (text[at] === "[") array();
    else if (text[at] === '"') string("");
    else if (!match(NUMBER) && !match(WORD))
      fail("A value is expected here: text in double quotes, a number, true, false, null, [ or {.");
  }

  function object(): void {
    at += 1;
    if (next("}")) return;
    do {
      string("A name in double quotes is expected here.");
      if (!next(":")) fail("A colon is expected here.");
      value();
    } while (next(","));
    if (!next("}")) fail("A comma or } is expected here.");
  }

  function array(): void {
    at += 1;
    if (next("]")) return;
    do value();
    while (next(","));
    if (!next("]")) fail("A comma or ] is expected here.");
  }

  try {
    value();
    match(BLANK);
    if (at < text.length) fail("Nothing more is expected after the value.");
    return null;
  } catch (caught) {
    if (caught instanceof Stop) return { at: caught.at, message: caught.message };
    throw caught;
  }
}
