/**
 * The only module that writes catalog rows. Each change updates the row's checksum and, in the same transaction, the organization's proof
 * of completeness. A row is verified before it is removed, so that a damaged row never disappears without a trace.
 */
import { dataLoss } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import { isDeleteRowRight, isFileRowRight } from '../integrity/catalog-findings.ts';
import {
  addChecksums,
  type CheckedFile,
  type DeleteRow,
  deleteRowChecksum,
  deleteValues,
  emptySum,
  type FileRow,
  fileRowChecksum,
  fileValues,
  isChecksum,
  stateRowChecksum,
  stateValues,
  subtractChecksum,
} from '../integrity/row-checksum.ts';
import { dropCopy, keepCopy, nameOfDelete, nameOfFile, nameOfState } from '../integrity/row-copies.ts';
import { proofDayOf } from './proof-days.ts';

type Column = 'files' | 'deletes';

export async function addFileRow(trx: Database, row: CheckedFile): Promise<void> {
  const row_check = fileRowChecksum(row);
  await trx
    .insertInto('tabular_files')
    .values({ ...row, row_check, proof_day: proofDayOf(row) })
    .execute();
  await keepCopy(trx, nameOfFile(row.file), row.organization_id, fileValues(row));
  await proveFile(trx, row, 1, (sum) => addChecksums(sum, [row_check]));
}

/** Returns the removed row; undefined if it is not listed. @throws data_loss when the row was changed. */
export async function removeFileRow(trx: Database, file: string): Promise<FileRow | undefined> {
  const row = await trx.selectFrom('tabular_files').selectAll().where('file', '=', file).executeTakeFirst();
  if (row === undefined) return undefined;
  requireRight(isFileRowRight(row), `the row of file ${file}`);
  await trx.deleteFrom('tabular_files').where('file', '=', file).execute();
  await trx.deleteFrom('tabular_health').where('file', '=', file).execute();
  await dropCopy(trx, nameOfFile(file));
  await proveFile(trx, row, -1, (sum) => subtractChecksum(sum, fileRowChecksum(row)));
  return row;
}

export async function addDeleteRow(trx: Database, row: Omit<DeleteRow, 'id' | 'row_check'>): Promise<void> {
  const { id } = await trx
    .insertInto('tabular_deletes')
    .values({ ...row, row_check: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  const row_check = deleteRowChecksum({ ...row, id });
  await trx.updateTable('tabular_deletes').set({ row_check }).where('id', '=', id).execute();
  await keepCopy(trx, nameOfDelete(id), row.organization_id, deleteValues({ ...row, id }));
  await prove(trx, row.organization_id, 'deletes', 1, (sum) => addChecksums(sum, [row_check]));
}

/** @throws data_loss when its row was changed. */
export async function setDeleteUpTo(trx: Database, id: number, upTo: number): Promise<void> {
  const row = await trx.selectFrom('tabular_deletes').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return;
  requireRight(isDeleteRowRight(row), `the row of deletion ${id}`);
  const row_check = deleteRowChecksum({ ...row, up_to: upTo });
  await trx.updateTable('tabular_deletes').set({ up_to: upTo, row_check }).where('id', '=', id).execute();
  await keepCopy(trx, nameOfDelete(id), row.organization_id, deleteValues({ ...row, up_to: upTo }));
  await prove(trx, row.organization_id, 'deletes', 0, (sum) =>
    addChecksums(subtractChecksum(sum, deleteRowChecksum(row)), [row_check]),
  );
}

/** @throws data_loss when its row was changed. */
export async function removeDeleteRow(trx: Database, id: number): Promise<void> {
  const row = await trx.selectFrom('tabular_deletes').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return;
  requireRight(isDeleteRowRight(row), `the row of deletion ${id}`);
  await trx.deleteFrom('tabular_deletes').where('id', '=', id).execute();
  await dropCopy(trx, nameOfDelete(id));
  await prove(trx, row.organization_id, 'deletes', -1, (sum) => subtractChecksum(sum, deleteRowChecksum(row)));
}

/** S as stored, whether or not its row is intact. */
export async function storedSealedPosition(db: Database): Promise<number> {
  return (await db.selectFrom('tabular_state').select('sealed_position').executeTakeFirstOrThrow()).sealed_position;
}

/** Returns false if S has already reached the position. @throws data_loss when the row was changed. */
export async function moveSealed(trx: Database, sealed: number): Promise<boolean> {
  const row = await trx.selectFrom('tabular_state').selectAll().where('id', '=', 1).executeTakeFirst();
  requireRight(row?.row_check === stateRowChecksum(row?.sealed_position ?? 0), 'the sealed position');
  if ((row?.sealed_position ?? sealed) >= sealed) return false;
  await trx
    .updateTable('tabular_state')
    .set({ sealed_position: sealed, row_check: stateRowChecksum(sealed) })
    .where('id', '=', 1)
    .execute();
  await keepCopy(trx, nameOfState, '', stateValues(sealed));
  return true;
}

/** In the proof of its organization, and in that of its day. */
async function proveFile(
  trx: Database,
  file: CheckedFile,
  rows: -1 | 1,
  change: (sum: string) => string,
): Promise<void> {
  const { organization_id } = file;
  await prove(trx, organization_id, 'files', rows, change);
  const set = { organization_id, proof_day: proofDayOf(file) };
  const found = await trx
    .selectFrom('tabular_day_proofs')
    .selectAll()
    .where('organization_id', '=', organization_id)
    .where('proof_day', '=', set.proof_day)
    .executeTakeFirst();
  const before = found ?? { files: 0, files_sum: emptySum };
  requireRight(isChecksum(before.files_sum), 'a proof of completeness');
  const changed = { files: before.files + rows, files_sum: change(before.files_sum) };
  if (found === undefined)
    await trx
      .insertInto('tabular_day_proofs')
      .values({ ...set, ...changed })
      .execute();
  else if (changed.files === 0 && changed.files_sum === emptySum)
    await trx
      .deleteFrom('tabular_day_proofs')
      .where('organization_id', '=', organization_id)
      .where('proof_day', '=', set.proof_day)
      .execute();
  else
    await trx
      .updateTable('tabular_day_proofs')
      .set(changed)
      .where('organization_id', '=', organization_id)
      .where('proof_day', '=', set.proof_day)
      .execute();
}

async function prove(
  trx: Database,
  organizationId: string,
  column: Column,
  rows: -1 | 0 | 1,
  change: (sum: string) => string,
): Promise<void> {
  const found = await trx
    .selectFrom('tabular_proofs')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  const before = found ?? { files: 0, files_sum: emptySum, deletes: 0, deletes_sum: emptySum };
  requireRight(isChecksum(before.files_sum) && isChecksum(before.deletes_sum), 'the proof of completeness');
  const changed = {
    files: before.files,
    files_sum: before.files_sum,
    deletes: before.deletes,
    deletes_sum: before.deletes_sum,
    [column]: before[column] + rows,
    [`${column}_sum`]: change(before[`${column}_sum`]),
  };
  if (found === undefined)
    await trx
      .insertInto('tabular_proofs')
      .values({ organization_id: organizationId, ...changed })
      .execute();
  else if (
    changed.files === 0 &&
    changed.deletes === 0 &&
    changed.files_sum === emptySum &&
    changed.deletes_sum === emptySum
  )
    await trx.deleteFrom('tabular_proofs').where('organization_id', '=', organizationId).execute();
  else await trx.updateTable('tabular_proofs').set(changed).where('organization_id', '=', organizationId).execute();
}

function requireRight(isRight: boolean, what: string): void {
  if (!isRight) throw dataLoss(`${what} in the catalog was altered; nothing was done with it`);
}
