/**
 * The files that exist beside FILE until its export is complete:
 *
 * - `FILE.partial`: what has been received (spool.ts), as lines of JSON for every format;
 * - `FILE.partial.json`: the request, written before the first line.
 *
 * When the export is complete, the rows are in FILE (in one step, by renaming), both files are gone, and the record
 * (export-record.ts) describes FILE. After a crash in between they remain, and `--resume` continues from there. Times are absolute
 * and the series are those of the start, so that the result is the same however often the export is interrupted.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import type { Series } from './find-series.ts';
import type { Range } from './read-series.ts';

/** The request as it was typed, except that names are resolved. */
export interface Asked {
  readonly url: string;
  readonly partId: string;
  readonly resource: string | null;
  readonly method: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

export interface ExportPlan extends Range {
  readonly asked: Asked;
  readonly series: readonly Series[];
}

export const partialOf = (file: string): string => `${file}.partial`;
export const stateOf = (file: string): string => `${file}.partial.json`;

/** @returns undefined if there is no interrupted export to this file */
export async function readState(file: string): Promise<ExportPlan | undefined> {
  const path = stateOf(file);
  const text = await readFile(path, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw invalidArgument(`expected a file that can be read, found ${path}: ${caught.message}`, caught);
  });
  if (text === undefined) return undefined;
  try {
    const plan = JSON.parse(text) as Partial<ExportPlan>;
    if (Array.isArray(plan.series) && typeof plan.asked === 'object') return plan as ExportPlan;
  } catch {
    // Reported below.
  }
  throw failedPrecondition(
    `${path}: expected the state of an interrupted export, found something else; remove it to start over`,
  );
}

export async function writeState(file: string, plan: ExportPlan): Promise<void> {
  await writeFile(stateOf(file), `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
}

/** @param ready the file with the rows, which becomes FILE. Its record is written. */
export async function complete(file: string, ready: string): Promise<void> {
  await rename(ready, file);
  await clear(file);
}

/** Removes the files that existed beside FILE until it was complete. */
export async function clear(file: string): Promise<void> {
  await rm(partialOf(file), { force: true });
  await rm(stateOf(file), { force: true });
}

/** @param holder the file with the exported rows. @throws failed_precondition if the request differs from the earlier one */
export function checkSame<T extends Asked>(holder: string, then: T, now: T): void {
  const differing = (Object.keys(now) as (keyof T & string)[]).filter((name) => then[name] !== now[name]);
  if (differing.length === 0) return;
  const told = differing.map((name) => `${name} ${then[name] ?? 'none'}, now ${now[name] ?? 'none'}`).join('; ');
  throw failedPrecondition(
    `${holder} belongs to a different export (${told}). Use the same options, choose another --output, or start over without --resume`,
  );
}
