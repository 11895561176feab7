/** The waveform as the server keeps it: a byte for the loudest moment of each of equal stretches, in base64. */

/** null: it is not there (yet). */
export function loudness(text: string | null | undefined): Uint8Array | null {
  return text ? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)) : null;
}

/** Below this nothing is made to look loud: a recording of silence is a line. */
const QUIET = 24;

/**
 * How high to draw it, from 0 to 1 in that many stretches, against the loudest moment. What is half as loud looks more than
 * half as high, as it sounds.
 */
export function heights(peaks: Uint8Array, stretches: number): number[] {
  const most = peaks.reduce((loudest, one) => Math.max(loudest, one), QUIET);
  return Array.from({ length: stretches }, (_, at) => {
    const from = Math.floor((at * peaks.length) / stretches);
    const to = Math.max(from + 1, Math.floor(((at + 1) * peaks.length) / stretches));
    return Math.sqrt(peaks.subarray(from, to).reduce((loudest, one) => Math.max(loudest, one), 0) / most);
  });
}
