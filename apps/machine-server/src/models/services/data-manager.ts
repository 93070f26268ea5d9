/** `core:builtin:builtin` of the data manager: turns its attributes and everyone's capture methods into collectors, sync and deletion. */
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Log, PlatformError } from '@platform/base';
import { type DataManagerAttributes, readDataManagerAttributes } from '@platform/machine-config/data-manager';
import type { Problem, ResourceConfig } from '@platform/machine-config/schema';
import type { Capture } from '../../capture/capture.ts';
import { planCapture } from '../../capture/plan-capture.ts';
import type { Model } from '../../graph/resource.ts';
import type { Reclaim } from '../../sync/reclaim.ts';
import type { Sync } from '../../sync/sync.ts';

export const dataManagerApi = 'core:service:data_manager';

export const dataManagerModel: Model = {
  api: dataManagerApi,
  model: 'core:builtin:builtin',
  async build({ attributes }) {
    const { problems } = readDataManagerAttributes(attributes, 'attributes');
    const errors = problems.filter((problem) => problem.level === 'error');
    if (errors.length > 0)
      throw new PlatformError('invalid_argument', errors.map(({ path, message }) => `${path}: ${message}`).join('; '));
    return { async close() {} };
  },
};

export interface DataManagerParts {
  readonly capture: Capture;
  readonly sync: Sync;
  readonly reclaim: Reclaim;
  readonly home: string;
  /** `-untrusted-env` (D16). */
  readonly untrusted: boolean;
  readonly log: Log;
}

/** Capture files above this would not fit a call. */
const mostFileBytes = 16 * 1024 * 1024;
/** More would hold that many whole files in memory. */
const mostThreads = 64;

/** Brings capture, sync and deletion to a configuration. Without a data manager nothing is captured or sent. */
export async function configureDataManager(
  resources: readonly ResourceConfig[],
  parts: DataManagerParts,
): Promise<void> {
  const { capture, sync, reclaim, log } = parts;
  const service = resources.find(({ api }) => api === dataManagerApi);
  if (service === undefined) {
    sync.unconfigure();
    reclaim.configure(undefined);
    await capture.configure([]);
    return;
  }
  const { attributes, problems } = readDataManagerAttributes(service.attributes, service.name);
  const directory = captureDirectory(attributes, parts, problems);
  const atMost = (key: 'maximum_capture_file_size_bytes' | 'maximum_num_sync_threads', most: number): number => {
    const value = attributes[key] ?? 0;
    const message = `${value} is more than ${most}, which is used`;
    if (value > most) problems.push({ path: `${service.name}.${key}`, level: 'warning', message });
    return Math.min(value, most);
  };
  const threads = atMost('maximum_num_sync_threads', mostThreads);
  const defaults = {
    tags: attributes.tags,
    directory,
    maxFileBytes: atMost('maximum_capture_file_size_bytes', mostFileBytes),
    ownDirectories: !parts.untrusted,
  };
  const planned = planCapture(resources, defaults, resolvePath);
  for (const { level, path, message } of [...problems, ...planned.problems])
    log[level === 'error' ? 'error' : 'warn'](`${path}: ${message}`);
  await capture.configure(attributes.capture_disabled ? [] : planned.plans);
  sync.configure({
    intervalMs: attributes.sync_interval_mins * 60_000,
    disabled: attributes.sync_disabled,
    threads: threads || Math.max(1, Math.floor(availableParallelism() / 2)),
    tags: attributes.tags,
    additionalPaths: attributes.additional_sync_paths.map(resolvePath),
    unmodifiedMs: attributes.file_last_modified_millis,
  });
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
  const message = `changing the capture directory is refused by -untrusted-env: ${usual} is used`;
  problems.push({ path: 'capture_dir', level: 'error', message });
  return usual;
}

function resolvePath(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}
