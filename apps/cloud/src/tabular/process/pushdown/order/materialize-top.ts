/**
 * The first rows of an order over files that do not share a statement. Each statement would return its own first rows, with documents of up
 * to 4 MB, and the executor keeps only the overall first ones. If that is much data, the sort keys of all files are read first, then the
 * documents of the overall first rows. If the order begins with a time, files are searched in time order until no other file can hold such
 * a row.
 */
import { batchOf, type PlanSplit } from '@platform/query';
import type { Connections } from '../../duckdb/database.ts';
import type { SeriesFacts } from '../../files/file-facts.ts';
import type { TopChoice } from '../choose-pushdown.ts';
import { yes } from '../conditions/sql.ts';
import { emissionKey, statementOf } from '../statement.ts';
import { explained, type Step } from '../steps.ts';
import { type FirstRow, firstRows, type SearchedFile } from './first-rows.ts';
import { wavesByTime } from './waves-by-time.ts';

/** Bytes of documents that one statement reads, unless a single one is larger. */
const readBytes = 16 << 20;
/**
 * A single statement finds its first rows without their documents, but collects the documents found; its limit is this many times higher.
 */
const timesOfOne = 32;

export interface TopContext {
  readonly connections: Connections;
  /** Bytes of documents that several statements may return together before the sort keys are read first. */
  readonly topBytes: number;
}

/** Returns the steps with those that end in such an order replaced. Rows keep their order; unneeded rows are omitted. */
export async function materializeTop(
  { connections, topBytes }: TopContext,
  steps: readonly Step[],
  end: PlanSplit['end'],
): Promise<readonly Step[]> {
  if (end === 'rows' || end.k !== 'sort') return steps;
  const tops = new Map<Step, Top>();
  const searched: SearchedFile[] = [];
  for (const step of steps) {
    const found = topOf(step);
    if (found === undefined) continue;
    tops.set(step, { ...found, from: searched.length });
    searched.push(...found.files);
  }
  const all = [...tops.values()];
  const bytes = all.reduce((sum, { files }) => sum + documentBytes(files, end.top), 0);
  const isLittle = bytes <= (all.length > 1 ? topBytes : topBytes * timesOfOne);
  const waves = wavesByTime(
    searched.map(({ file }) => file),
    end.by,
  );
  if (isLittle && waves === undefined) return steps;
  const { rows, files, statements } = await firstRows(connections, searched, end, waves);
  const pushed = [...new Set([...tops.keys()].flatMap(({ explain }) => explain.pushed))];
  const explain = explained('top', { pushed, notPushed: [], files, statements });
  // The statements that found the rows have already run.
  const narrowed: Step[] = [{ k: 'batch', batch: batchOf([]), done: true, explain }];
  let run: Reading | undefined;
  const finish = (): void => {
    if (run !== undefined) narrowed.push(...readingSteps(run, searched));
    run = undefined;
  };
  for (const step of steps) {
    const top = tops.get(step);
    if (top === undefined) {
      finish();
      narrowed.push(step);
      continue;
    }
    const { from, files, rowsAt } = top;
    const own = rows.filter(({ file }) => file >= from && file < from + files.length);
    if (own.length === 0) continue;
    const key = emissionKey(rowsAt(yes));
    if (run?.key !== key) finish();
    run = { key, rowsAt, rows: [...(run?.rows ?? []), ...own] };
  }
  finish();
  return narrowed;
}

interface Top {
  readonly files: readonly SearchedFile[];
  /** Index of its first file among all searched files. */
  readonly from: number;
  readonly rowsAt: TopChoice['rowsAt'];
}

/** Rows read by statements that differ only in the selected rows. */
interface Reading {
  readonly key: string;
  readonly rowsAt: TopChoice['rowsAt'];
  readonly rows: readonly FirstRow[];
}

/** Undefined for steps that read no documents, or whose sort keys require the documents. */
function topOf(step: Step): Omit<Top, 'from'> | undefined {
  if (step.k !== 'statement') return undefined;
  const [first, ...others] = step.run ?? [];
  if (first?.top === undefined || first.emission.documents === undefined) return undefined;
  const files: SearchedFile[] = [];
  for (const { file, top } of [first, ...others]) {
    const keys = top?.keys();
    if (keys === undefined) return undefined;
    files.push({ file, keys });
  }
  return { files, rowsAt: first.top.rowsAt };
}

/** Approximate bytes of the documents of the first `top` rows. */
function documentBytes(files: readonly SearchedFile[], top: number): number {
  let [rows, bytes] = [0, 0];
  for (const { file } of files) {
    for (const number of file.wanted) {
      const series = file.facts.series[number] as SeriesFacts;
      rows += series.rows;
      bytes += series.dataBytes;
    }
  }
  return rows <= top ? bytes : (bytes / rows) * top;
}

function piecesOf(rows: readonly FirstRow[]): readonly (readonly FirstRow[])[] {
  const pieces: FirstRow[][] = [];
  let left = 0;
  for (const row of rows) {
    const last = pieces.at(-1);
    if (last === undefined || row.bytes > left) {
      pieces.push([row]);
      left = readBytes;
    } else last.push(row);
    left -= row.bytes;
  }
  return pieces;
}

function readingSteps({ rowsAt, rows }: Reading, searched: readonly SearchedFile[]): readonly Step[] {
  return piecesOf(rows).map((piece) => {
    const byFile = [...Map.groupBy(piece, ({ file }) => file)];
    const places = byFile.map(([, of], index) => {
      const numbers = of.map(({ row }) => row).join(', ');
      return `(file_index = ${index} AND file_row_number IN (${numbers}))`;
    });
    const emission = rowsAt(`(${places.join(' OR ')})`);
    const statement = statementOf(byFile.map(([file]) => ({ file: (searched[file] as SearchedFile).file, emission })));
    if (statement === undefined) throw new Error('expected a statement that adds nothing up');
    const explain = explained('documents', { notPushed: [], files: byFile.length, statements: 1 });
    return { k: 'statement', statement, explain };
  });
}
