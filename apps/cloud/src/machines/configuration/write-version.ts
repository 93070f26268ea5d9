/** Writes one version of a part's configuration, with what depends on it, in its caller's transaction. */
import type { Transaction } from 'kysely';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { CloudTables } from '../../metadata/tables.ts';
import { authorText } from '../author.ts';
import type { ConfigurationVersion } from './configuration.ts';
import type { Effective } from './effective-configuration.ts';

export interface NewVersion {
  readonly partId: string;
  readonly organizationId: string;
  readonly version: ConfigurationVersion;
  /** `version.document`, decoded. */
  readonly parsed: unknown;
  readonly resolved: Effective;
  readonly by: Caller | OwnActor;
  /** For the audit trail. */
  readonly action: string;
}

/** What depends on a configuration moves with it, in the transaction that saves it. */
export type OnSaving = (
  trx: Transaction<CloudTables>,
  partId: string,
  effective: Effective,
  document: unknown,
) => Promise<void>;

export async function writeVersion(
  trx: Transaction<CloudTables>,
  onSaving: OnSaving,
  { partId, organizationId, version, parsed, resolved, by, action }: NewVersion,
): Promise<void> {
  const { document, author, createdMs, revision, restoredFrom } = version;
  await trx
    .insertInto('part_configurations')
    .values({
      part_id: partId,
      version: version.version,
      document,
      bytes: Buffer.byteLength(document),
      author: authorText(author),
      author_kind: author.kind,
      author_id: author.id,
      created_ms: createdMs,
      revision,
      restored_from: restoredFrom,
    })
    .execute();
  await onSaving(trx, partId, resolved, parsed);
  const detail = { version: version.version, ...(restoredFrom === 0 ? {} : { restored_from: restoredFrom }) };
  await audit(trx, by, { action, organizationId, targetKind: 'part', targetId: partId, detail }, createdMs);
}
