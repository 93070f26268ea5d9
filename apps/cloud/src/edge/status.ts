/** The data of the status page: counters, machines, and the latest readings and messages. */
import type { AccountTree } from '../accounts/tree.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { version } from '../instance/build-info.ts';
import { longHoldMs, type PartStatuses } from '../machines/part-status.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Registry } from '../machines/registry.ts';
import { countedAtMost } from '../outbox/count-messages.ts';
import type { Outbox } from '../outbox/feature.ts';
import type { ListedMessage } from '../outbox/list-messages.ts';
import type { Tabular } from '../tabular/tabular.ts';
import type { TestInbox } from '../test-inbox/feature.ts';
import type { Triggers } from '../triggers/feature.ts';
import { latestReadings } from './latest-readings.ts';

const shownUploads = 8;
const shownAttempts = 8;
const shownMails = 20;

export interface StatusDeps {
  readonly tree: AccountTree;
  readonly registry: Registry;
  readonly presence: Presence;
  readonly partStatuses: PartStatuses;
  readonly ingestLog: IngestLog;
  readonly tabular: Tabular;
  readonly outbox: Outbox;
  readonly triggers: Triggers;
  readonly testInbox: TestInbox;
  readonly startedMs: number;
  readonly now: () => number;
}

/** Everything on this installation: the page is for its operator. */
export async function readStatus(deps: StatusDeps): Promise<unknown> {
  const { tree, registry, presence, partStatuses, ingestLog, tabular, outbox, triggers, testInbox, startedMs, now } =
    deps;
  const organizations = tree.organizations();
  const machines = organizations
    .flatMap((one) => tree.locationsOf(one.id))
    .flatMap((location) => registry.machinesOf(location.id));
  const store = await tabular.status();
  const messages = await outbox.list({ limit: 200 });
  const counts = await outbox.counts('webhook');
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
      delivered: counted(counts.delivered),
      waiting: counted(counts.pending),
      attempts: latestAttempts(messages).slice(0, shownAttempts),
      undeliveredMails: latestAttempts(await outbox.list({ undeliveredIn: 'email', limit: shownMails })),
    },
    latest: await latestReadings(ingestLog, shownUploads),
    caught: testInbox
      .requests(0)
      .slice(-shownUploads)
      .reverse()
      .map(({ receivedAt, method, path, body }) => ({ receivedAt, method, path, body: body.slice(0, 4_000) })),
  };
}

/** A configuration that the part holds until its maintenance window; undefined: none. */
function heldOf(
  statuses: PartStatuses,
  partId: string,
  nowMs: number,
): { sinceMs: number; reason: string; isLong: boolean } | undefined {
  const { held_revision: revision, held_ms: sinceMs, held_reason: reason } = statuses.of(partId);
  return revision === '' ? undefined : { sinceMs, reason, isLong: nowMs - sinceMs >= longHoldMs };
}

function counted(count: number): string {
  return count < countedAtMost ? `${count}` : `${countedAtMost} or more`;
}

/** Newest first. */
function latestAttempts(messages: readonly ListedMessage[]): { atMs: number; [field: string]: unknown }[] {
  return messages
    .flatMap((message) =>
      message.attempts.map((attempt) => ({
        atMs: attempt.at,
        attempt: attempt.attempt,
        trigger: message.triggerName || message.eventType,
        target: message.target.replace(/\?.*$/, ''),
        outcome:
          attempt.outcome === 'accepted'
            ? `delivered${attempt.code === null ? '' : ` (${attempt.code})`}`
            : `${attempt.outcome}: ${attempt.error ?? attempt.code}`,
      })),
    )
    .sort((a, b) => b.atMs - a.atMs);
}
