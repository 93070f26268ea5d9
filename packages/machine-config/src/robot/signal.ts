/** Signals that stop a process: by name in a document, by number in the message. */

const numbers: ReadonlyMap<string, number> = new Map([
  ['HUP', 1],
  ['INT', 2],
  ['QUIT', 3],
  ['ABRT', 6],
  ['KILL', 9],
  ['USR1', 10],
  ['USR2', 12],
  ['TERM', 15],
]);

/** The number of `SIGTERM`, `term`, `15` or 15; undefined for anything else. */
export function signalNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 && value < 65 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return signalNumber(Number(value));
  return numbers.get(value.toUpperCase().replace(/^SIG/, ''));
}

/** Undefined for 0, which means no signal. */
export function formatSignal(number: number): string | undefined {
  if (number === 0) return undefined;
  const known = [...numbers].find(([, each]) => each === number);
  return known === undefined ? String(number) : `SIG${known[0]}`;
}
