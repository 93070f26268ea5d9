/** Objects of the cloud as results: plain fields, times in RFC 3339. */
import { type GetPartStatusResponse, type JsonObject, OnlineState, timestampDate } from '@platform/sdk/cloud';

type Timestamp = Parameters<typeof timestampDate>[0];

export function timeOf(at: Timestamp | undefined): string | null {
  return at === undefined ? null : timestampDate(at).toISOString();
}

const stateNames: Readonly<Record<OnlineState, string>> = {
  [OnlineState.UNSPECIFIED]: 'unknown',
  [OnlineState.ONLINE]: 'online',
  [OnlineState.OFFLINE]: 'offline',
  [OnlineState.AWAITING_SETUP]: 'awaiting setup',
};

export function stateOf(state: OnlineState): string {
  return stateNames[state] ?? 'unknown';
}

export const partStatusFields: readonly string[] = [
  'part_id',
  'state',
  'last_access',
  'saved_version',
  'saved_revision',
  'saved_at',
  'fetched_revision',
  'fetched_at',
  'applied_revision',
  'applied_at',
  'held_revision',
  'held_since',
  'held_reason',
  'forced_at',
  'last_error',
  'server_version',
  'platform',
];

export function partStatus(one: GetPartStatusResponse): JsonObject {
  return {
    part_id: one.partId,
    state: stateOf(one.onlineState),
    last_access: timeOf(one.lastAccess),
    saved_version: Number(one.savedVersion),
    saved_revision: one.saved?.revision ?? null,
    saved_at: timeOf(one.saved?.at),
    fetched_revision: one.fetched?.revision ?? null,
    fetched_at: timeOf(one.fetched?.at),
    applied_revision: one.applied?.revision ?? null,
    applied_at: timeOf(one.applied?.at),
    held_revision: one.held?.revision ?? null,
    held_since: timeOf(one.held?.at),
    held_reason: one.heldReason || null,
    forced_at: timeOf(one.forced?.at),
    last_error: one.lastError || null,
    server_version: one.serverVersion || null,
    platform: one.platform || null,
  };
}
