/**
 * `FILE.export.json`, beside each file that an export has completed: the request and the state of FILE at that time. With it, `--resume`
 * distinguishes a complete file from a truncated, changed or different one.
 *
 * Written before FILE takes its name, and removed before another export to it begins. A record that matches FILE therefore proves that the
 * last export to it is complete, whatever else a crash has left behind.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { invalidArgument } from '@platform/base/refusals';
import type { Asked } from './export-state.ts';

export type ExportFormat = 'ndjson' | 'csv' | 'parquet';

export interface ExportRecord {
  readonly asked: Asked;
  readonly format: ExportFormat;
  readonly rows: number;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

const recordOf = (file: string): string => `${file}.export.json`;

/** @param ready the file that is about to become FILE. @throws the reason of `signal` */
export async function writeRecord(
  file: string,
  ready: string,
  of: Pick<ExportRecord, 'asked' | 'format' | 'rows'>,
  signal: AbortSignal,
): Promise<void> {
  const { size: bytes } = await stat(ready);
  const record: ExportRecord = { ...of, bytes, sha256: await digestOf(ready, signal) };
  await writeFile(recordOf(file), `${JSON.stringify(record, null, 2)}\n`, { flush: true });
}

export async function removeRecord(file: string): Promise<void> {
  await rm(recordOf(file), { force: true });
}

/** Whether an existing FILE is the completed export: its record, or the reason why this is unknown. */
export type Whole = { readonly record: ExportRecord } | { readonly why: string };

/** @throws the reason of `signal` */
export async function readWhole(file: string, signal: AbortSignal): Promise<Whole> {
  const record = await readRecord(file);
  if (record === undefined) return { why: `there is no ${recordOf(file)} that describes it, so it may be incomplete` };
  const rows = `the ${record.rows.toLocaleString('en')} rows that were exported`;
  const { size } = await stat(file);
  if (size !== record.bytes) return { why: `it has ${size} bytes, but ${rows} had ${record.bytes}` };
  if ((await digestOf(file, signal)) !== record.sha256) return { why: `it has changed: it no longer contains ${rows}` };
  return { record };
}

/** @returns undefined if there is no record or it is incomplete */
async function readRecord(file: string): Promise<ExportRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(recordOf(file), 'utf8')) as Partial<ExportRecord>;
    const isWhole = typeof record.asked === 'object' && typeof record.rows === 'number' && record.sha256 !== undefined;
    return isWhole ? (record as ExportRecord) : undefined;
  } catch {
    return undefined;
  }
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) hash.update(chunk as Buffer);
  } catch (caught) {
    if (signal.aborted) throw signal.reason;
    throw invalidArgument(`expected a file that can be read, found ${path}`, caught);
  }
  return hash.digest('hex');
}
