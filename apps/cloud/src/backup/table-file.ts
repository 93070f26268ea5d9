/** Writes a file of JSON with one value per line, as fast as the disk takes it and without buffering in memory. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { BackedUpFile } from './manifest.ts';

export interface TableFile {
  write(value: unknown): void;
  /** Durable except for its name. */
  close(): Omit<BackedUpFile, 'path'>;
}

const bufferedCharacters = 1024 * 1024;

/** Writes synchronously, so that the producer of rows waits until the disk has them. */
export function openTableFile(file: string): TableFile {
  const descriptor = openSync(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let waiting: string[] = [];
  let characters = 0;
  let bytes = 0;
  const flush = (): void => {
    const part = Buffer.from(waiting.join(''), 'utf8');
    waiting = [];
    characters = 0;
    hash.update(part);
    for (let at = 0; at < part.length; ) at += writeSync(descriptor, part, at);
    bytes += part.length;
  };
  return {
    write(value) {
      const line = `${JSON.stringify(value)}\n`;
      waiting.push(line);
      characters += line.length;
      if (characters >= bufferedCharacters) flush();
    },
    close() {
      try {
        flush();
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      return { bytes, sha256: hash.digest('hex') };
    },
  };
}
