/** What the status page shows: counters, machines, and the latest of what arrives. */
import { fromBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import type { AccountTree } from '../accounts/tree.ts';
import type { Catcher } from '../catcher/feature.ts';
import type { IngestLog } from '../ingest/log.ts';
import { version } from '../instance/build-info.ts';
import { longHoldMs, type PartStatuses } from '../machines/part-status.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Registry } from '../machines/registry.ts';
import type { Notify } from '../notify/feature.ts';
import type { Tabular } from '../tabular/tabular.ts';
import type { Triggers } from '../triggers/feature.ts';

const shownUploads = 8;
const shownAttempts = 8;

export interface StatusDeps {
  readonly tree: AccountTree;
  readonly registry: Registry;
  readonly presence: Presence;
  readonly partStatuses: PartStatuses;
  readonly ingestLog: IngestLog;
  readonly tabular: Tabular;
  readonly notify: Notify;
  readonly triggers: Triggers;
  readonly catcher: Catcher;
  readonly startedMs: number;
  readonly now: () => number;
}

/** The host administrator's view of this installation: everything on it, because the page is for whoever started it. */
export async function readStatus(deps: StatusDeps): Promise<unknown> {
  const { tree, registry, presence, partStatuses, ingestLog, tabular, notify, triggers, catcher, startedMs, now } =
    deps;
  const organizations = tree.organizations();
  const machines = organizations
    .flatMap((one) => tree.locationsOf(one.id))
    .flatMap((location) => registry.machinesOf(location.id));
  const store = await tabular.status();
  const messages = await notify.list({ limit: 200 });
  const counts = await notify.counts();
  return {
    version,
    uptimeMs: now() - startedMs,
    organization: organizations.map((one) => one.name).join(', '),
    parts: machines.flatMap((machine) =>
      registry.partsOf(machine.id).map((part) => ({
        machine: machine.name,
        part: part.name,
        ...presence.of(part.id),
        held: heldOf(partStatuses, part.id, now()),
      })),
    ),
    ingest: {
      uploads: ingestLog.lastPosition(),
      damaged: (await ingestLog.damaged()).length,
      lost: ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null).length,
    },
    tabular: {
      rows: store.hotRows + store.fileRows,
      lag: store.committedPosition - store.loadedPosition,
      damaged: store.damagedRows,
    },
    triggers: { lag: triggers.lag() },
    notify: {
      delivered: counted(counts.delivered, counts.atMost),
      waiting: counted(counts.pending, counts.atMost),
      attempts: messages
        .flatMap((message) =>
          message.attempts.map((attempt) => ({
            atMs: attempt.at,
            trigger: message.triggerName,
            target: message.target.replace(/\?.*$/, ''),
            outcome:
              attempt.outcome === 'accepted'
                ? `delivered (${attempt.code})`
                : `${attempt.outcome}: ${attempt.error ?? attempt.code}`,
          })),
        )
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, shownAttempts),
    },
    latest: await latestReadings(ingestLog),
    caught: catcher
      .requests(0)
      .slice(-shownUploads)
      .reverse()
      .map(({ receivedAt, method, path, body }) => ({ receivedAt, method, path, body: body.slice(0, 4_000) })),
  };
}

/** A configuration that waits for the maintenance window of the part; undefined: none. */
function heldOf(
  statuses: PartStatuses,
  partId: string,
  nowMs: number,
): { sinceMs: number; reason: string; isLong: boolean } | undefined {
  const { held_revision: revision, held_ms: sinceMs, held_reason: reason } = statuses.of(partId);
  return revision === '' ? undefined : { sinceMs, reason, isLong: nowMs - sinceMs >= longHoldMs };
}

function counted(count: number, atMost: number): string {
  return count < atMost ? `${count}` : `${atMost} or more`;
}

/** The last reading of each of the newest uploads that the log still holds. */
async function latestReadings(log: IngestLog): Promise<unknown[]> {
  const newest = { rows: shownUploads, bytes: 4 * 1024 * 1024 };
  const rows = await log.read(Math.max(0, log.lastPosition() - shownUploads), newest);
  const sound = rows.filter(({ damage }) => damage === undefined);
  return sound.toReversed().map((row) => {
    const upload = fromBinary(LoggedUploadSchema, row.batch);
    const last = upload.readings.at(-1);
    const reading = last === undefined ? undefined : fromBinary(SensorDataSchema, last);
    const time = reading?.metadata?.timeReceived;
    return {
      timeMs: time === undefined ? null : timestampMs(time),
      part: upload.place?.partName ?? '',
      component: upload.metadata?.componentName ?? '',
      method: upload.metadata?.methodName ?? '',
      data: reading?.data.case === 'struct' ? reading.data.value : { bytes: Number(upload.blob?.sizeBytes ?? 0n) },
    };
  });
}
