/** Converts the data manager's attributes to the settings and rules of sync; wrong values are reported and get their defaults. */
import type { Clock, Problem } from '@platform/base';
import type { DataManagerAttributes } from '@platform/machine-config/data-manager';
import type { JsonObject, ResourceConfig } from '@platform/machine-config/schema';
import { readSyncChoices } from '@platform/machine-config/sync-choices';
import type { Resource } from '@platform/resources';
import { isIn, outsideAllowed } from '../files/sync-roots.ts';
import { builtInRule, systemFacts } from './built-in-rule.ts';
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
  /** See SyncSettings. */
  readonly allowedFolders: readonly string[] | undefined;
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
  { clock, directory, resolvePath, allowedFolders }: PlanSyncDeps,
  problems: Problem[],
): SyncPlan {
  const say = (level: Problem['level'], key: string, message: string): void =>
    void problems.push({ path: `${service.name}.${key}`, level, message });
  const choices = readSyncChoices(service.attributes, (key, message) => say('error', key, message));
  const { newestFirst, after, priorities, timeWindow, networkInterfaces } = choices;
  const share = attributes.sync_rules?.['when_free_disk_below'];
  const whenFreeDiskBelow = typeof share === 'number' ? share : 0;
  const builtIn = builtInRule({ timeWindow, networkInterfaces, whenFreeDiskBelow }, systemFacts(clock, directory));
  const [syncer] = selectiveSyncer(service.attributes);
  if (syncer !== undefined && !service.depends_on.some((name) => isName(name, syncer)))
    say('warning', 'selective_syncer_name', `"${syncer}" is not in depends_on: it is still treated as a dependency`);
  const found = [...dependencies].find(([name]) => syncer !== undefined && isName(name, syncer))?.[1];
  const selective: SyncRule = syncer === undefined ? async () => undefined : selectiveSync(syncer, found, clock);
  const isAllowed = (key: string, path: string): boolean => {
    const isInside = allowedFolders?.some((folder) => isIn(path, folder)) ?? true;
    if (!isInside) say('error', key, outsideAllowed(path));
    return isInside;
  };
  const to = after.action === 'move' ? resolvePath(after.to) : '';
  const mayMove = after.action === 'move' && isAllowed('additional_sync_move_to', to);
  return {
    settings: {
      intervalMs: attributes.sync_interval_mins * 60_000,
      tags: attributes.tags,
      additionalPaths: attributes.additional_sync_paths
        .map(resolvePath)
        .filter((path) => isAllowed('additional_sync_paths', path)),
      allowedFolders,
      unmodifiedMs: attributes.file_last_modified_millis,
      // A file that may not be moved stays.
      after: after.action !== 'move' ? after : mayMove ? { action: 'move', to } : { action: 'keep' },
      newestFirst,
      priorities,
      maxBytesPerSecond: attributes.sync_max_bytes_per_second,
    },
    rule: async () => (await builtIn()) ?? (await selective()),
  };
}

/** Whether a short or full name means the same resource as another one. */
function isName(name: string, other: string): boolean {
  const short = (text: string): string => text.slice(text.lastIndexOf('/') + 1);
  return name === other || (short(name) === short(other) && !(name.includes('/') && other.includes('/')));
}
