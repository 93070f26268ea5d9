/** Finds the first rows of an order over files of different statements, with the executor's result: stable in the order of the files. */
import { type BsonValue, compareKeys, type SortStage } from '@platform/query';
import type { Connections } from '../../duckdb/database.ts';
import type { OpenFile } from '../open-files.ts';
import { openStatement, readChunks } from '../run-statement.ts';
import { emissionKey, fileMarker } from '../statement.ts';
import type { KeyedRow, KeysEmission } from './emit-keys.ts';
import type { Waves } from './waves-by-time.ts';

export interface SearchedFile {
  readonly file: OpenFile;
  readonly keys: KeysEmission;
}

export interface FirstRow extends Pick<KeyedRow, 'file' | 'row' | 'bytes'> {}

export interface FirstRows {
  /** In the order of their files. */
  readonly rows: readonly FirstRow[];
  /** How many files were read; according to their times, the others hold none of these rows. */
  readonly files: number;
  readonly statements: number;
}

/** @param files in order @param waves of files, if they are searched by time */
export async function firstRows(
  connections: Connections,
  files: readonly SearchedFile[],
  { by, top }: SortStage & { readonly top: number },
  waves: Waves | undefined,
): Promise<FirstRows> {
  const keyOf = (at: number): string => emissionKey({ ...(files[at] as SearchedFile).keys, kind: 'top', sums: [] });
  const inOrder = (left: FirstRow, right: FirstRow): number => left.file - right.file || left.row - right.row;
  let kept: (FirstRow & { readonly keys: readonly BsonValue[] })[] = [];
  let statements = 0;
  let read = 0;
  const connection = await connections.take();
  const search = async (places: readonly number[]): Promise<void> => {
    statements++;
    const searched = places.map((at) => files[at] as SearchedFile);
    const [{ keys }] = searched as [SearchedFile];
    const opened = searched.map(({ file }) => file);
    const sql = keys.sql.replace(fileMarker, 'CAST(file_index AS INTEGER)');
    const statement = openStatement(connection, { sql, files: opened, binds: keys.binds });
    const decode = keys.decode(opened);
    for await (const chunk of readChunks(statement, {}, () => connections.isInterrupted))
      for (const row of decode(chunk)) kept.push({ ...row, file: places[row.file] as number });
    kept = kept
      .sort((left, right) => compareKeys(left.keys, right.keys, by) || inOrder(left, right))
      .slice(0, Math.trunc(top));
  };
  for (const [index, wave] of (waves?.places ?? [[...files.keys()]]).entries()) {
    if (kept.length >= Math.trunc(top) && waves?.isPast(index, kept.at(-1)?.keys[0]) === true) break;
    for (const places of Map.groupBy(
      wave.toSorted((a, b) => a - b),
      keyOf,
    ).values())
      await search(places);
    read += wave.length;
  }
  connections.give(connection);
  return { rows: kept.sort(inOrder), files: read, statements };
}
