/** Writes one version of a part's configuration, and everything that depends on it, in the caller's transaction. */
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import { authorText } from '../author.ts';
import type { ConfigurationVersion } from './configuration.ts';
import type { ConfigurationChange, OnConfigurationChange } from './configuration-change.ts';
import type { Effective, EffectiveConfigurations } from './effective-configuration.ts';

export interface NewVersion {
  readonly partId: string;
  readonly organizationId: string;
  readonly version: ConfigurationVersion;
  readonly resolved: Effective;
  readonly by: Caller | OwnActor;
  /** For the audit trail. */
  readonly action: string;
}

export interface WriteVersionDeps {
  readonly effective: Pick<EffectiveConfigurations, 'saving'>;
  readonly onConfigurationChange: OnConfigurationChange;
}

/** @param before the effective document of the previous version; undefined: there is none. */
export async function writeVersion(
  trx: DatabaseTransaction,
  { effective, onConfigurationChange }: WriteVersionDeps,
  before: ConfigurationChange['before'],
  { partId, organizationId, version, resolved, by, action }: NewVersion,
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
  await effective.saving(trx, partId, resolved);
  await onConfigurationChange(trx, [{ partId, before, after: resolved.document }]);
  const detail = { version: version.version, ...(restoredFrom === 0 ? {} : { restored_from: restoredFrom }) };
  await audit(trx, by, createdMs, action, ['part', partId, organizationId], detail);
}
