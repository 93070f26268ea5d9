/** One action on many machines, a few at a time; a failure does not stop the others. */
import { problemOf } from '../api/problem.ts';
import type { FleetRow } from './rows.ts';

export interface BulkResult {
  readonly done: number;
  readonly failed: readonly { readonly row: FleetRow; readonly why: string }[];
}

const atOnce = 4;

export async function onEach(
  rows: readonly FleetRow[],
  act: (row: FleetRow) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<BulkResult> {
  const left = [...rows];
  const failed: { row: FleetRow; why: string }[] = [];
  let finished = 0;
  const work = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      try {
        await act(row);
      } catch (caught) {
        failed.push({ row, why: problemOf(caught).detail });
      }
      progress(++finished);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { done: rows.length - failed.length, failed };
}
