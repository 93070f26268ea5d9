/** The data of the status page: counters, machines, and the latest readings and messages. */
import { version } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { longHoldMs, type PartStatuses } from '../machines/part-status.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Registry } from '../machines/registry.ts';
import { countedAtMost } from '../outbox/count-messages.ts';
import type { Outbox } from '../outbox/feature.ts';
import type { ListedMessage, ListFilter } from '../outbox/list-messages.ts';
import { outcomeWords } from '../outbox/outcome-words.ts';
import type { Tabular } from '../tabular/tabular.ts';
import type { TestInbox } from '../test-inbox/feature.ts';
import type { Triggers } from '../triggers/feature.ts';
import { latestReadings } from './latest-readings.ts';
import { seenInTestInbox } from './test-inbox-access.ts';

const shownUploads = 8;
const shownAttempts = 8;
const shownMails = 20;
/** Number of messages whose newest attempts are shown. */
const listedMessages = 200;

export interface StatusDeps {
  readonly access: Pick<Access, 'allows' | 'ownsAll'>;
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

/**
 * What the caller may see: parts and readings of what they operate, messages of what they own. Figures of the whole installation are null
 * unless they own all of it.
 */
export async function readStatus(deps: StatusDeps, principal: Principal): Promise<unknown> {
  const { access, tree, registry, presence, partStatuses, ingestLog, startedMs, now } = deps;
  const organizations = tree.organizations().filter(({ id }) => access.allows(principal, 'organization.see', id));
  const sees = (partId: string): boolean => access.allows(principal, 'part.read', partId);
  const isWhole = access.ownsAll(principal);
  // A location that is shared with the caller belongs to an organization that is not in the lists.
  const parts = tree
    .organizations()
    .flatMap((one) => tree.locationsOf(one.id))
    .flatMap((location) => registry.machinesOf(location.id))
    .flatMap((machine) => registry.partsOf(machine.id).map((part) => ({ machine, part })))
    .filter(({ part }) => sees(part.id));
  return {
    version,
    uptimeMs: now() - startedMs,
    organization: organizations.map((one) => one.name).join(', '),
    parts: parts.map(({ machine, part }) => ({
      machine: machine.name,
      part: part.name,
      ...presence.of(part.id),
      held: heldOf(partStatuses, part.id, now()),
    })),
    installation: isWhole ? await figures(deps) : null,
    notify: await messagesFor(deps, principal, isWhole),
    latest: await latestReadings(ingestLog, shownUploads, isWhole ? () => true : sees),
    caught: caughtFor(deps, principal),
  };
}

async function figures({ ingestLog, tabular, triggers, outbox }: StatusDeps): Promise<unknown> {
  const store = await tabular.status();
  const counts = await outbox.counts('webhook');
  return {
    uploads: ingestLog.lastPosition(),
    damagedUploads: (await ingestLog.damaged()).length,
    lostUploads: ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null).length,
    rows: store.hotRows + store.fileRows,
    rowsLag: store.committedPosition - store.loadedPosition,
    damagedRows: store.damagedRows,
    triggersLag: triggers.lag(),
    delivered: counted(counts.delivered),
    waiting: counted(counts.pending),
    failed: counted(counts.failed),
  };
}

/** Targets may contain secrets, so messages are shown only to owners: of the part, or of the organization if there is none. */
async function messagesFor({ access, tree, outbox }: StatusDeps, principal: Principal, isWhole: boolean) {
  const owns = ({ partId, organizationId }: ListedMessage): boolean =>
    isWhole ||
    (partId === ''
      ? access.allows(principal, 'organization.manage', organizationId)
      : access.allows(principal, 'part.manage', partId));
  const list = async (filter: ListFilter): Promise<ListedMessage[]> => {
    if (isWhole) return outbox.list(filter);
    const found: ListedMessage[] = [];
    for (const { id } of tree.organizations())
      if (access.allows(principal, 'organization.see', id))
        found.push(...(await outbox.list({ ...filter, organizationId: id })));
    return found.filter(owns);
  };
  return {
    attempts: latestAttempts(await list({ limit: listedMessages })).slice(0, shownAttempts),
    undeliveredMails: latestAttempts(await list({ undeliveredIn: 'email', limit: shownMails })),
  };
}

function caughtFor({ access, testInbox }: StatusDeps, principal: Principal): unknown[] {
  return testInbox
    .requests(0)
    .filter(seenInTestInbox(access, principal))
    .slice(-shownUploads)
    .reverse()
    .map(({ receivedAt, method, path, body }) => ({ receivedAt, method, path, body: body.slice(0, 4_000) }));
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
        outcome: outcomeText(attempt),
      })),
    )
    .sort((a, b) => b.atMs - a.atMs);
}

/** What came of an attempt, in a few words. */
export function outcomeText({ outcome, code, error, response }: ListedMessage['attempts'][number]): string {
  if (outcome === 'accepted') return `delivered${code === null ? '' : ` (${code})`}`;
  if (outcome === 'kept') return response ?? outcome;
  return `${outcomeWords[outcome]}: ${error ?? code ?? 'no answer'}`;
}
