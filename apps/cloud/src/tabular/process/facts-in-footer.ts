/** Facts of a file as the bytes in its footer: JSON, deflated, because the footers of a thousand files are kept in memory. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Series } from '../series.ts';
import type { FileFacts, LeafFacts, SeriesFacts, TimeFacts } from './file-facts.ts';

export const metadataKey = 'platform.facts';

interface StoredTimes {
  readonly min: string | null;
  readonly max: string | null;
  readonly missing: number;
}

interface StoredSeries {
  readonly path: Series['path'];
  readonly tags: readonly string[];
  /** Base64, as all bytes here. */
  readonly additionalParameters: string;
  readonly rows: number;
  readonly dataBytes: number;
  readonly firstRow: number;
  readonly received: StoredTimes;
  readonly requested: StoredTimes;
  readonly synced: StoredTimes;
  readonly newest?: {
    readonly position: number;
    readonly index: number;
    readonly timeRequested: string;
    readonly timeReceived: string;
    readonly timeSynced: string;
    readonly data: string;
  };
}

interface StoredLeaf extends Omit<LeafFacts, 'path' | 'number'> {
  /** Where its parent stands in the list; absent: it is data itself. */
  readonly parent?: number;
  readonly name?: string;
  /** min and max are null when they are infinite. */
  readonly number?: {
    readonly min: number | null;
    readonly max: number | null;
    readonly lowestBit: number;
    readonly negativeZero: boolean;
    readonly nonFinite: boolean;
  };
}

interface StoredFacts {
  readonly rows: number;
  readonly series: readonly StoredSeries[];
  readonly leaves: readonly StoredLeaf[];
}

export function encodeFacts({ rows, series, leaves }: Omit<FileFacts, 'bytes'>): Uint8Array {
  const places = new Map<string, number>();
  const stored: StoredFacts = {
    rows,
    series: series.map(storedSeries),
    leaves: leaves.map(({ path, ...leaf }, place) => {
      places.set(JSON.stringify(path), place);
      const name = path.at(-1);
      if (name === undefined) return leaf;
      const parent = places.get(JSON.stringify(path.slice(0, -1)));
      if (parent === undefined) throw new Error(`expected the parent of leaf ${name} before it, found none`);
      return { parent, name, ...leaf };
    }),
  };
  // JSON writes infinite numbers as null.
  return deflateRawSync(JSON.stringify(stored));
}

export function decodeFacts(bytes: Uint8Array): FileFacts {
  const text = inflateRawSync(bytes).toString('utf8');
  const { rows, series, leaves } = JSON.parse(text) as StoredFacts;
  const paths: (readonly string[])[] = [];
  return {
    rows,
    series: series.map(seriesOf),
    leaves: leaves.map(({ parent, name, number, ...leaf }) => {
      const path = parent === undefined || name === undefined ? [] : [...(paths[parent] ?? []), name];
      paths.push(path);
      return {
        path,
        ...leaf,
        ...(number && {
          number: {
            ...number,
            min: number.min ?? Number.POSITIVE_INFINITY,
            max: number.max ?? Number.NEGATIVE_INFINITY,
          },
        }),
      };
    }),
    bytes: 2 * text.length,
  };
}

function storedSeries({
  additionalParameters,
  received,
  requested,
  synced,
  newest,
  ...rest
}: SeriesFacts): StoredSeries {
  return {
    ...rest,
    additionalParameters: base64(additionalParameters),
    received: storedTimes(received),
    requested: storedTimes(requested),
    synced: storedTimes(synced),
    ...(newest && {
      newest: {
        position: newest.position,
        index: newest.index,
        timeRequested: String(newest.timeRequested),
        timeReceived: String(newest.timeReceived),
        timeSynced: String(newest.timeSynced),
        data: base64(newest.data),
      },
    }),
  };
}

function seriesOf({ additionalParameters, received, requested, synced, newest, ...rest }: StoredSeries): SeriesFacts {
  return {
    ...rest,
    additionalParameters: bytesOf(additionalParameters),
    received: timesOf(received),
    requested: timesOf(requested),
    synced: timesOf(synced),
    ...(newest && {
      newest: {
        position: newest.position,
        index: newest.index,
        timeRequested: BigInt(newest.timeRequested),
        timeReceived: BigInt(newest.timeReceived),
        timeSynced: BigInt(newest.timeSynced),
        data: bytesOf(newest.data),
      },
    }),
  };
}

function storedTimes({ min, max, missing }: TimeFacts): StoredTimes {
  return { min: min === null ? null : String(min), max: max === null ? null : String(max), missing };
}

function timesOf({ min, max, missing }: StoredTimes): TimeFacts {
  return { min: min === null ? null : BigInt(min), max: max === null ? null : BigInt(max), missing };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
