/** Adds tags to files and removes them. */

import { chunks, failedPrecondition } from '@platform/base';
import { insertMissing } from '../../metadata/insert-missing.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import type { FileRow } from '../find/find-files.ts';
import { maxTags } from '../limits.ts';
import { ofFile } from '../store.ts';
import { tagsOf, tagsText } from '../tags-text.ts';

/** Returns how many files were changed. @throws failed_precondition when one of them would have too many */
export async function addTags(trx: Database, files: readonly FileRow[], tags: readonly string[]): Promise<number> {
  const rows = files.flatMap((file) => tags.map((tag) => ({ binary_data_id: file.id, tag, ...ofFile(file) })));
  await insertMissing(trx.insertInto('binary_data_tags'), rows);
  const full = files.find((file) => new Set([...tagsOf(file), ...tags]).size > maxTags);
  if (full !== undefined)
    throw failedPrecondition(
      `binary data ${full.id}: expected at most ${maxTags} tags, found more with the new ones; remove some first`,
    );
  await writeTags(trx, files, (file) => [...new Set([...tagsOf(file), ...tags])]);
  return files.length;
}

/** Returns how many files had one of the tags. */
export async function removeTags(trx: Database, files: readonly FileRow[], tags: readonly string[]): Promise<number> {
  const had = new Set<string>();
  for (const some of chunks(files, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    const removed = await trx
      .deleteFrom('binary_data_tags')
      .where('binary_data_id', 'in', ids)
      .where('tag', 'in', tags)
      .returning('binary_data_id')
      .execute();
    for (const { binary_data_id } of removed) had.add(binary_data_id);
  }
  await writeTags(trx, files, (file) => tagsOf(file).filter((tag) => !tags.includes(tag)));
  return had.size;
}

/** The copies in the rows of the files. */
async function writeTags(
  trx: Database,
  files: readonly FileRow[],
  become: (file: FileRow) => readonly string[],
): Promise<void> {
  for (const [text, changed] of Map.groupBy(files, (file) => tagsText(become(file))))
    for (const some of chunks(changed, rowsPerStatement))
      await trx
        .updateTable('binary_data')
        .set({ tags: text })
        .where(
          'id',
          'in',
          some.map(({ id }) => id),
        )
        .where('tags', '!=', text)
        .execute();
}
