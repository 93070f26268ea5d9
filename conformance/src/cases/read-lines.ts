/** The lines of a case file, plain or gzipped. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A file that is larger than this, unpacked, is not a case file. */
const maxBytes = 512 * 1024 * 1024;

export function readLines(file: string): string[] {
  const bytes = readFileSync(file);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = (isPacked ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line.trim() !== '');
}
