/**
 * Deletes every Nth captured file while the disk is too full (D11). Deletions are counted and logged once per pass, so that the gap is
 * visible.
 */
import { rm, stat, statfs } from 'node:fs/promises';
import { type Clock, errorText, type Log } from '@platform/base';
import { readIdentity } from '../directories/directories.ts';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import { walkFiles } from '../directories/walk-files.ts';
import { type DeletionThresholds, type DiskUse, mustDelete } from './deletion-rule.ts';

export interface ReclaimSettings {
  readonly thresholds: DeletionThresholds;
  readonly everyNth: number;
}

export interface ReclaimDeps {
  readonly directories: () => readonly string[];
  /** A file that is being sent is left alone. */
  readonly sending: (path: string) => boolean;
  readonly ledger: SeqLedger;
  readonly clock: Clock;
  readonly log: Log;
  /** Use of the volume that holds `directory`. */
  readonly volume: (directory: string) => Promise<{ volumeBytes: number; usedBytes: number }>;
}

const everyMs = 30_000;

export class Reclaim implements AsyncDisposable {
  /** Files deleted since the start. */
  deletedFiles = 0;
  readonly #deps: ReclaimDeps;
  readonly #stop = new AbortController();
  #settings: ReclaimSettings | undefined;
  #timer: Disposable | undefined;
  #pass: Promise<void> | undefined;

  constructor(deps: ReclaimDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = this.#deps.clock.every(everyMs, () => {
      this.#pass ??= this.check()
        .catch((caught) => this.#deps.log.error('checking the disk failed', { error: errorText(caught) }))
        .finally(() => {
          this.#pass = undefined;
        });
    });
  }

  /** @param settings undefined: nothing is deleted (capture is disabled). */
  configure(settings: ReclaimSettings | undefined): void {
    this.#settings = settings;
  }

  /** One pass over all directories. */
  async check(): Promise<void> {
    const settings = this.#settings;
    if (settings === undefined) return;
    const { directories, volume } = this.#deps;
    for (const directory of directories()) {
      const { volumeBytes, usedBytes } = await volume(directory);
      // Listing the directory is expensive, and cannot matter below the first threshold.
      if (usedBytes / volumeBytes < settings.thresholds.diskUsage) continue;
      const use = { volumeBytes, usedBytes, captureBytes: await this.#size(directory) };
      if (mustDelete(use, settings.thresholds)) await this.#delete(directory, settings.everyNth, use);
      else
        this.#deps.log.warn('the disk is nearly full, but not because of captured data; nothing is deleted', {
          directory,
          ...use,
        });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#stop.abort();
    await this.#pass;
  }

  async #size(directory: string): Promise<number> {
    let bytes = 0;
    for await (const path of walkFiles(directory, this.#stop.signal)) {
      bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
    }
    return bytes;
  }

  async #delete(directory: string, everyNth: number, use: DiskUse): Promise<void> {
    const { ledger, sending, log } = this.#deps;
    let index = 0;
    let files = 0;
    let bytes = 0;
    for await (const path of walkFiles(directory, this.#stop.signal)) {
      if (!path.endsWith('.capture') || index++ % everyNth !== 0 || sending(path)) continue;
      const size = (await stat(path).catch(() => undefined))?.size ?? 0;
      const identity = await readIdentity(path).catch(() => undefined);
      await rm(path, { force: true });
      if (identity !== undefined) ledger.settle(identity.stream, identity.seq);
      files++;
      bytes += size;
    }
    this.deletedFiles += files;
    log.error('the disk is full: capture files were deleted before they were synced', {
      directory,
      files,
      bytes,
      deletedSinceStart: this.deletedFiles,
      ...use,
    });
  }
}

/** As reported by the operating system. */
export async function systemVolume(directory: string): Promise<{ volumeBytes: number; usedBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(directory);
  return { volumeBytes: blocks * bsize, usedBytes: (blocks - bavail) * bsize };
}
