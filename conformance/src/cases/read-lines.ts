/** The lines of a case file, plain or gzipped. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { UsageFault } from './options.ts';

/** A larger file (unpacked) is not a case file. */
const maxBytes = 512 * 1024 * 1024;

/** Skips empty lines. @throws UsageFault if the file cannot be read or unpacked. */
export function readLines(file: string): string[] {
  try {
    const bytes = readFileSync(file);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const text = (isPacked ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes).toString('utf8');
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch (error) {
    throw new UsageFault(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
