/**
 * Deletes every Nth captured file while the disk is too full (D11). Deletions are counted and logged once per pass, so that the gap is
 * visible.
 */
import { lstat, statfs, unlink } from 'node:fs/promises';
import { asPlatformError, type Clock, errorText, type Log } from '@platform/base';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { inFolder, unless } from '../../directories/folder.ts';
import { failedFolder } from '../../directories/paths.ts';
import { readCaptured } from '../../directories/read-captured.ts';
import type { SeqLedger } from '../../directories/seq-ledger.ts';
import { walk, walkFiles } from '../../directories/walk-files.ts';
import type { Gaps } from '../../gaps/gaps.ts';
import { damagedReadings, lostReadings } from '../../gaps/lost-readings.ts';
import { type DeletionThresholds, type DiskUse, mustDelete } from './deletion-rule.ts';

export interface ReclaimSettings {
  readonly thresholds: DeletionThresholds;
  readonly everyNth: number;
}

export interface ReclaimDeps {
  readonly directories: () => readonly string[];
  /** Whether the file is being sent; such files are not deleted. */
  readonly sending: (path: string) => boolean;
  readonly ledger: SeqLedger;
  readonly gaps: Pick<Gaps, 'add' | 'flush'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Usage of the volume that contains `directory`. */
  readonly volume: (directory: string) => Promise<{ volumeBytes: number; usedBytes: number }>;
}

const everyMs = 30_000;
/** Files that are counted, and then deleted, together: they are in memory, up to 16 MiB each. */
const filesAtOnce = 8;

export class Reclaim implements AsyncDisposable {
  /** Files deleted since the start. */
  deletedFiles = 0;
  /** Readings in them, by `<api>/<name>`. */
  readonly discarded: Map<string, number> = new Map();
  /** Files whose readings are counted, but which the disk refused to delete. */
  readonly #counted = new Map<string, CaptureFileHeader>();
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

  /** @param settings undefined if nothing is deleted (capture is disabled). */
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

  /**
   * Counts the readings of a file that is about to be deleted. Undefined if it could never have been sent.
   *
   * @throws if it cannot be read now; then it must stay
   */
  async #count(path: string, directory: string): Promise<CaptureFileHeader | undefined> {
    const known = this.#counted.get(path);
    if (known !== undefined) return known;
    try {
      const contents = await readCaptured(path, directory);
      const { header, readings } = contents;
      const [lost, damaged] = [lostReadings(header, readings), damagedReadings(contents)];
      if (damaged !== undefined)
        this.#deps.gaps.add(damaged.series, GapReason.DAMAGED, damaged.readings, damaged.startUs, damaged.endUs);
      if (lost !== undefined) {
        this.#deps.gaps.add(lost.series, GapReason.DISCARDED, lost.readings, lost.startUs, lost.endUs);
        const resource = `${lost.series.api}/${lost.series.name}`;
        this.discarded.set(resource, (this.discarded.get(resource) ?? 0) + lost.readings);
      }
      return header;
    } catch (caught) {
      if (asPlatformError(caught).code !== 'data_loss') throw caught;
      return undefined;
    }
  }

  async #size(directory: string): Promise<number> {
    let bytes = 0;
    const options = {
      ...{ enters: (path: string) => !path.endsWith(`/${failedFolder}`), onUnreadable: () => {}, excludesOwned: true },
      signal: this.#stop.signal,
    };
    for await (const { kind, stats } of walk(directory, directory, options))
      if (kind === 'file') bytes += Number((await stats().catch(() => undefined))?.size ?? 0);
    return bytes;
  }

  async #delete(directory: string, everyNth: number, use: DiskUse): Promise<void> {
    const { ledger, gaps, sending, log } = this.#deps;
    let index = 0;
    let files = 0;
    let bytes = 0;
    let batch: string[] = [];
    const discard = async (): Promise<void> => {
      const counted = await Promise.allSettled(batch.map((path) => this.#count(path, directory)));
      // Counted before the deletion: a crash in between may count files that still exist, but never misses deleted ones.
      await gaps.flush();
      for (const [at, path] of batch.entries()) {
        const count = counted[at];
        try {
          if (count?.status !== 'fulfilled') throw count?.reason;
          if (count.value !== undefined) this.#counted.set(path, count.value);
          const size = await remove(path, directory);
          this.#counted.delete(path);
          if (count.value !== undefined) ledger.settle(count.value.stream, Number(count.value.seq));
          files++;
          bytes += size;
        } catch (caught) {
          log.error('the disk is full, but a capture file cannot be deleted', { path, error: errorText(caught) });
        }
      }
      batch = [];
    };
    for await (const path of walkFiles(directory, this.#stop.signal)) {
      if (!path.endsWith('.capture') || index++ % everyNth !== 0 || sending(path)) continue;
      batch.push(path);
      if (batch.length >= filesAtOnce) await discard();
    }
    await discard();
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

/** @returns its bytes; 0 if it is gone, or no longer below the directory */
async function remove(path: string, directory: string): Promise<number> {
  const removed = async (at: string): Promise<number> => {
    const { size } = await lstat(at);
    await unlink(at);
    return size;
  };
  return (await inFolder(path, directory, removed).catch(unless('ENOENT', 'ELOOP'))) ?? 0;
}

/** The usage reported by the operating system. */
export async function systemVolume(directory: string): Promise<{ volumeBytes: number; usedBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(directory);
  return { volumeBytes: blocks * bsize, usedBytes: (blocks - bavail) * bsize };
}
