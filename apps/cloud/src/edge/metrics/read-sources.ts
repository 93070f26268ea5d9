/** Reads the metrics that other features know: positions, lags, sizes, counts. */
import { version } from '@platform/base';
import type { AccountTree } from '../../accounts/tree.ts';
import type { Binary } from '../../binary/feature.ts';
import { neededForUploads } from '../../ingest/disk/free-space.ts';
import type { Ingest } from '../../ingest/feature.ts';
import type { IngestLog } from '../../ingest/log/log.ts';
import type { Presence } from '../../machines/presence/presence.ts';
import type { Registry } from '../../machines/registry.ts';
import type { Outbox } from '../../outbox/feature.ts';
import { channelNames } from '../../outbox/store.ts';
import type { Tabular } from '../../tabular/tabular.ts';
import type { Triggers } from '../../triggers/feature.ts';

export interface MetricSources {
  readonly ingestLog: Pick<IngestLog, 'lastPosition' | 'retainedBytes' | 'losses'>;
  readonly ingest: Pick<Ingest<never>, 'stored' | 'uploadsSlowed'>;
  readonly tabular: Pick<Tabular, 'status'>;
  readonly triggers: Pick<Triggers, 'lag'>;
  readonly binary: Pick<Binary, 'lag'>;
  readonly outbox: Pick<Outbox, 'counts'>;
  readonly tree: Pick<AccountTree, 'organizations' | 'locationsOf'>;
  readonly registry: Pick<Registry, 'machinesOf' | 'partsOf'>;
  readonly presence: Pick<Presence, 'of'>;
  readonly freeBytes: () => Promise<number>;
  /** Wall ms. */
  readonly startedMs: number;
}

export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function readSources(sources: MetricSources): Promise<readonly Sample[]> {
  const { ingestLog, ingest, tabular, triggers, binary, startedMs } = sources;
  const samples: Sample[] = [];
  const add =
    (type: Sample['type']) =>
    (name: string, help: string, value: number, labels: Sample['labels'] = {}): void =>
      void samples.push({ name: `platform_${name}`, help, type, labels, value });
  const [counter, gauge] = [add('counter'), add('gauge')];

  gauge('info', 'Version of the cloud; always 1.', 1, { version });
  gauge('start_time_seconds', 'When the cloud started, in seconds since 1970.', startedMs / 1_000);
  const { user, system } = process.cpuUsage();
  const cpu = 'Processor time of the cloud process, without the tabular process.';
  counter('cpu_seconds_total', cpu, (user + system) / 1e6);
  gauge(
    'resident_bytes',
    'Resident memory of the cloud process, without the tabular process.',
    process.memoryUsage.rss(),
  );

  const { uploads, readings, bytes } = ingest.stored();
  counter('ingest_uploads_total', 'Uploads that were stored; retries of stored uploads are not counted.', uploads);
  counter('ingest_readings_total', 'Tabular readings that were stored.', readings);
  counter('ingest_bytes_total', 'Bytes of the tabular readings that were stored.', bytes);
  gauge(
    'ingest_slowed',
    '1 while uploads wait because the store is behind, or did during the last minute.',
    ingest.uploadsSlowed() ? 1 : 0,
  );
  gauge('ingest_log_position', 'Last committed position of the ingest log.', ingestLog.lastPosition());
  gauge('ingest_log_bytes', 'Bytes in the ingest log that are not truncated yet.', ingestLog.retainedBytes());
  const losses = ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null).length;
  gauge('ingest_log_losses', 'Parts of the ingest log that were lost through damage and not yet accepted.', losses);

  const store = await tabular.status();
  const lag = (follower: string, uploads: number): void =>
    gauge(
      'follower_lag_uploads',
      'Committed uploads that a follower of the ingest log has not processed yet.',
      uploads,
      { follower },
    );
  lag('load', store.committedPosition - store.loadedPosition);
  lag('seal', store.committedPosition - store.sealedPosition);
  lag('triggers', triggers.lag().rows);
  lag('binary', binary.lag().rows);
  gauge('store_up', '1 while the tabular process runs.', store.process === 'running' ? 1 : 0);
  counter('store_restarts_total', 'How often the tabular process died and was restarted.', store.restarts);
  gauge('store_running_queries', 'Queries that the tabular process is answering.', store.runningQueries);
  const rows = 'Rows of the tabular store: hot ones are not in sealed files yet.';
  gauge('store_rows', rows, store.hotRows, { state: 'hot' });
  gauge('store_rows', rows, store.fileRows, { state: 'sealed' });
  gauge('store_files', 'Sealed files.', store.files);
  gauge('store_file_bytes', 'Size of the sealed files.', store.fileBytes);
  gauge(
    'store_damaged_uploads',
    'Uploads that could not be loaded, wholly or in part, since the start.',
    store.damagedRows,
  );

  const messages = 'Messages of the last 30 days by state; counting stops at 10,000 in each.';
  for (const channel of channelNames) {
    const counts = await sources.outbox.counts(channel);
    for (const [state, count] of Object.entries(counts)) gauge('messages', messages, count, { channel, state });
  }

  gauge('disk_free_bytes', 'Free space of the disk with the data directory.', await sources.freeBytes());
  const needed = 'Free space below which uploads are refused.';
  gauge('disk_needed_bytes', needed, neededForUploads(ingestLog.retainedBytes()));

  const parts = partsByState(sources);
  for (const [state, count] of parts) gauge('parts', 'Machine parts by presence.', count, { state });
  return samples;
}

function partsByState({ tree, registry, presence }: MetricSources): Map<string, number> {
  const counts = new Map<string, number>([
    ['online', 0],
    ['offline', 0],
    ['awaiting_setup', 0],
  ]);
  for (const { id: organizationId } of tree.organizations())
    for (const location of tree.locationsOf(organizationId))
      for (const machine of registry.machinesOf(location.id))
        for (const part of registry.partsOf(machine.id)) {
          const { state } = presence.of(part.id);
          counts.set(state, (counts.get(state) ?? 0) + 1);
        }
  return counts;
}
