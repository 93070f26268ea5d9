/**
 * `core:builtin:builtin` of the data manager: turns its attributes and the capture methods of all resources into collectors, sync and
 * deletion.
 */
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { invalidArgument, type Problem } from '@platform/base';
import {
  type DataManagerAttributes,
  dataManagerApi,
  readDataManagerAttributes,
} from '@platform/machine-config/data-manager';
import { dataManagerFields } from '@platform/machine-config/fields';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { DataManager } from '@platform/resources';
import { planCapture } from '../../capture/plan-capture.ts';
import { docdbSettings } from '../../docdb/docdb-settings.ts';
import type { Associated, BuildContext, Model, Reconfigurable } from '../../graph/model.ts';
import { logProblems } from '../../logging/log-problems.ts';
import { planSync, selectiveSyncer } from '../../sync/rules/plan-sync.ts';
import { type DataManagerParts, dataManagerMethods } from './data-manager-methods.ts';

/** Larger capture files would not fit into a call. */
const mostFileBytes = 16 * 1024 * 1024;
/** Each thread holds a whole file in memory. */
const mostThreads = 64;

/** @param parts returns the parts that data managers use; called when one is built. */
export function createDataManager(parts: () => DataManagerParts): Model {
  /** By name, in order of creation. The first one is used; `notSupported` reports the others. */
  const inUse = new Map<string, { readonly owner: symbol; readonly bring: () => Promise<void> }>();
  const bringToFirst = (): Promise<void> => {
    const [first] = inUse.values();
    return first === undefined ? stop(parts()) : first.bring();
  };
  const set = async (
    owner: symbol,
    config: ResourceConfig,
    { associated, dependencies }: BuildContext,
  ): Promise<void> => {
    const { name, attributes } = config;
    const errors = readDataManagerAttributes(attributes, 'attributes').problems.filter(
      ({ level }) => level === 'error',
    );
    if (errors.length > 0) throw invalidArgument(errors.map(({ path, message }) => `${path}: ${message}`).join('; '));
    inUse.set(name, { owner, bring: () => configure(config, associated, dependencies, parts()) });
    await bringToFirst();
  };
  return {
    api: dataManagerApi,
    model: 'core:builtin:builtin',
    fields: dataManagerFields,
    // Without the sensor nothing is sent, but everything is captured.
    dependencies: async ({ attributes }) => ({ required: [], optional: selectiveSyncer(attributes) }),
    async build(config, context): Promise<Reconfigurable & DataManager> {
      const owner = Symbol(config.name);
      await set(owner, config, context);
      return {
        ...dataManagerMethods(parts, config.name),
        async reconfigure(next, nextContext) {
          await set(owner, next, nextContext);
          return this;
        },
        async close() {
          if (inUse.get(config.name)?.owner !== owner) return;
          inUse.delete(config.name);
          await bringToFirst();
        },
      };
    },
  };
}

/** Without a data manager nothing is captured or sent. */
async function stop({ capture, sync, reclaim, docdb }: DataManagerParts): Promise<void> {
  sync.unconfigure();
  reclaim.configure(undefined);
  await docdb.stop();
  await capture.configure([]);
}

/** Applies a configuration to capture, sync and deletion; unchanged collectors continue undisturbed. */
async function configure(
  service: ResourceConfig,
  resources: readonly Associated[],
  dependencies: BuildContext['dependencies'],
  parts: DataManagerParts,
): Promise<void> {
  const { capture, sync, reclaim, docdb, log } = parts;
  const { attributes, problems } = readDataManagerAttributes(service.attributes, service.name);
  const directory = captureDirectory(attributes, parts, problems);
  const atMost = (key: 'maximum_capture_file_size_bytes' | 'maximum_num_sync_threads', most: number): number => {
    const value = attributes[key] ?? 0;
    const message = `${value} exceeds the maximum of ${most}, which is used instead`;
    if (value > most) problems.push({ path: `${service.name}.${key}`, level: 'warning', message });
    return Math.min(value, most);
  };
  const threads = atMost('maximum_num_sync_threads', mostThreads);
  const defaults = {
    tags: attributes.tags,
    directory,
    maxFileBytes: atMost('maximum_capture_file_size_bytes', mostFileBytes),
    ownDirectories: !parts.untrusted,
    types: parts.types,
  };
  const planned = planCapture(resources, defaults, resolvePath);
  // Before the first file could be sealed.
  await docdb.configure(
    docdbSettings(attributes.docdb_capture_config, `${service.name}.docdb_capture_config`, problems),
  );
  const allowedFolders = parts.untrusted ? parts.allowedSyncFolders : undefined;
  const rules = planSync(
    service,
    attributes,
    dependencies,
    { clock: parts.clock, directory, resolvePath, allowedFolders },
    problems,
  );
  void logProblems(log, [...problems, ...planned.problems]);
  sync.configure(
    {
      ...rules.settings,
      disabled: attributes.sync_disabled,
      threads: threads || Math.max(1, Math.floor(availableParallelism() / 2)),
    },
    rules.rule,
  );
  // After sync, so that no reading is captured while the status says that sync is off.
  await capture.configure(attributes.capture_disabled ? [] : planned.plans);
  reclaim.configure(
    attributes.capture_disabled
      ? undefined
      : {
          thresholds: {
            diskUsage: attributes.disk_usage_deletion_threshold,
            captureDirectory: attributes.capture_dir_deletion_threshold,
          },
          everyNth: attributes.delete_every_nth_when_disk_full,
        },
  );
}

function captureDirectory(attributes: DataManagerAttributes, parts: DataManagerParts, problems: Problem[]): string {
  const usual = join(parts.home, 'capture');
  const { capture_dir: asked } = attributes;
  if (asked === undefined || asked === '' || asked === '~/.platform/capture') return usual;
  const directory = resolvePath(asked);
  if (!parts.untrusted || directory === usual) return directory;
  const message = `-untrusted-env does not allow changing the capture directory: ${usual} is used`;
  problems.push({ path: 'capture_dir', level: 'error', message });
  return usual;
}

function resolvePath(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}
