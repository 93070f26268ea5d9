/**
 * The hot rows: a cache of the log from S on (I8), in segments of which the last is open.
 *
 * Invariants: the segments are adjacent and cover (floor, loaded]; a position is in one of them with all its rows or not at all;
 * a segment is dropped only when its rows are in listed files and no open snapshot reads them (the parent says so).
 */
import { type Clock, createLimiter, errorText, PlatformError } from '@platform/base';
import type { Database } from './database.ts';
import { type DamagedReading, decodeUpload, newDecodeRoom } from './decode-upload.ts';
import type { LogReader } from './read-log.ts';
import { RowBuffer } from './row-buffer.ts';
import { createSegment, type Segment } from './segment.ts';

/** Rows of the log decoded at a time; about 30,000 readings. */
const stepLimit = { rows: 10_000, bytes: 4 << 20 };

/** What of a row of the log could not be loaded; its other readings are there (I8). */
export interface Damage {
  readonly position: number;
  readonly reason: string;
  /** Readings that are missing; null: all that the row held, it could not even be opened. */
  readonly readings: number | null;
}

export interface HotRows {
  /** Hot rows are complete after this position. */
  readonly floor: number;
  /** … up to this one. */
  readonly loaded: number;
  readonly rows: number;
  readonly dataBytes: number;
  /** What lies in segments that end after `position`. */
  after(position: number): { readonly rows: number; readonly dataBytes: number };
  /** Monotonic ms at which the first position of the open segment came; undefined when it has none. */
  readonly openSinceMs: number | undefined;
  /** Rows of the open segment. */
  readonly openRows: number;
  readonly openBytes: number;
  /** Loads the next rows of the log; false when there are none. */
  loadNext(onDamaged: (damage: Damage) => void): Promise<boolean>;
  /** Resolves once hot rows reach `position`, rejects with the signal's reason. */
  reach(position: number, signal: AbortSignal): Promise<void>;
  /** Closes the open segment, if it has rows, and begins another. */
  freeze(): Promise<void>;
  /** Frozen segments, oldest first. */
  frozen(): readonly Segment[];
  /** Segments with rows in (after, upTo]. */
  between(after: number, upTo: number): readonly Segment[];
  drop(upTo: number): Promise<void>;
}

export function createHotRows(options: { sealed: number; database: Database; log: LogReader; clock: Clock }): HotRows {
  const { sealed, database, log, clock } = options;
  const exclusive = createLimiter(1);
  const room = newDecodeRoom();
  const waiting = new Set<{ position: number; resolve: () => void }>();
  let nextTable = 1;
  const open = (from: number): Segment => createSegment(`hot_${nextTable++}`, from, () => clock.monotonic());
  let segments: Segment[] = [open(sealed)];
  let floor = sealed;
  const current = (): Segment => segments.at(-1) as Segment;
  let connection: ReturnType<Database['connect']> | undefined;
  const connect = (): ReturnType<Database['connect']> => (connection ??= database.connect());

  const load = async (onDamaged: (damage: Damage) => void): Promise<boolean> => {
    const segment = current();
    const logged = await log.read(segment.to, stepLimit);
    const last = logged.at(-1);
    if (last === undefined) return false;
    const rows = new RowBuffer();
    const damaged: Damage[] = [];
    for (const { position, batch } of logged) {
      const before = rows.rows;
      try {
        const readings = decodeUpload(position, batch, rows, room, (series) => segment.seriesId(series));
        if (readings.length > 0) damaged.push({ position, reason: textOf(readings), readings: readings.length });
      } catch (caught) {
        rows.truncate(before);
        damaged.push({ position, reason: errorText(caught), readings: null });
      }
    }
    await segment.append(connect, rows, last.position);
    for (const damage of damaged) onDamaged(damage);
    for (const waiter of waiting) {
      if (waiter.position > segment.to) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
    return true;
  };

  return {
    get floor() {
      return floor;
    },
    get loaded() {
      return current().to;
    },
    get rows() {
      return segments.reduce((sum, segment) => sum + segment.rows, 0);
    },
    get dataBytes() {
      return segments.reduce((sum, segment) => sum + segment.dataBytes, 0);
    },
    after(position) {
      const later = segments.filter((segment) => segment.to > position);
      const sum = (of: (segment: Segment) => number): number =>
        later.reduce((total, segment) => total + of(segment), 0);
      return { rows: sum((segment) => segment.rows), dataBytes: sum((segment) => segment.dataBytes) };
    },
    get openSinceMs() {
      return current().filledSinceMs;
    },
    get openRows() {
      return current().rows;
    },
    get openBytes() {
      return current().dataBytes;
    },
    loadNext: (onDamaged) => exclusive(() => load(onDamaged)),
    reach(position, signal) {
      if (current().to >= position) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const waiter = { position, resolve: done };
        function done(): void {
          signal.removeEventListener('abort', aborted);
          resolve();
        }
        function aborted(): void {
          waiting.delete(waiter);
          const text = `the rows up to log position ${position} were not loaded in time (loaded: ${current().to}); try again`;
          reject(
            signal.reason instanceof PlatformError && signal.reason.code === 'deadline_exceeded'
              ? new PlatformError('deadline_exceeded', text)
              : signal.reason,
          );
        }
        waiting.add(waiter);
        if (signal.aborted) return aborted();
        signal.addEventListener('abort', aborted, { once: true });
      });
    },
    freeze: () =>
      exclusive(async () => {
        if (current().to > current().from) segments.push(open(current().to));
      }),
    frozen: () => segments.slice(0, -1),
    between: (after, upTo) =>
      segments.filter((segment) => segment.rows > 0 && segment.to > after && segment.from < upTo),
    drop: (upTo) =>
      exclusive(async () => {
        const dropped = segments.slice(0, -1).filter((segment) => segment.to <= upTo);
        segments = segments.filter((segment) => !dropped.includes(segment));
        for (const segment of dropped) {
          floor = segment.to;
          if (segment.rows > 0) await (await connect()).run(`DROP TABLE ${segment.table}`);
        }
      }),
  };
}

const namedReadings = 20;

function textOf(readings: readonly DamagedReading[]): string {
  const named = readings.slice(0, namedReadings).map(({ index, reason }) => `reading ${index}: ${reason}`);
  const more = readings.length > namedReadings ? [`… and ${readings.length - namedReadings} more`] : [];
  return [...named, ...more].join('; ');
}
