/** Of estimates. */
const OLD_MS = 10_000;

/**
 * Estimates grow old, and nobody pushes that a queue was paused or that a worker has gone: while something is under way and
 * somebody looks, they are asked for anew. Answers how to stop that.
 */
export function reaskWhile(live: () => boolean, ask: () => unknown): () => void {
  const timer = setInterval(() => void (!document.hidden && live() && ask()), OLD_MS);
  return () => clearInterval(timer);
}
