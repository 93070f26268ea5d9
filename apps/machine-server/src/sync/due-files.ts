import { stat } from 'node:fs/promises';
import type { Clock } from '@platform/base';
import { walkFiles } from '../directories/walk-files.ts';

export interface DueFile {
  readonly path: string;
  /** The capture directory that contains it; undefined for a file in an additional path. */
  readonly directory: string | undefined;
}

export interface DueFilesDeps {
  readonly captureDirectories: readonly string[];
  readonly additionalPaths: readonly string[];
  /** Files in additional paths must be unmodified for this long. */
  readonly unmodifiedMs: number;
  readonly isReady: (path: string) => boolean;
  readonly clock: Clock;
}

/** Files that may be sent now, capture files first. */
export async function* dueFiles(deps: DueFilesDeps, signal: AbortSignal): AsyncGenerator<DueFile> {
  const { captureDirectories, additionalPaths, unmodifiedMs, isReady, clock } = deps;
  for (const directory of captureDirectories)
    for await (const path of walkFiles(directory, signal))
      if (path.endsWith('.capture') && isReady(path)) yield { path, directory };
  for (const root of additionalPaths) {
    for await (const path of walkFiles(root, signal)) {
      if (/\.(capture|prog|tmp|reason)$/.test(path) || !isReady(path)) continue;
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || found.size === 0 || clock.now() - found.mtimeMs < unmodifiedMs) continue;
      yield { path, directory: undefined };
    }
  }
}
