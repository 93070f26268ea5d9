/** Exports to a file: collects rows, continues where it was interrupted, and creates the file once it is complete. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import { asPlatformError, type Cloud, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import { csvLines } from '../query/csv.ts';
import { type ExportFormat, readWhole, removeRecord, writeRecord } from './export-record.ts';
import {
  type Asked,
  checkSame,
  clear,
  complete,
  type ExportPlan,
  partialOf,
  readState,
  stateOf,
  writeState,
} from './export-state.ts';
import { identityOf } from './exported-line.ts';
import { keyOf } from './find-series.ts';
import { readSeries } from './read-series.ts';
import { openSpool, type Spool } from './spool.ts';
import { createTransferProgress } from './transfer-progress.ts';
import { writeParquet } from './write-parquet.ts';

export interface FileExport {
  readonly file: string;
  readonly format: ExportFormat;
  readonly resume: boolean;
  readonly asked: Asked;
  /** Finds what to export. */
  plan(): Promise<ExportPlan>;
}

export interface Exported {
  readonly rows: number;
  /** The file was already complete; there was nothing to do. */
  readonly already: boolean;
}

/** @throws canceled if the user keeps an existing file; failed_precondition if --resume cannot continue */
export async function exportToFile(context: Context, data: Cloud['data'], wanted: FileExport): Promise<Exported> {
  const { file, format, resume, asked } = wanted;
  const begun = await readState(file);
  if (resume) {
    const rows = await rowsBefore(context, begun, wanted);
    if (rows !== undefined) return { rows, already: true };
  } else if (begun !== undefined || existsSync(partialOf(file)))
    await context.confirm(`${partialOf(file)} contains an interrupted export, which --resume continues. Start over?`);
  const goesOn = resume && begun !== undefined && existsSync(partialOf(file));
  if (goesOn) checkSame(partialOf(file), begun.asked, asked);
  else if (existsSync(file) && (resume || (begun === undefined && !existsSync(partialOf(file)))))
    await context.confirm(`Replace ${file}?`);

  const plan = goesOn ? begun : await wanted.plan();
  if (!goesOn) await begin(file, plan).catch(refuse);
  try {
    const rows = await gathered(context, data, plan, partialOf(file), !goesOn);
    if (format !== 'ndjson') context.out.note(`writing ${format}`);
    const ready = await converted(format, file, context.signal);
    await writeRecord(file, ready, { asked, format, rows }, context.signal);
    await complete(file, ready);
    return { rows, already: false };
  } catch (caught) {
    const { code, message } = asPlatformError(caught);
    const kept = `What was exported is kept in ${partialOf(file)}; run the same command with --resume to continue`;
    throw new PlatformError(code, `${message}\n${kept}`, caught);
  }
}

async function begin(file: string, plan: ExportPlan): Promise<void> {
  await removeRecord(file);
  await writeState(file, plan);
}

/**
 * The rows of a file that is known to be complete; undefined if there is an export to continue, or nothing at all.
 *
 * @throws failed_precondition for a different export, and for a file that may be incomplete
 */
async function rowsBefore(
  { signal }: Context,
  begun: ExportPlan | undefined,
  { file, format, asked }: FileExport,
): Promise<number | undefined> {
  const whole = existsSync(file) ? await readWhole(file, signal) : undefined;
  if (whole !== undefined && 'record' in whole) {
    const { record } = whole;
    checkSame(file, { ...record.asked, format: record.format }, { ...asked, format });
    if (begun !== undefined) await clear(file);
    return record.rows;
  }
  const anew = 'move the file away, or start over without --resume, which asks before it replaces it';
  if (begun === undefined && existsSync(partialOf(file)))
    throw failedPrecondition(
      `--resume: expected ${stateOf(file)}, which describes the export in ${partialOf(file)}, found none; put it back, or ${anew}`,
    );
  if (begun === undefined && whole !== undefined)
    throw failedPrecondition(
      `--resume: expected ${file} to be a completed export, or ${partialOf(file)} to be an interrupted one, found neither: ${whole.why}; ${anew}`,
    );
  return undefined;
}

function refuse(caught: unknown): never {
  throw invalidArgument(`expected a file that can be written: ${(caught as Error).message}`, caught);
}

/** Collects all rows in the spool. @returns the number of rows */
async function gathered(
  context: Context,
  data: Cloud['data'],
  plan: ExportPlan,
  path: string,
  anew: boolean,
): Promise<number> {
  await using spool = await openSpool(path, anew);
  const total = plan.series.reduce((sum, { rows }) => sum + rows, 0);
  using progress = createTransferProgress(context, { before: spool.rows, total, shown: true });
  for await (const line of missing(data, plan, spool)) {
    await spool.append(line);
    progress.add(line.length);
  }
  await spool.sync();
  context.out.note(`received ${progress.summary()}`);
  return spool.rows;
}

/** The rows that are not in the spool. */
async function* missing(
  data: Cloud['data'],
  { asked: { partId }, series, fromMs, untilMs }: ExportPlan,
  { place }: Spool,
): AsyncGenerator<string> {
  const begun = place === undefined ? -1 : series.findIndex((one) => keyOf(one) === place.series);
  if (place !== undefined && begun === -1)
    throw failedPrecondition('expected an export of the same readings, found different ones in the file');
  for (const one of series.slice(Math.max(0, begun))) {
    const goesOn = place !== undefined && keyOf(one) === place.series;
    const there = new Map(goesOn ? place.there : []);
    const range = { fromMs: goesOn ? place.timeMs : fromMs, untilMs };
    for await (const { timeMs, text } of readSeries(data, partId, one, range)) {
      if (goesOn && timeMs === place.timeMs && took(there, identityOf(text))) continue;
      yield text;
    }
  }
}

/** Decrements the count of this key. @returns false if it was zero */
function took(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 0) counts.set(key, count - 1);
  return count > 0;
}

/** @returns the file with the rows in the requested format, which will become the result */
async function converted(format: ExportFormat, file: string, signal: AbortSignal): Promise<string> {
  const spool = partialOf(file);
  if (format === 'ndjson') return spool;
  const target = `${file}.writing`;
  if (format === 'parquet') await writeParquet(spool, target, signal);
  else await writeLines(csvLines(spool), target, signal);
  return target;
}

async function writeLines(lines: AsyncIterable<string>, target: string, signal: AbortSignal): Promise<void> {
  await using file = await open(target, 'w');
  for await (const line of lines) {
    if (signal.aborted) throw signal.reason;
    await file.appendFile(line);
  }
  await file.sync();
}
