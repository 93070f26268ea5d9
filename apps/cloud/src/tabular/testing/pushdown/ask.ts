/** The outcome of a query: rows or a refusal. */
import { asPlatformError } from '@platform/base';
import { type Batch, documentsOf, execute, type Plan, QueryError, type Scope } from '@platform/query';
import type { QueryExplain, QueryResult, Tabular } from '../../tabular.ts';
import { show } from './show.ts';

export type Answer =
  | {
      readonly k: 'rows';
      readonly rows: readonly Uint8Array[];
      readonly scannedBytes: number;
      /** The store's explanation. */
      readonly explain?: QueryExplain | undefined;
    }
  | { readonly k: 'refused'; readonly code: string; readonly message: string };

export async function askStore(tabular: Tabular, plan: Plan, scope: Scope, pushDown: boolean): Promise<Answer> {
  return answerOf(async () => tabular.query({ plan, scope, vocabulary: 'core', pushDown, explain: true }));
}

/** Runs the executor alone over rows in memory. */
export async function askExecutor(plan: Plan, rows: Batch): Promise<Answer> {
  return answerOf(async () => {
    const batches: Batch[] = [];
    const input = plan.source === 'none' ? [] : [rows];
    for await (const batch of execute(plan.stages, input, { open: () => [rows] })) batches.push(batch);
    return batches;
  });
}

async function answerOf(run: () => Promise<QueryResult | readonly Batch[]>): Promise<Answer> {
  try {
    const found = await run();
    if (!('count' in found)) return { k: 'rows', rows: found.flatMap(rowsOf), scannedBytes: 0 };
    const { scannedBytes, explain } = found;
    return { k: 'rows', rows: rowsOf(found), scannedBytes, explain };
  } catch (caught) {
    const { code, message } = caught instanceof QueryError ? caught.toPlatformError() : asPlatformError(caught);
    return { k: 'refused', code, message };
  }
}

function rowsOf({ count, bytes, ends }: Batch): Uint8Array[] {
  return Array.from({ length: count }, (_, row) => bytes.subarray(row === 0 ? 0 : ends[row - 1], ends[row]));
}

/** Whether two answers are byte-identical; NaN values with different bits are considered equal. */
export function areSame(left: Answer, right: Answer, order: 'in order' | 'in any order'): boolean {
  return [latin1, shown].some((form) => textOf(left, order, form) === textOf(right, order, form));
}

export function latin1(row: Uint8Array): string {
  return Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1');
}

function shown(row: Uint8Array): string {
  return [...documentsOf({ count: 1, bytes: row, ends: Uint32Array.of(row.length) })].map(show).join();
}

function textOf(answer: Answer, order: 'in order' | 'in any order', form: (row: Uint8Array) => string): string {
  if (answer.k === 'refused') return `${answer.code}: ${answer.message}`;
  const rows = answer.rows.map(form);
  return (order === 'in order' ? rows : rows.sort()).join('\n');
}

export function showAnswer(answer: Answer): string {
  if (answer.k === 'refused') return `refused ${answer.code}: ${answer.message}`;
  const rows = answer.rows.map(shown);
  return [`${rows.length} rows, ${answer.scannedBytes} bytes`, ...rows.slice(0, 12).map((row) => `    ${row}`)].join(
    '\n',
  );
}
