/** Doctor: reads every listed file of readings and compares it with the catalog. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { dataLoss } from '@platform/base';
import type { CatalogRows } from '../../tabular/integrity/catalog-findings.ts';
import type { FileRow } from '../../tabular/integrity/row-checksum.ts';
import { checksumFile } from '../../tabular/process/files/checksum-file.ts';

export interface CheckedFiles {
  /** Damaged files, with the kind of damage. */
  readonly wrong: ReadonlyMap<string, string>;
  readonly files: number;
  /** Files with a second hard link, such as a backup on the same file system creates. */
  readonly linked: number;
}

/** @param deep reads the files; otherwise only their directory entries are checked. */
export async function checkFiles(
  parquetDir: string,
  rows: () => Promise<Pick<CatalogRows, 'files'>>,
  deep: boolean,
  progress: (text: string) => void,
): Promise<CheckedFiles> {
  const { files } = await rows();
  const wrong = new Map<string, string>();
  let linked = 0;
  for (const [index, row] of files.entries()) {
    if (deep && index % 500 === 0) progress(`reading files of readings: ${index} of ${files.length}`);
    const found = await compare(join(parquetDir, row.file), row, deep);
    if (typeof found === 'string') wrong.set(row.file, found);
    else if (found.links > 1) linked++;
  }
  // A merge may have replaced some files since they were listed.
  const still = new Set(wrong.size === 0 ? [] : (await rows()).files.map(({ file }) => file));
  for (const file of wrong.keys()) if (!still.has(file)) wrong.delete(file);
  return { wrong, linked, files: files.length };
}

/** Such as `1 file` and `2 files`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Throws if anything is wrong. */
export function describeFiles({ wrong, files, linked }: CheckedFiles, deep: boolean): string {
  if (wrong.size > 0) {
    const shown = [...wrong].slice(0, 20).map(([file, what]) => `parquet/${file}: ${what}`);
    throw dataLoss(
      `expected ${files} files of readings as they were written, found ${wrong.size} that are not (${shown.join('; ')}${wrong.size > shown.length ? '; …' : ''}). platform admin repair lists what can be repaired, and platform admin repair --from BACKUP what can be restored from a backup`,
    );
  }
  const notes = [
    ...(deep && linked > 0
      ? [`${linked} have a second hard link, such as one from a backup on the same file system`]
      : []),
  ];
  return [`${counted(files, 'file')} of readings, each with its ${deep ? 'checksum' : 'size'}`, ...notes].join('; ');
}

async function compare(path: string, row: FileRow, deep: boolean): Promise<string | { readonly links: number }> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'it is missing';
  if (!stat.isFile())
    return stat.isSymbolicLink() ? 'a symbolic link is in its place' : 'something other than a file is in its place';
  if (stat.size !== row.file_bytes) return `it has ${stat.size} bytes instead of ${row.file_bytes}`;
  if (!deep) return { links: stat.nlink };
  try {
    const { sha256 } = await checksumFile(path);
    return sha256 === row.sha256 ? { links: stat.nlink } : 'its bytes differ from those that were written';
  } catch (caught) {
    return `it cannot be read: ${(caught as NodeJS.ErrnoException).code ?? 'unknown'}`;
  }
}
