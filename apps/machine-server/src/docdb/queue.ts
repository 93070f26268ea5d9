/**
 * Capture files whose readings the document database does not have yet: `<home>/docdb_queue/<name of the capture file>`.
 *
 * A file enters the queue before it is sealed, as a hard link (a copy if the capture directory is on another disk), so that it stays when
 * sync deletes the original. It is removed once the database has its readings; after an earlier crash, they are sent again under the same
 * ids. The folder exists while a database is configured: a start that finds it queues the files that it recovers.
 */
import { link, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorText, type Log, readRegular } from '@platform/base';
import { type CaptureFileContents, readCaptureFile } from '@platform/capture-file';
import { LimitedLog } from '../logging/limited-log.ts';

/** The oldest files beyond it are dropped: more than a million readings. */
const mostQueuedBytes = 256 * 1024 * 1024;

export class DocdbQueue {
  /** Readings that the database will never get, because the queue was full or the disk failed. */
  droppedReadings = 0;
  readonly #folder: string;
  readonly #log: LimitedLog;
  readonly #mostBytes: number;
  /** Bytes by name, the oldest first; undefined if no database is configured. */
  #files: Map<string, number> | undefined;
  #bytes = 0;

  constructor(home: string, log: Log, nowMs: () => number, mostBytes: number = mostQueuedBytes) {
    this.#folder = join(home, 'docdb_queue');
    this.#log = new LimitedLog(log, nowMs);
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#files?.size ?? 0;
  }

  /** Finds files that an earlier process left. */
  async start(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => undefined);
    if (names !== undefined) await this.#fill(names);
  }

  /** From now on, files are queued. */
  async open(): Promise<void> {
    if (this.#files !== undefined) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#fill(await readdir(this.#folder));
  }

  /** Deletes the queue; from now on, no file is queued. */
  async clear(): Promise<void> {
    this.#files = undefined;
    this.#bytes = 0;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Queues a capture file that is about to be sealed. Never rejects, because nothing may hold up capture.
   *
   * @param path of the file, whose content is complete
   */
  async add(path: string): Promise<void> {
    const files = this.#files;
    if (files === undefined) return;
    const name = basename(path).replace(/\.prog$/, '.capture');
    const target = join(this.#folder, name);
    try {
      // A failed seal is repeated, possibly with a rewritten file.
      await rm(target, { force: true });
      await link(path, target).catch(() => {});
      // Where others may write, it may be a link.
      if (!(await isFile(target))) await copy(path, target);
      const { size } = await stat(target);
      this.#bytes += size - (files.get(name) ?? 0);
      files.set(name, size);
    } catch (caught) {
      // Not even a link to a pipe stays: a later start would wait for it.
      await rm(target, { force: true }).catch(() => {});
      const contents = await readRegular(path, { maxBytes: mostQueuedBytes })
        .then(readCaptureFile)
        .catch(() => undefined);
      this.droppedReadings += contents?.readings.length ?? 0;
      const error = errorText(caught);
      this.#log.write('error', 'a capture file cannot be queued for the document database; sync is not affected', {
        ...{ path, error, droppedReadings: this.droppedReadings },
      });
      return;
    }
    while (this.#bytes > this.#mostBytes && files.size > 1) await this.#dropOldest(files);
  }

  /** The names of the oldest files. */
  oldest(most: number): string[] {
    return [...(this.#files?.keys().take(most) ?? [])];
  }

  /** Undefined if it is gone, or not a capture file. */
  async read(name: string): Promise<CaptureFileContents | undefined> {
    try {
      return readCaptureFile(await readRegular(join(this.#folder, name), { maxBytes: mostQueuedBytes }));
    } catch (caught) {
      this.#log.write('warn', 'a file in the queue of the document database cannot be read; it is skipped', {
        ...{ name, error: errorText(caught) },
      });
      return undefined;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
    this.#bytes -= this.#files?.get(name) ?? 0;
    this.#files?.delete(name);
  }

  async #fill(names: readonly string[]): Promise<void> {
    const files = new Map<string, number>();
    for (const name of names.filter((each) => each.endsWith('.capture')).toSorted())
      files.set(name, (await stat(join(this.#folder, name))).size);
    this.#files = files;
    this.#bytes = files.values().reduce((sum, bytes) => sum + bytes, 0);
  }

  async #dropOldest(files: ReadonlyMap<string, number>): Promise<void> {
    const [name = ''] = files.keys();
    const readings = (await this.read(name))?.readings.length ?? 0;
    await this.remove(name);
    this.droppedReadings += readings;
    this.#log.write('error', 'the queue of the document database is full; its oldest readings are dropped', {
      ...{ mostBytes: this.#mostBytes, droppedReadings: this.droppedReadings },
    });
  }
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function copy(from: string, to: string): Promise<void> {
  const bytes = await readRegular(from, { maxBytes: mostQueuedBytes });
  await rm(to, { force: true });
  await writeFile(to, bytes, { mode: 0o600, flag: 'wx' });
}
