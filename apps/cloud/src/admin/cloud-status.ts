/** The status that a running cloud reports to the host administrator. */
import { version } from '@platform/base';
import type { Binary } from '../binary/feature.ts';
import { freeBytesOf, neededForUploads } from '../ingest/disk/free-space.ts';
import type { Ingest } from '../ingest/feature.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import type { RowWatch } from '../metadata/row-checks/row-watch.ts';
import type { Tabular } from '../tabular/tabular.ts';

export interface CloudStatusDeps {
  readonly dataDirectory: string;
  readonly dataVersion: number;
  readonly startedMs: number;
  readonly url: string;
  /** SHA-256 of the installation's own authority. Undefined if it did not issue the cloud's certificate. */
  readonly caFingerprint: string | undefined;
  /** Whether webhooks may go to private address ranges (D23). */
  readonly allowPrivateWebhookTargets: boolean;
  /** Number of organizations. */
  readonly organizations: () => number;
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'retainedBytes' | 'losses'>;
  readonly ingest: Pick<Ingest<never>, 'uploadsSlowed'>;
  readonly tabular: Pick<Tabular, 'sealedPosition' | 'lag'>;
  readonly binary: Pick<Binary, 'damagedFiles'>;
  readonly rows: Pick<RowWatch, 'damages'>;
}

export async function cloudStatus(deps: CloudStatusDeps): Promise<Readonly<Record<string, unknown>>> {
  const { dataDirectory, dataVersion, startedMs, url, caFingerprint, ingestLog, ingest, tabular, binary, rows } = deps;
  const { loadedPosition, unsealedBytes } = tabular.lag();
  return {
    running: true,
    dataDirectory,
    version,
    dataVersion,
    processId: process.pid,
    startedMs,
    url,
    caFingerprint: caFingerprint ?? null,
    organizations: deps.organizations(),
    privateWebhookTargets: deps.allowPrivateWebhookTargets ? 'allowed' : 'refused',
    lastPosition: ingestLog.lastPosition(),
    sealedPosition: tabular.sealedPosition(),
    loadedPosition,
    unsealedBytes,
    uploadsSlowed: ingest.uploadsSlowed() ?? null,
    retainedBytes: ingestLog.retainedBytes(),
    freeBytes: await freeBytesOf(dataDirectory),
    freeBytesForUploads: neededForUploads(ingestLog.retainedBytes()),
    damagedFiles: [...binary.damagedFiles()].map((id) => `binary data ${id}`),
    damagedRows: rows.damages(),
    losses: ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null),
  };
}
