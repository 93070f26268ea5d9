/** Follows the ingest log for the parts that someone is watching: their newest readings, as soon as they are acknowledged. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, Wakeup } from '@platform/base';
import type { NewestReadingSchema } from '@platform/proto/platform/live/v1/live';
import type { IngestLog, LogRow } from '../ingest/log/log.ts';
import { openUpload } from '../reading-codec/open-upload.ts';
import { readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';
import { firstReadingsRows, maxRowsBehind, maxSeries, shownBytes } from './limits.ts';

export type NewestReading = MessageInitShape<typeof NewestReadingSchema>;

/** The newest reading of each series that has not been taken yet. */
export class ReadingsFollower implements Disposable {
  readonly #news: Wakeup;
  readonly #close: (follower: ReadingsFollower) => void;
  readonly #waiting = new Map<string, NewestReading>();

  constructor(clock: Clock, close: (follower: ReadingsFollower) => void) {
    this.#news = new Wakeup(clock);
    this.#close = close;
  }

  put(key: string, reading: NewestReading): void {
    if (this.#waiting.size < maxSeries || this.#waiting.has(key)) this.#waiting.set(key, reading);
    this.#news.wake();
  }

  /** As soon as there are any. @throws the reason of the signal */
  async take(signal: AbortSignal): Promise<NewestReading[]> {
    while (this.#waiting.size === 0) await this.#news.wait(60_000, signal);
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all;
  }

  [Symbol.dispose](): void {
    this.#close(this);
  }
}

export class NewestReadings implements Disposable {
  readonly #log: Pick<IngestLog, 'read' | 'lastPosition' | 'onCommit'>;
  readonly #clock: Clock;
  readonly #failed: (caught: unknown) => void;
  readonly #followers = new Map<string, Set<ReadingsFollower>>();
  #commits: Disposable | undefined;
  #position = 0;
  #isReading = false;

  constructor(
    log: Pick<IngestLog, 'read' | 'lastPosition' | 'onCommit'>,
    clock: Clock,
    failed: (caught: unknown) => void,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** From now on; first come the newest readings that the log still holds. */
  follow(partId: string): ReadingsFollower {
    const ofPart = this.#followers.get(partId) ?? new Set();
    this.#followers.set(partId, ofPart);
    const follower = new ReadingsFollower(this.#clock, (gone) => this.#leave(partId, gone));
    ofPart.add(follower);
    if (this.#commits === undefined) {
      this.#position = this.#log.lastPosition();
      this.#commits = this.#log.onCommit(() => void this.#read());
    }
    return follower;
  }

  /** One reading of each series, from the newest rows of the log. */
  async firstOf(partId: string): Promise<ReadonlyMap<string, NewestReading>> {
    const found = new Map<string, NewestReading>();
    const step = 512;
    let end = this.#log.lastPosition();
    for (let looked = 0; looked < firstReadingsRows && end > 0; looked += step) {
      const after = Math.max(0, end - step);
      const rows = await this.#log.read(after, { rows: step, bytes: 8 * 1024 * 1024 });
      for (const row of rows.toReversed()) {
        if (row.partId !== partId || row.position > end) continue;
        const reading = readingOf(row);
        if (reading !== undefined && !found.has(reading.key)) found.set(reading.key, reading.value);
      }
      end = after;
    }
    return found;
  }

  [Symbol.dispose](): void {
    this.#followers.clear();
    this.#commits?.[Symbol.dispose]();
    this.#commits = undefined;
  }

  #leave(partId: string, follower: ReadingsFollower): void {
    const ofPart = this.#followers.get(partId);
    ofPart?.delete(follower);
    if (ofPart?.size === 0) this.#followers.delete(partId);
    if (this.#followers.size === 0) this[Symbol.dispose]();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#followers.size > 0 && this.#position < this.#log.lastPosition()) {
        this.#position = Math.max(this.#position, this.#log.lastPosition() - maxRowsBehind);
        const rows = await this.#log.read(this.#position, { rows: 512, bytes: 4 * 1024 * 1024 });
        for (const row of rows) this.#tell(row);
        this.#position = rows.at(-1)?.position ?? this.#log.lastPosition();
      }
    } catch (caught) {
      this.#failed(caught);
    } finally {
      this.#isReading = false;
    }
  }

  #tell(row: LogRow): void {
    const followers = this.#followers.get(row.partId);
    const reading = followers && readingOf(row);
    if (reading !== undefined) for (const one of followers ?? []) one.put(reading.key, reading.value);
  }
}

const view = new SensorDataView();

/** The last reading of an upload, of a large document only its size; undefined: it has none, or it is damaged. */
function readingOf(row: LogRow): { readonly key: string; readonly value: NewestReading } | undefined {
  if (row.damage !== undefined) return undefined;
  const upload = openUpload(row.batch);
  const { componentType = '', componentName = '', methodName = '' } = upload.metadata ?? {};
  const series = { componentType, componentName, methodName };
  const key = JSON.stringify(Object.values(series));
  const last = upload.readingCount - 1;
  const bytes = upload.blob?.sizeBytes ?? 0n;
  if (last < 0) return bytes > 0n ? { key, value: { ...series, bytes } } : undefined;
  view.read(upload.bytes, upload.readingStart(last), upload.readingEnd(last));
  const receivedAt = view.receivedMs !== null ? { receivedAt: timestampFromMs(view.receivedMs) } : {};
  const length = Math.max(0, view.contentEnd - view.contentStart);
  if (view.kind !== 'struct' || length > shownBytes) {
    return { key, value: { ...series, ...receivedAt, bytes: bytes > 0n ? bytes : BigInt(length) } };
  }
  const values: JsonObject = JSON.parse(JSON.stringify(readDocument(upload.bytes, view.contentStart, view.contentEnd)));
  return { key, value: { ...series, ...receivedAt, values } };
}
