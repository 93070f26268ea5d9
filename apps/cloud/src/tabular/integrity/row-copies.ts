/** The second copies of the catalog's rows: written with each row, read only by repairs. */
import type { Database } from '../../metadata/tables.ts';
import type { TabularCopiesTable } from '../store.ts';
import {
  checksumOf,
  type DeleteRow,
  deleteColumns,
  type FileRow,
  fileColumns,
  type RowValues,
} from './row-checksum.ts';

export const nameOfFile = (file: string): string => `file ${file}`;
export const nameOfDelete = (id: number): string => `delete ${id}`;
export const nameOfState = 'state';

export async function keepCopy(trx: Database, name: string, organizationId: string, values: RowValues): Promise<void> {
  const row = JSON.stringify(values);
  await trx
    .insertInto('tabular_copies')
    .values({ name, organization_id: organizationId, row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ organization_id: organizationId, row }))
    .execute();
}

export async function dropCopy(trx: Database, name: string): Promise<void> {
  await trx.deleteFrom('tabular_copies').where('name', '=', name).execute();
}

export type Copied =
  | { readonly kind: 'file'; readonly row: FileRow }
  | { readonly kind: 'delete'; readonly row: DeleteRow }
  | { readonly kind: 'state'; readonly sealedPosition: number; readonly rowCheck: string };

/** Undefined: not a valid copy. Only the sums show whether a valid copy has the right values. */
export function readCopy({ row: text }: TabularCopiesTable): Copied | undefined {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(values)) return undefined;
  const [kind, ...rest] = values;
  const row_check = checksumOf(values as RowValues);
  const rowOf = (columns: readonly string[]) =>
    rest.length === columns.length
      ? Object.fromEntries([...columns.map((column, at) => [column, rest[at]]), ['row_check', row_check]])
      : undefined;
  if (kind === 'state' && Number.isSafeInteger(rest[0])) return { kind, sealedPosition: rest[0], rowCheck: row_check };
  const row = kind === 'file' ? rowOf(fileColumns) : kind === 'delete' ? rowOf(deleteColumns) : undefined;
  // Only decoded, not verified: a wrong value changes the checksum that is compared with the sums.
  return row === undefined ? undefined : ({ kind, row } as Copied);
}
