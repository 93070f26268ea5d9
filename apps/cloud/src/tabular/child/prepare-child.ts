/** Runs before each start of the child: settles the catalog and removes files that it does not list (I14). */
import { join } from 'node:path';
import type { Log } from '@platform/base';
import type { IngestLog } from '../../ingest/log/log.ts';
import type { DeletionPause } from '../../instance/deletion-pause.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { removeUnlisted } from '../catalog/remove-unlisted.ts';
import type { Seals } from '../catalog/seals.ts';
import { recordLoss } from '../integrity/record-loss.ts';
import type { ToChild } from '../process/messages.ts';
import type { TabularSettings } from '../settings.ts';
import type { ChildMessages } from './child-messages.ts';

export interface PrepareChildDeps {
  readonly dataDir: string;
  readonly parquetDir: string;
  /** URL of the ingest log's database. Undefined: ingest.sqlite. */
  readonly database: string | undefined;
  readonly settings: TabularSettings;
  readonly catalog: Pick<Catalog, 'sealedPosition' | 'findings' | 'fileNames'>;
  readonly ingestLog: Pick<IngestLog, 'follow' | 'losses' | 'recordLoss'>;
  readonly deletions: DeletionPause;
  readonly seals: Pick<Seals, 'settled' | 'readPosition'>;
  readonly messages: Pick<ChildMessages, 'begin'>;
  readonly log: Log;
}

/** Returns the first message for the child. */
export async function prepareChild(deps: PrepareChildDeps): Promise<Extract<ToChild, { kind: 'init' }>> {
  const { dataDir, parquetDir, database, settings, catalog, ingestLog, deletions, seals, messages, log } = deps;
  // Seals that the dead child reported are listed before any file is removed.
  await seals.settled();
  const sealed = await catalog.sealedPosition();
  seals.readPosition(sealed);
  messages.begin(sealed);
  // A backup may still be copying files that became unlisted after it began; they are removed at the next start. If the catalog is damaged,
  // an unlisted file may be the only copy of its rows.
  const wrong = await catalog.findings();
  for (const { text } of wrong)
    log.error('the catalog is damaged; files that it does not list are kept', { found: text });
  const [next] = await ingestLog.follow(sealed, { rows: 1, bytes: 1 });
  if (next?.damage !== undefined) recordLoss(ingestLog, log, next.damage);
  // A catalog that lost its end may not list files that still contain what the log lost.
  const isLost = ingestLog.losses().some(({ lossIn, acceptedMs }) => lossIn === 'readings' && acceptedMs === null);
  if (isLost)
    log.warn('files that the catalog does not list are kept, because they may contain what the ingest log lost');
  const removed =
    deletions.held || wrong.length > 0 || isLost
      ? []
      : await deletions.run(async () => removeUnlisted(parquetDir, await catalog.fileNames()));
  if (removed.length > 0) log.warn('removed files that a crash left unlisted', { files: removed.length });
  const logSource = database === undefined ? { file: join(dataDir, 'ingest.sqlite') } : { database };
  return { kind: 'init' as const, logSource, parquetDir, sealed, settings };
}
