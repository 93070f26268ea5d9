/** Objects of the cloud as results: plain fields, times in RFC 3339. */
import {
  type GetPartStatusResponse,
  type JsonObject,
  type JsonValue,
  OnlineState,
  timestampDate,
} from '@platform/sdk/cloud';

type Timestamp = Parameters<typeof timestampDate>[0];

export function timeOf(at: Timestamp | undefined): string | null {
  return at === undefined ? null : timestampDate(at).toISOString();
}

/** How long ago, in the largest unit that fits. */
export function ageOf(at: Timestamp | undefined, nowMs: number): string | null {
  if (at === undefined) return null;
  const seconds = Math.max(0, Math.floor((nowMs - timestampDate(at).getTime()) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Who did something. The owner of a new installation has neither name nor e-mail address. */
export function actorName(kind: string, name: string, id: string): string {
  return name || (kind === 'person' ? 'first owner' : id);
}

/** docs/specs/states.md says what makes each true. */
export const machineStates: Readonly<Record<OnlineState, string>> = {
  [OnlineState.UNSPECIFIED]: 'unknown',
  [OnlineState.ONLINE]: 'online',
  [OnlineState.OFFLINE]: 'offline',
  [OnlineState.AWAITING_SETUP]: 'awaiting setup',
};

export function stateOf(state: OnlineState): string {
  return machineStates[state] ?? 'unknown';
}

/** How a kind of object is presented: the names of its fields, and an object with these fields. */
export interface Presenter<T> {
  readonly fields: readonly string[];
  shape(one: T): JsonObject;
}

/** @param columns how to read each field, in the order of the result */
export function presenter<T>(columns: Readonly<Record<string, (one: T) => JsonValue>>): Presenter<T> {
  const all = Object.entries(columns);
  return {
    fields: Object.keys(columns),
    shape: (one) => Object.fromEntries(all.map(([name, read]) => [name, read(one)])),
  };
}

export const partStatus: Presenter<GetPartStatusResponse> = presenter({
  part_id: (one) => one.partId,
  state: (one) => stateOf(one.onlineState),
  last_access: (one) => timeOf(one.lastAccess),
  link_since: (one) => timeOf(one.linkSince),
  competing_servers: (one) => (one.competingServers.length === 0 ? null : one.competingServers.join(', ')),
  saved_version: (one) => Number(one.savedVersion),
  saved_revision: (one) => one.saved?.revision ?? null,
  saved_at: (one) => timeOf(one.saved?.at),
  fetched_revision: (one) => one.fetched?.revision ?? null,
  fetched_at: (one) => timeOf(one.fetched?.at),
  applied_revision: (one) => one.applied?.revision ?? null,
  applied_at: (one) => timeOf(one.applied?.at),
  held_revision: (one) => one.held?.revision ?? null,
  held_since: (one) => timeOf(one.held?.at),
  held_reason: (one) => one.heldReason || null,
  forced_at: (one) => timeOf(one.forced?.at),
  last_error: (one) => one.lastError || null,
  server_version: (one) => one.serverVersion || null,
  platform: (one) => one.platform || null,
});

/**
 * Converts results of the cloud to the spelling of the command line: JSON keys in snake_case. The same value with the keys of its objects,
 * at any depth, in snake_case.
 */
export function snakeKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [snakeCase(key), snakeKeys(field)]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
