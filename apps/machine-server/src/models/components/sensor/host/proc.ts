import { readFileSync } from 'node:fs';

/** A file in /proc or /sys; undefined if the system does not have it. The read is synchronous because it takes microseconds. */
export function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** A name as a document key, without the characters that separate paths. */
export function keyOf(name: string): string {
  return name === '/' ? 'root' : name.replace(/^\//, '').replaceAll(/[./$\s]+/g, '_');
}

/** These measurements are accurate to one decimal. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
