/**
 * A queue of lines for the cloud, in one directory, so that they survive restarts, kills and weeks without the cloud.
 *
 * The queue is a sequence of segments (`queue-file.ts`), each a file named after its first number. The last one is open: its lines are also
 * in memory, and are saved (written and synced) `saveMs` after the first unsaved one was added. Lines that the cloud accepts before that
 * never reach the disk. Sent segments are deleted; within a segment, `position.json` has the last number that was sent.
 *
 * Bounds: beyond `maxBytes` the oldest segment is dropped. `dropped.log`, a segment of one line, says how many lines and from which time;
 * it is sent before the others. At most `memoryBytes` of unsaved lines are kept (full disk, flood); beyond that, new lines are refused, and
 * a line says how many as soon as there is room.
 *
 * A crash leaves: a torn last line, which is skipped; segments that `dropped.log` already counts, which are deleted; sent lines whose
 * position was not saved, which are sent again under the same numbers, by which the cloud recognises them.
 *
 * Numbers are start × 2³² + n, where `position.json` counts the starts, so that no number is ever used for two lines.
 */
import { randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createLimiter, errorText, type LogLine, readWhole } from '@platform/base';
import { makeDirectory } from '../directories/make-directory.ts';
import { syncDirectory } from '../directories/sync-directory.ts';
import { writeDurably } from '../directories/write-durably.ts';
import { type Dropped, droppedLine, droppedOf, linesIn, mergeDropped } from './dropped-lines.ts';
import { cutLine, decodeLines, encodeLine, type QueuedLine } from './queue-file.ts';

export interface LogQueueOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** Called when saving begins to fail, with the reason, and with undefined when it works again. */
  readonly onState: (problem: string | undefined) => void;
  /** Size of all segments on disk. Default 32 MiB: about 200,000 lines, and no more than the cloud accepts from a machine in a day. */
  readonly maxBytes?: number;
  /** Default 1 MiB. */
  readonly segmentBytes?: number;
  /** Default 2 MiB. */
  readonly memoryBytes?: number;
}

interface Segment {
  readonly first: number;
  readonly bytes: number;
}

interface OpenLine extends QueuedLine {
  readonly text: string;
}

const saveMs = 1_000;
const retryMs = 5_000;
const droppedFile = 'dropped.log';
const positionFile = 'position.json';

export class LogQueue implements AsyncDisposable {
  readonly #directory: string;
  readonly #options: LogQueueOptions;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  readonly #memoryBytes: number;
  /** Identifies the numbers of this queue. */
  stream: string = randomUUID();
  #next = 2 ** 32;
  #position = 0;
  #closed: Segment[] = [];
  #open: OpenLine[] = [];
  #openBytes = 0;
  /** The file of the open segment, once it exists, and the last number in it. */
  #file: (Segment & { readonly last: number }) | undefined;
  /** The oldest closed segment, as read. */
  #head: { readonly first: number; readonly lines: readonly QueuedLine[] } | undefined;
  #dropped: (Dropped & { readonly number: number }) | undefined;
  #refused: Dropped | undefined;
  #problem: string | undefined;
  #timer: Disposable | undefined;
  #isSending = false;
  #isClosed = false;
  /** The operation on the files in progress: one at a time. */
  readonly #exclusive = createLimiter(1);

  constructor(options: LogQueueOptions) {
    this.#options = options;
    this.#directory = options.directory;
    this.#maxBytes = options.maxBytes ?? 32 * 1024 * 1024;
    this.#segmentBytes = options.segmentBytes ?? 1024 * 1024;
    this.#memoryBytes = options.memoryBytes ?? 2 * 1024 * 1024;
  }

  /** Finds the files of an earlier start. An unusable disk is reported; the queue is then in memory. */
  async start(): Promise<void> {
    try {
      await makeDirectory(this.#directory);
      const kept = await this.#readPosition();
      const names = (await readdir(this.#directory)).filter((name) => /^\d{16}\.log$/.test(name)).toSorted();
      const [report] = await this.#readFile(droppedFile);
      this.#dropped = report && { ...droppedOf(report.line), number: report.number };
      this.#position = kept.position;
      for (const name of names) {
        const first = Number(name.slice(0, 16));
        if (first <= (this.#dropped?.number ?? 0)) await rm(join(this.#directory, name), { force: true });
        else this.#closed.push({ first, bytes: (await stat(join(this.#directory, name))).size });
      }
      const start = Math.max(kept.start, Math.floor((this.#closed.at(-1)?.first ?? 0) / 2 ** 32)) + 1;
      this.#next = start * 2 ** 32;
      // Its last sync may have failed: then it is in memory, and only writing it once more brings it to the disk.
      const newest = this.#closed.at(-1);
      if (newest !== undefined) {
        const path = join(this.#directory, nameOf(newest.first));
        await writeDurably(path, await readWhole(path));
      }
      await this.#writePosition(kept.stream);
      this.stream = kept.stream;
    } catch (caught) {
      this.#failed(caught);
    }
  }

  /** Never waits for the disk. */
  add(line: LogLine): void {
    if (this.#isClosed) return;
    if (this.#openBytes > this.#memoryBytes) {
      this.#refused = mergeDropped(this.#refused, { lines: 1, fromMs: line.timeMs, toMs: line.timeMs });
      return;
    }
    this.#tellRefused();
    this.#push(cutLine(line));
    const { clock } = this.#options;
    this.#timer ??= clock.after(saveMs, () => this.#saveSoon());
    if (this.#openBytes < this.#segmentBytes || this.#problem !== undefined) return;
    this.#timer[Symbol.dispose]();
    this.#timer = clock.after(0, () => this.#saveSoon());
  }

  /** The oldest lines, with consecutive numbers; undefined if none waits. Until `done` or `release`, none of them is dropped. */
  next(maxLines: number): Promise<readonly QueuedLine[] | undefined> {
    return this.#exclusive(async () => {
      const lines = await this.#oldest(maxLines);
      this.#isSending = lines !== undefined;
      return lines;
    });
  }

  /** Records that the cloud has everything up to this number. */
  done(number: number): Promise<void> {
    return this.#exclusive(async () => {
      this.#position = Math.max(this.#position, number);
      if (this.#dropped !== undefined && this.#dropped.number <= number) {
        this.#dropped = undefined;
        await this.#remove(droppedFile);
      }
      while (this.#head !== undefined && (this.#head.lines.at(-1)?.number ?? 0) <= this.#position)
        await this.#removeHead();
      const sent = this.#open.findLastIndex((line) => line.number <= this.#position) + 1;
      for (const { text } of this.#open.splice(0, sent)) this.#openBytes -= text.length;
      if (this.#file !== undefined && this.#file.last <= this.#position) {
        const { first } = this.#file;
        this.#file = undefined;
        await this.#remove(nameOf(first));
      } else if (this.#closed.length > 0 || this.#file !== undefined) {
        await this.#writePosition(this.stream).catch((caught: unknown) => this.#failed(caught));
      }
    });
  }

  /** Records that the lines from `next` were not sent. */
  release(): void {
    this.#isSending = false;
  }

  /** Saves all unsaved lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#exclusive(() => this.#save());
  }

  #tellRefused(): void {
    if (this.#refused === undefined || this.#openBytes > this.#memoryBytes) return;
    this.#push(droppedLine(this.#refused));
    this.#refused = undefined;
  }

  #push(line: LogLine): void {
    const queued = { number: this.#next++, line };
    const text = encodeLine(queued);
    this.#open.push({ ...queued, text });
    this.#openBytes += text.length;
  }

  async #oldest(maxLines: number): Promise<readonly QueuedLine[] | undefined> {
    if (this.#dropped !== undefined) return [{ number: this.#dropped.number, line: droppedLine(this.#dropped) }];
    for (;;) {
      const [oldest] = this.#closed;
      if (oldest === undefined) break;
      if (this.#head?.first !== oldest.first)
        this.#head = { first: oldest.first, lines: await this.#readFile(nameOf(oldest.first)) };
      const unsent = consecutive(this.#head.lines, this.#position, maxLines);
      if (unsent.length > 0) return unsent;
      await this.#removeHead();
    }
    const unsent = consecutive(this.#open, this.#position, maxLines);
    return unsent.length === 0 ? undefined : unsent;
  }

  #saveSoon(): void {
    this.#timer = undefined;
    void this.#exclusive(() => this.#save());
  }

  async #save(): Promise<void> {
    try {
      await this.#saveOpen();
      this.#tellRefused();
      await this.#saveOpen();
      if (!this.#isSending) await this.#dropOldest();
      if (this.#problem !== undefined) this.#options.onState(undefined);
      this.#problem = undefined;
    } catch (caught) {
      // Its lines are still in memory, and get another file.
      if ((caught as NodeJS.ErrnoException).code === 'ENOENT') this.#file = undefined;
      this.#failed(caught);
      if (!this.#isClosed) this.#timer ??= this.#options.clock.after(retryMs, () => this.#saveSoon());
    }
  }

  async #saveOpen(): Promise<void> {
    const from = this.#file?.last ?? 0;
    const unsaved = this.#open.filter(({ number }) => number > from);
    const [first] = unsaved;
    if (first === undefined) return;
    const file = this.#file ?? { first: first.number, bytes: 0, last: 0 };
    const bytes = Buffer.from(unsaved.map(({ text }) => text).join(''));
    const path = join(this.#directory, nameOf(file.first));
    await makeDirectory(this.#directory);
    {
      // Overwrites a partial write of an earlier failure.
      await using handle = await open(path, file.bytes === 0 ? 'w' : 'r+', 0o600);
      for (let done = 0; done < bytes.length; )
        done += (await handle.write(bytes, done, bytes.length - done, file.bytes + done)).bytesWritten;
      await handle.datasync();
    }
    if (file.bytes === 0)
      await syncDirectory(this.#directory).catch(async (caught: unknown) => {
        // No later sync would write its name, so the next attempt makes another file.
        await rm(path, { force: true });
        throw caught;
      });
    const last = unsaved.at(-1)?.number ?? file.last;
    this.#file = { first: file.first, bytes: file.bytes + bytes.length, last };
    if (this.#file.bytes < this.#segmentBytes) return;
    this.#closed.push(this.#file);
    const kept = this.#open.findLastIndex(({ number }) => number <= last) + 1;
    for (const { text } of this.#open.splice(0, kept)) this.#openBytes -= text.length;
    this.#file = undefined;
  }

  async #dropOldest(): Promise<void> {
    const total = (): number => this.#closed.reduce((sum, { bytes }) => sum + bytes, this.#file?.bytes ?? 0);
    for (let [oldest] = this.#closed; oldest !== undefined && total() > this.#maxBytes; [oldest] = this.#closed) {
      const lines = (await this.#readFile(nameOf(oldest.first))).filter(({ number }) => number > this.#position);
      const last = lines.at(-1);
      if (last !== undefined) {
        const times = lines.map(({ line }) => line.timeMs);
        const count = lines.reduce((sum, { line }) => sum + linesIn(line), 0);
        const more = { lines: count, fromMs: Math.min(...times), toMs: Math.max(...times) };
        this.#dropped = { ...mergeDropped(this.#dropped, more), number: last.number };
        const report = encodeLine({ number: last.number, line: droppedLine(this.#dropped) });
        await writeDurably(join(this.#directory, droppedFile), report);
      }
      await this.#removeHead();
    }
  }

  async #removeHead(): Promise<void> {
    this.#head = undefined;
    const removed = this.#closed.shift();
    if (removed !== undefined) await this.#remove(nameOf(removed.first));
  }

  /** The next start deletes a file that cannot be deleted now, because its lines are behind the position. */
  #remove(name: string): Promise<void> {
    return rm(join(this.#directory, name), { force: true }).catch((caught: unknown) => this.#failed(caught));
  }

  #failed(caught: unknown): void {
    if (this.#problem === undefined) this.#options.onState(errorText(caught));
    this.#problem = errorText(caught);
  }

  async #readFile(name: string): Promise<readonly QueuedLine[]> {
    const bytes = await readWhole(join(this.#directory, name)).catch(() => Buffer.alloc(0));
    return decodeLines(bytes);
  }

  /** An unreadable position means a new stream: lines may then be sent twice, but none is lost. */
  async #readPosition(): Promise<{ stream: string; start: number; position: number }> {
    try {
      const kept = JSON.parse(String(await readWhole(join(this.#directory, positionFile)))) as Record<string, unknown>;
      const { stream, start, position } = kept;
      if (typeof stream === 'string' && typeof start === 'number' && typeof position === 'number')
        return { stream, start, position };
    } catch {
      // None, or damaged.
    }
    return { stream: this.stream, start: 0, position: 0 };
  }

  #writePosition(stream: string): Promise<void> {
    const start = Math.floor(this.#next / 2 ** 32);
    return writeDurably(
      join(this.#directory, positionFile),
      `${JSON.stringify({ stream, start, position: this.#position })}\n`,
    );
  }
}

function nameOf(first: number): string {
  return `${String(first).padStart(16, '0')}.log`;
}

/** The first lines after a position, as long as their numbers are consecutive. */
function consecutive(lines: readonly QueuedLine[], position: number, maxLines: number): readonly QueuedLine[] {
  const from = lines.findIndex(({ number }) => number > position);
  if (from === -1) return [];
  const some = lines.slice(from, from + maxLines);
  const end = some.findIndex(({ number }, index) => index > 0 && number !== (some[index - 1]?.number ?? 0) + 1);
  return end === -1 ? some : some.slice(0, end);
}
