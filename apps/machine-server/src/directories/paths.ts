/** The paths of capture files below a capture directory (docs/specs/capture-file.md). */
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
 * `2026-11-20T10_15_30.123456Z_7f3a9c1e_7`: time, start of the stream, seq. The stream keeps names unique if a clock shows the same time
 * again.
 */
export function fileName(micros: number, stream: Uint8Array, seq: number): string {
  const iso = new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1).replaceAll(':', '_');
  const start = Buffer.from(stream.subarray(0, 4)).toString('hex');
  return `${iso}${String(micros % 1_000).padStart(3, '0')}Z_${start}_${seq}`;
}

/** The API of a folder: `core_component_movement_sensor` → `core:component:movement_sensor`. */
export function apiOf(folder: string): string {
  return folder.replace('_', ':').replace('_', ':');
}

/** The time at the beginning of a capture file's name, wall ms; undefined if it has none. */
export function timeOf(name: string): number | undefined {
  const [, day, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\d)T(\d\d)_(\d\d)_(\d\d(?:\.\d{1,3})?)/.exec(name) ?? [];
  if (day === undefined) return undefined;
  const ms = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

export const failedFolder = 'failed';
export const lockFile = '.lock';
