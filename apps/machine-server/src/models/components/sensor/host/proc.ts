import { readFileSync } from 'node:fs';

/** A file of /proc or /sys; undefined where the system has none. Reading one takes microseconds, so it blocks. */
export function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** A name as the key of a document, which must not hold what separates paths. */
export function keyOf(name: string): string {
  return name === '/' ? 'root' : name.replace(/^\//, '').replaceAll(/[./$\s]+/g, '_');
}

/** These measurements are accurate to one decimal. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
