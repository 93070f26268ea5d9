/**
 * What an export to a file has beside it until it is complete:
 *
 * - `FILE.partial`: what was received (spool.ts), in every format lines of JSON;
 * - `FILE.partial.json`: what was asked for, written before the first line.
 *
 * Complete: the rows stand in FILE (in one step, by renaming), both are gone, and the record (export-record.ts) says what
 * FILE is. A crash in between leaves them, and `--resume` goes on from there. Times are absolute and the series are those
 * of the start, so that the same is exported however often it is interrupted.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { PlatformError } from '@platform/sdk/cloud';
import type { Series } from './find-series.ts';
import type { Range } from './read-series.ts';

/** As it was typed, but for the names. */
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

/** @returns undefined when no export to this file was interrupted. */
export async function readState(file: string): Promise<ExportPlan | undefined> {
  const path = stateOf(file);
  const text = await readFile(path, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw new PlatformError(
      'invalid_argument',
      `expected a file that can be read, found ${path}: ${caught.message}`,
      caught,
    );
  });
  if (text === undefined) return undefined;
  try {
    const plan = JSON.parse(text) as Partial<ExportPlan>;
    if (Array.isArray(plan.series) && typeof plan.asked === 'object') return plan as ExportPlan;
  } catch {
    // Told below.
  }
  throw new PlatformError(
    'failed_precondition',
    `${path}: expected what an interrupted export has left, found something else; remove it to begin anew`,
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

/** Takes away what was beside FILE until it was complete. */
export async function clear(file: string): Promise<void> {
  await rm(partialOf(file), { force: true });
  await rm(stateOf(file), { force: true });
}

/** @param holder the file with what was exported. @throws failed_precondition when something else was asked for than now */
export function checkSame<T extends Asked>(holder: string, then: T, now: T): void {
  const differing = (Object.keys(now) as (keyof T & string)[]).filter((name) => then[name] !== now[name]);
  if (differing.length === 0) return;
  const told = differing.map((name) => `${name} ${then[name] ?? 'none'}, now ${now[name] ?? 'none'}`).join('; ');
  throw new PlatformError(
    'failed_precondition',
    `${holder} holds another export (${told}): ask for the same, give another --output, or begin anew without --resume`,
  );
}
