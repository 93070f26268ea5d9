/** The arbitrary files of `additional_sync_paths` that may be sent now. */
import { type Clock, errorText, type LogFields } from '@platform/base';
import type { FoundFile } from '../after-attempt.ts';
import type { Omitted } from '../omitted.ts';
import type { SyncSettings } from '../rules/sync-settings.ts';
import type { AfterSync } from './after-sync.ts';
import { fingerprintOf } from './fingerprint.ts';
import { listFiles } from './list-files.ts';
import type { SentFiles } from './sent-files.ts';
import { SettledFiles } from './settled-files.ts';
import { isIn, moveTarget, syncRoots } from './sync-roots.ts';

type DueFilesSettings = Pick<SyncSettings, 'additionalPaths' | 'unmodifiedMs' | 'after' | 'allowedFolders'>;

export interface DueFilesDeps {
  readonly home: string;
  readonly captureDirectories: () => readonly string[];
  readonly isDue: (path: string) => boolean;
  readonly sent: SentFiles;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets what is never sent. */
  readonly omitted: Omitted;
  /** Reports folders that cannot be synced; the same message at most once a minute. */
  readonly say: (message: string, fields: LogFields) => void;
}

export class DueFiles {
  readonly #deps: DueFilesDeps;
  readonly #settled: SettledFiles;

  constructor(deps: DueFilesDeps) {
    this.#deps = deps;
    this.#settled = new SettledFiles(deps.clock);
  }

  async *list(settings: DueFilesSettings | undefined): AsyncGenerator<FoundFile> {
    if (settings === undefined || settings.additionalPaths.length === 0) return;
    const { additionalPaths, unmodifiedMs, allowedFolders } = settings;
    const { home, captureDirectories, isDue, sent, signal, omitted, say } = this.#deps;
    const { roots, skipped, faults } = await syncRoots(additionalPaths, captureDirectories(), home, allowedFolders);
    for (const fault of faults) say(`additional_sync_paths: ${fault}; nothing in it is synced`, {});
    const after = await this.#after(settings);
    if (after === undefined) return;
    const moved = after.action === 'move' ? [after.to] : [];
    const onOmitted = (path: string, why: string): void => omitted.note(path, `additional_sync_paths: ${why}`);
    for (const root of roots)
      for await (const file of listFiles(root, { skipped: new Set([...skipped, ...moved]), onOmitted, signal })) {
        const { path } = file;
        if (!isDue(path) || moved.some((folder) => isIn(path, folder))) continue;
        if (!this.#settled.isSettled(file, unmodifiedMs)) continue;
        if (after.action === 'keep' && (await sent.has(path, fingerprintOf(file.stats)))) continue;
        yield { path, root, after };
      }
  }

  /** What happens to sent files; undefined if they cannot be moved. */
  async #after({ after, allowedFolders }: DueFilesSettings): Promise<AfterSync | undefined> {
    if (after.action !== 'move') return after;
    try {
      return { action: 'move', to: await moveTarget(after.to, allowedFolders) };
    } catch (caught) {
      this.#deps.say(`additional_sync_move_to: ${errorText(caught)}; no file is sent`, {});
      return undefined;
    }
  }
}
