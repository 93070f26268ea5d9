/** The condition for rows covered by deletions, for files rewritten without them (I10). */
import type { Delete } from '../../catalog/row-filter.ts';
import { deletedRows } from '../query/deleted-rows.ts';
import type { MergeSource } from './merge-source.ts';

/** @returns a function of the merged source; it returns undefined when none of the rows is covered */
export function excludeDeleted(
  deletes: readonly Delete[],
  captureDay: string,
): (source: MergeSource) => string | undefined {
  return ({ series }) => {
    const bind = (value: bigint): string => String(value);
    const rows = { series, captureDay, column: 'number' };
    const gone = deletes.flatMap((deletion) => deletedRows(deletion, rows, bind) ?? []);
    return gone.length === 0 ? undefined : gone.map((covered) => `(${covered})`).join(' OR ');
  };
}
