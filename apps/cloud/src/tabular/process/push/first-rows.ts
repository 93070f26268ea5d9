/** Which rows are the first of an order over files of different statements, as the executor would tell: stable in the order of the files. */
import { type BsonValue, compareKeys, type SortStage } from '@platform/query';
import type { Connections } from '../database.ts';
import type { KeysEmission } from './emit-keys.ts';
import type { OpenFile } from './open-files.ts';
import { openStatement, readChunks } from './run-statement.ts';
import { emissionKey, fileMarker } from './statement.ts';

export interface SearchedFile {
  readonly file: OpenFile;
  readonly keys: KeysEmission;
}

export interface FirstRow {
  /** Place of its file among those that were searched. */
  readonly file: number;
  /** file_row_number */
  readonly row: number;
  /** Of its document. */
  readonly bytes: number;
}

/** @param files in their order. @returns the rows in the order of their files. */
export async function firstRows(
  connections: Connections,
  files: readonly SearchedFile[],
  { by, top }: SortStage & { readonly top: number },
): Promise<{ readonly rows: readonly FirstRow[]; readonly statements: number }> {
  const alike = Map.groupBy(files.keys(), (at) =>
    emissionKey({ ...(files[at] as SearchedFile).keys, kind: 'top', sums: [] }),
  );
  const inOrder = (left: FirstRow, right: FirstRow): number => left.file - right.file || left.row - right.row;
  let kept: (FirstRow & { readonly keys: readonly BsonValue[] })[] = [];
  const connection = await connections.take();
  for (const places of alike.values()) {
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
  }
  connections.give(connection);
  return { rows: kept.sort(inOrder), statements: alike.size };
}
