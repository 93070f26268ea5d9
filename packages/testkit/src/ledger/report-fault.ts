import { appendFileSync, writeSync } from 'node:fs';

/** Reports the result of a fault run: in the file FAULT_REPORT, from which `npm run fault` makes its line, or on standard output. */
export function reportFault(name: string, figures: Readonly<Record<string, unknown>>): void {
  const line = JSON.stringify({ [name]: figures });
  const { FAULT_REPORT } = process.env;
  if (FAULT_REPORT === undefined) console.log(line);
  else appendFileSync(FAULT_REPORT, `${line}\n`);
}

const tellEveryMs = 10_000;
const toldMs = new Map<string, number>();

/** In a run by `npm run fault`, tells a failure on standard error at once: a run may be stopped before its end. */
export function tellFailure(name: string, failure: string): void {
  if (process.env['FAULT_REPORT'] !== undefined) writeSync(2, `${name}: FAILED ${failure}\n`);
}

/** In a run by `npm run fault`, reports progress on standard error. */
export function faultProgress(name: string, done: number, of: number): void {
  const nowMs = performance.now();
  if (process.env['FAULT_REPORT'] === undefined) return;
  if (done < of && nowMs - (toldMs.get(name) ?? 0) < tellEveryMs) return;
  toldMs.set(name, nowMs);
  writeSync(2, `${name}: ${done} of ${of}\n`);
}
