import { FileTurns, failedPrecondition, openRegular, type RegularFile, systemClock } from '@platform/base';
import { inFolder, openFolder } from './folder.ts';

/** Of their own: cameras whose image files do not answer hold up no capture and no sync. */
const turns = new FileTurns(systemClock);

/**
 * Opens a regular file below a configured folder, into which others may write (D51).
 *
 * @throws as `inFolder` and `openRegular`; failed_precondition if the file is not taken (`isTaken`)
 */
export async function openBelow(path: string, root: string): Promise<RegularFile> {
  const file = await inFolder(path, root, (at) => openRegular(at, { name: path, turns }));
  if (file.stats.nlink === 1n || isTaken(file.stats, await ownersOf(root))) return file;
  await file[Symbol.asyncDispose]();
  throw failedPrecondition(`${path}: ${otherNames}`);
}

/** More than any capture file: a single reading has at most 256 MiB (C2), files with more readings at most 16 MiB (C7). */
const maxBytes = 320 * 1024 * 1024;

/** Reads a file as a whole, up to 320 MiB. @throws as `openBelow` and `readRegular` */
export async function readBelow(path: string, root: string): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await openBelow(path, root);
  return await file.readAll({ maxBytes });
}

export const otherNames = 'it has several names, and belongs neither to this account nor to the owner of the folder';

/** Another account may have given a name in the folder to a file that is not its own. @param owners as `ownersOf` */
export function isTaken({ nlink, uid }: { nlink: bigint; uid: bigint }, owners: ReadonlySet<bigint>): boolean {
  return nlink <= 1n || owners.has(uid);
}

/** This account, and the owner of a configured folder. */
export async function ownersOf(root: string): Promise<ReadonlySet<bigint>> {
  const own = BigInt(process.geteuid?.() ?? 0);
  await using folder = await openFolder(root, root).catch(() => undefined);
  return new Set(folder === undefined ? [own] : [own, (await folder.stats()).uid]);
}
