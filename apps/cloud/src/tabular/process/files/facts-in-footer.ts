/** Encodes the facts in a file's footer as deflated JSON, because the footers of a thousand files are kept in memory. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { FileFacts, LeafFacts, NumberFacts } from './file-facts.ts';
import { loadSeries, type StoredSeries, storeSeries } from './series-in-footer.ts';

export const metadataKey = 'platform.facts';

export interface StoredLeaf extends Omit<LeafFacts, 'path' | 'number'> {
  /** Index of its parent in the list; absent: the leaf is `data` itself. */
  readonly parent?: number;
  readonly name?: string;
  /** min and max are null when they are infinite. */
  readonly number?: Omit<NumberFacts, 'min' | 'max'> & Readonly<Record<'min' | 'max', number | null>>;
}

interface StoredFacts {
  readonly rows: number;
  readonly series: StoredSeries;
  readonly leaves: readonly StoredLeaf[];
}

export function encodeFacts({ rows, series, leaves }: Omit<FileFacts, 'bytes'>): Uint8Array {
  const stored: StoredFacts = { rows, series: storeSeries(series), leaves: storeLeaves(leaves) };
  return deflateRawSync(JSON.stringify(stored));
}

export function decodeFacts(bytes: Uint8Array): FileFacts {
  const text = inflateRawSync(bytes).toString('utf8');
  const { rows, series, leaves } = JSON.parse(text) as StoredFacts;
  const seriesFacts = loadSeries(series);
  return {
    rows,
    series: seriesFacts,
    leaves: loadLeaves(leaves),
    // Estimate: the text's strings once, plus the objects.
    bytes: text.length + 800 * seriesFacts.length + 400 * leaves.length,
  };
}

/** For JSON, which turns infinite numbers into null. */
export function storeLeaves(leaves: readonly LeafFacts[]): StoredLeaf[] {
  const places = new Map<string, number>();
  return leaves.map(({ path, ...leaf }, place) => {
    places.set(JSON.stringify(path), place);
    const name = path.at(-1);
    if (name === undefined) return leaf;
    const parent = places.get(JSON.stringify(path.slice(0, -1)));
    if (parent === undefined) throw new Error(`expected the parent of leaf ${name} before it, found none`);
    return { parent, name, ...leaf };
  });
}

export function loadLeaves(leaves: readonly StoredLeaf[]): LeafFacts[] {
  const paths: (readonly string[])[] = [];
  return leaves.map(({ parent, name, number, ...leaf }) => {
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
  });
}
