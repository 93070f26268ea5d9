/** Where capture files are below a capture directory (docs/specs/capture-file.md). */
import { join } from 'node:path';

/** A path segment: `:` and other characters that a file name cannot contain become `_`. */
export function segment(text: string): string {
  const safe = text.replaceAll(/[^\w.\- ]/gu, '_').slice(0, 200);
  return safe === '' || /^\.+$/.test(safe) ? '_' : safe;
}

/** `<api>/<name>/<method>`. */
export function seriesPath(api: string, name: string, method: string): string {
  return join(segment(api), segment(name), segment(method));
}

/**
 * `2026-11-20T10_15_30.123456Z_7f3a9c1e_7`: time, start of the stream, seq. The stream keeps names apart if a clock shows the same time
 * again.
 */
export function fileName(micros: number, stream: Uint8Array, seq: number): string {
  const iso = new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1).replaceAll(':', '_');
  const start = Buffer.from(stream.subarray(0, 4)).toString('hex');
  return `${iso}${String(micros % 1_000).padStart(3, '0')}Z_${start}_${seq}`;
}

export const failedFolder = 'failed';
export const lockFile = '.lock';
