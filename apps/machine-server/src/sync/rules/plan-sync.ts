/** Turns the data manager's attributes into the settings and rules of sync; what is wrong is reported and has its default. */
import { type Clock, errorText, type Problem } from '@platform/base';
import type { DataManagerAttributes } from '@platform/machine-config/data-manager';
import type { JsonObject, ResourceConfig } from '@platform/machine-config/schema';
import { readTimeWindow, type TimeWindow } from '@platform/machine-config/time-window';
import type { Resource } from '@platform/resources';
import type { AfterSync } from '../files/after-sync.ts';
import { type BuiltInRules, builtInRule, systemFacts } from './built-in-rule.ts';
import { selectiveSync } from './selective-sync.ts';
import type { SyncRule } from './sync-rule.ts';
import type { SyncSettings } from './sync-settings.ts';

export interface SyncPlan {
  readonly settings: Omit<SyncSettings, 'disabled' | 'threads'>;
  readonly rule: SyncRule;
}

export interface PlanSyncDeps {
  readonly clock: Clock;
  /** The capture directory. */
  readonly directory: string;
  readonly resolvePath: (path: string) => string;
}

/** The name in `selective_syncer_name`, if there is one. */
export function selectiveSyncer({ selective_syncer_name: name }: JsonObject): string[] {
  return typeof name === 'string' && name !== '' ? [name] : [];
}

/** @param problems gets what is wrong */
export function planSync(
  service: Pick<ResourceConfig, 'name' | 'depends_on' | 'attributes'>,
  attributes: DataManagerAttributes,
  dependencies: ReadonlyMap<string, Resource>,
  { clock, directory, resolvePath }: PlanSyncDeps,
  problems: Problem[],
): SyncPlan {
  const say = (level: Problem['level'], key: string, message: string): void =>
    void problems.push({ path: `${service.name}.${key}`, level, message });
  const oneOf = (key: 'sync_order' | 'additional_sync_action', known: readonly string[], otherwise: string): string => {
    // As it was given: a value of another type must not become the default, which deletes files.
    const value = service.attributes[key] ?? attributes[key];
    if (typeof value === 'string' && known.includes(value)) return value;
    say('error', key, `expected one of ${known.join(', ')}, found ${JSON.stringify(value)}: ${otherwise} is used`);
    return otherwise;
  };
  const builtIn = builtInRule(readRules(attributes, say), systemFacts(clock, directory));
  const [syncer] = selectiveSyncer(service.attributes);
  if (syncer !== undefined && !service.depends_on.some((name) => isName(name, syncer)))
    say('warning', 'selective_syncer_name', `"${syncer}" is not in depends_on: it is a dependency all the same`);
  const found = [...dependencies].find(([name]) => syncer !== undefined && isName(name, syncer))?.[1];
  const selective: SyncRule = syncer === undefined ? async () => undefined : selectiveSync(syncer, found, clock);
  return {
    settings: {
      intervalMs: attributes.sync_interval_mins * 60_000,
      tags: attributes.tags,
      additionalPaths: attributes.additional_sync_paths.map(resolvePath),
      unmodifiedMs: attributes.file_last_modified_millis,
      // Keeping loses nothing.
      after: readAfter(
        oneOf('additional_sync_action', ['delete', 'keep', 'move'], 'keep'),
        attributes,
        resolvePath,
        say,
      ),
      newestFirst: oneOf('sync_order', ['oldest_first', 'newest_first'], 'oldest_first') === 'newest_first',
      priorities: readPriorities(attributes.sync_priorities, say),
      maxBytesPerSecond: attributes.sync_max_bytes_per_second,
    },
    rule: async () => (await builtIn()) ?? (await selective()),
  };
}

type Say = (level: Problem['level'], key: string, message: string) => void;

function readRules({ sync_rules: rules }: DataManagerAttributes, say: Say): BuiltInRules {
  const { time_window: window, network_interfaces: names, when_free_disk_below: share } = rules ?? {};
  let timeWindow: TimeWindow | undefined;
  try {
    if (typeof window === 'object' && window !== null) timeWindow = readTimeWindow(window as JsonObject);
  } catch (caught) {
    say('error', 'sync_rules.time_window', `${errorText(caught)}: this rule is not used`);
  }
  const given: readonly unknown[] = Array.isArray(names) ? names : [];
  for (const name of given)
    if (typeof name !== 'string')
      say('error', 'sync_rules.network_interfaces', `expected names, found ${JSON.stringify(name)}`);
  return {
    timeWindow,
    networkInterfaces: given.filter((name) => typeof name === 'string'),
    whenFreeDiskBelow: typeof share === 'number' ? share : 0,
  };
}

function readPriorities(given: JsonObject | undefined, say: Say): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(given ?? {}).flatMap(([name, priority]): [string, number][] => {
      if (typeof priority === 'number') return [[name, priority]];
      say('error', `sync_priorities.${name}`, `expected a number, found ${JSON.stringify(priority)}`);
      return [];
    }),
  );
}

function readAfter(
  action: string,
  { additional_sync_move_to: to = '' }: DataManagerAttributes,
  resolvePath: PlanSyncDeps['resolvePath'],
  say: Say,
): AfterSync {
  if (action !== 'move') return { action: action === 'keep' ? 'keep' : 'delete' };
  if (/^[/~]|^[a-z]:/i.test(to)) return { action, to: resolvePath(to) };
  // Keeping loses nothing.
  const found = JSON.stringify(to);
  say('error', 'additional_sync_move_to', `expected an absolute path, found ${found}: files are kept where they are`);
  return { action: 'keep' };
}

/** Whether a short or full name means the same resource as another one. */
function isName(name: string, other: string): boolean {
  const short = (text: string): string => text.slice(text.lastIndexOf('/') + 1);
  return name === other || (short(name) === short(other) && !(name.includes('/') && other.includes('/')));
}
