/** The samples of one file of full-time diagnostics, or of all in a folder, and the parts that cannot be read. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { invalidArgument, notFound } from '@platform/base/refusals';
import { readFtdc, type Sample, type Skipped } from '@platform/ftdc';

export interface SkippedIn extends Skipped {
  readonly file: string;
}

export interface ReadSamples {
  /** By time. */
  readonly samples: readonly Sample[];
  readonly skipped: readonly SkippedIn[];
}

/** Our files have 1 MiB; a larger one is something else. */
const maxFileBytes = 64 * 1024 * 1024;

/** @throws PlatformError if nothing there can be read */
export function readSamples(path: string): ReadSamples {
  const files = filesAt(path).map((file) => ({ file: basename(file), ...readFtdc(readWhole(file)) }));
  const samples = files.flatMap((file) => file.samples).toSorted((a, b) => a.timeMs - b.timeMs);
  const skipped = files.flatMap(({ file, skipped }) => skipped.map((one) => ({ file, ...one })));
  const [first] = skipped;
  if (samples.length === 0 && first !== undefined)
    throw invalidArgument(`${path}: no samples can be read: ${skippedText(first)}`);
  return { samples, skipped };
}

export function skippedText({ file, offset, bytes, reason }: SkippedIn): string {
  return `${file}: ${bytes} bytes at offset ${offset}: ${reason}`;
}

function filesAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  const expected = 'expected a file of diagnostics or a folder of them, such as ~/.platform/ftdc';
  if (found === undefined) throw notFound(`${path}: ${expected}, found nothing`);
  if (found.isFile()) return [path];
  const names = found.isDirectory() ? readdirSync(path).filter((name) => name.endsWith('.ftdc')) : [];
  if (names.length === 0) throw notFound(`${path}: ${expected}, found no file NAME.ftdc`);
  return names.toSorted().map((name) => join(path, name));
}

function readWhole(path: string): Uint8Array {
  const { size } = statSync(path);
  if (size > maxFileBytes) throw invalidArgument(`${path}: expected at most ${maxFileBytes} bytes, found ${size}`);
  return readFileSync(path);
}
