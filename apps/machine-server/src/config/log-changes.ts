/**
 * Logs the changes of a new configuration: at info the resources, at debug each attribute. Secrets are masked. With
 * `-reveal-sensitive-config-diffs` the attributes appear at info and unmasked, but only in the outputs of this computer, because others may
 * read the log in the cloud.
 */
import type { Log, Steps } from '@platform/base';
import { type Change, diff, diffLines, equal } from '@platform/machine-config/diff';
import { mask } from '@platform/machine-config/mask-secrets';
import type { Json, MachineConfig, ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName } from '@platform/resources';
import type { ServerLog } from '../logging/server-log.ts';

export interface LogChangesOptions {
  readonly before: MachineConfig;
  readonly after: MachineConfig;
  readonly revision: string;
  readonly serverLog: Pick<ServerLog, 'local' | 'redactor'>;
  readonly log: Log;
  readonly reveal: boolean;
}

const maxNames = 50;
const maxLines = 500;

export function* logChanges({ before, after, revision, serverLog, log, reveal }: LogChangesOptions): Steps<void> {
  for (const each of [before.components, before.services, after.components, after.services].flat()) {
    withoutUndefined(each);
    yield;
  }
  const [old, next] = [asJson(before), asJson(after)];
  const [resources, nextResources] = [resourcesOf(before), resourcesOf(after)];
  const added = [...nextResources.keys()].filter((name) => !resources.has(name));
  const removed = [...resources.keys()].filter((name) => !nextResources.has(name));
  const changed: string[] = [];
  for (const [name, resource] of nextResources) {
    const earlier = resources.get(name);
    if (earlier === undefined || earlier === resource) continue;
    if (!equal(asJson(earlier), asJson(resource))) changed.push(name);
    yield;
  }
  const sections = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter(
    (key) => key !== 'components' && key !== 'services' && !equal(old[key] ?? null, next[key] ?? null),
  );
  const fields = Object.entries({ added, changed, removed, sections }).filter(([, names]) => names.length > 0);
  log.info('the configuration changes', {
    revision,
    ...Object.fromEntries(fields.map(([key, names]) => [key, listed(names)])),
  });

  const changes = diff(old, next);
  const write = reveal ? serverLog.local.child('config').child('diff').info : log.child('diff').debug;
  const isSecret = (text: string): boolean => serverLog.redactor.isSecret(text);
  for (const change of changes.slice(0, maxLines)) {
    yield;
    for (const line of diffLines([reveal ? change : withoutSecrets(change, isSecret)], { reveal })) write(line);
  }
  if (changes.length > maxLines) write(`${changes.length - maxLines} more changes`);
}

function listed(names: readonly string[]): readonly string[] {
  return names.length <= maxNames ? names : [...names.slice(0, maxNames), `and ${names.length - maxNames} more`];
}

function resourcesOf({ components, services }: MachineConfig): ReadonlyMap<string, ResourceConfig> {
  return new Map([...components, ...services].map((resource) => [formatResourceName(resource), resource]));
}

/** Values that are known to be secret, whatever their key. */
function withoutSecrets(change: Change, isSecret: (text: string) => boolean): Change {
  const masked = (value: Json): Json => {
    if (typeof value === 'string') return isSecret(value) ? mask : value;
    if (Array.isArray(value)) return value.map(masked);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item)]));
  };
  return {
    ...change,
    ...('before' in change && { before: masked(change.before) }),
    ...('after' in change && { after: masked(change.after) }),
  };
}

/** Removes keys that are undefined. Objects without such keys are not copied. */
function asJson(value: object): { readonly [key: string]: Json } {
  return withoutUndefined(value) as { readonly [key: string]: Json };
}

/** Resources without undefined keys, which stay the same objects in later configurations (see share-equal.ts). */
const clean = new WeakSet<object>();

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || clean.has(value)) return value;
  if (!hasUndefined(value)) {
    if ('api' in value) clean.add(value);
    return value;
  }
  if (Array.isArray(value)) {
    const items = value.map(withoutUndefined);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, item]) => (item === undefined ? [] : [[key, withoutUndefined(item)] as const]));
  const isSame = kept.length === entries.length && kept.every(([, item], index) => item === entries[index]?.[1]);
  return isSame ? value : Object.fromEntries(kept);
}

function hasUndefined(value: object): boolean {
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (item === undefined || (typeof item === 'object' && item !== null && !clean.has(item) && hasUndefined(item)))
      return true;
  }
  return false;
}
