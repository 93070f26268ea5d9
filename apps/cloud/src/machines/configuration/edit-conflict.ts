/** The error for an edit of a version that is no longer the newest: it lists the changes since then, and their author. */
import { aborted, type PlatformError } from '@platform/base';
import { diff, diffLines } from '@platform/machine-config/diff';
import type { Database } from '../../metadata/tables.ts';
import { timeText } from '../../wire/time-text.ts';
import { authorText } from '../author.ts';
import type { ConfigurationVersion } from './configuration.ts';

const shownChanges = 20;

/** Must be called outside of any transaction: comparing two documents takes time. */
export async function editConflict(
  db: Database,
  partId: string,
  edited: { readonly createdMs: number } | { readonly version: number },
  newest: ConfigurationVersion,
): Promise<PlatformError> {
  const versions = db.selectFrom('part_configurations').select('document').where('part_id', '=', partId);
  const row = await ('version' in edited
    ? versions.where('version', '=', edited.version)
    : versions.where('created_ms', '=', edited.createdMs)
  ).executeTakeFirst();
  const named = 'version' in edited ? `version ${edited.version}` : `the version of ${timeText(edited.createdMs)}`;
  const head = `configuration of part ${partId}: you edited ${named}, but the newest is version ${newest.version}, saved at ${timeText(newest.createdMs)} by ${authorText(newest.author)}. Nothing was saved: read it again and repeat your edit`;
  if (row === undefined || row.document === '') return aborted(head);
  const changes = diff(JSON.parse(row.document), JSON.parse(newest.document));
  const lines = diffLines(changes.slice(0, shownChanges));
  if (changes.length > shownChanges) lines.push(`… and ${changes.length - shownChanges} more`);
  return aborted(`${head}. Changed since:\n${lines.join('\n')}`);
}
