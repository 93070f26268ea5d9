/** Handles an arbitrary file once the cloud has it. */
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { openRegular } from '@platform/base';
import { type Folder, inFolder } from '../../directories/folder.ts';
import { type Fingerprint, fingerprintOf, fingerprintText } from './fingerprint.ts';
import type { SentFiles } from './sent-files.ts';

export type AfterSync =
  /** As specified. */
  | { readonly action: 'delete' }
  /** The file stays, and is sent again only when it changes. */
  | { readonly action: 'keep' }
  /** To the same place below `to`. */
  | { readonly action: 'move'; readonly to: string };

/**
 * Does nothing if the file has changed since it was sent: the new content is sent later.
 *
 * @param root the configured folder that contains it
 */
export async function afterSync(
  path: string,
  root: string,
  fingerprint: Fingerprint,
  after: AfterSync,
  sent: SentFiles,
): Promise<void> {
  await inFolder(path, root, async (at) => {
    if (!(await names(at, fingerprint))) return;
    if (after.action === 'keep') await sent.add(path, fingerprint);
    else if (after.action === 'delete') await unlink(at);
    else await moveTo(at, join(after.to, relative(root, path)), after.to, fingerprint);
  });
}

/** Whether the path names this content of a regular file. */
async function names(at: string, fingerprint: Fingerprint): Promise<boolean> {
  const found = await lstat(at, { bigint: true });
  return found.isFile() && fingerprintText(fingerprintOf(found)) === fingerprintText(fingerprint);
}

/** Never replaces a file: `name.ext` becomes `name.1.ext`, `name.2.ext`, … */
async function moveTo(from: string, wanted: string, root: string, fingerprint: Fingerprint): Promise<void> {
  const place = async (_at: string, folder: Folder): Promise<void> => {
    const end = extname(wanted);
    const stem = basename(wanted, end);
    for (let number = 0; ; number++) {
      const name = number === 0 ? `${stem}${end}` : `${stem}.${number}${end}`;
      try {
        const isCopy = await placeAs(from, folder, name, fingerprint);
        await folder.sync();
        if (isCopy) await requireUnchanged(from, folder.at(name), fingerprint);
        break;
      } catch (caught) {
        if ((caught as NodeJS.ErrnoException).code !== 'EEXIST') throw caught;
      }
    }
    await rm(from, { force: true });
  };
  await inFolder(wanted, root, place, { makes: true });
}

/** @returns whether it was copied, because it could not be linked */
async function placeAs(from: string, folder: Folder, name: string, fingerprint: Fingerprint): Promise<boolean> {
  try {
    await link(from, folder.at(name));
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    // Another disk, or one without hard links.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP') throw caught;
    await copyDurably(from, folder, name, fingerprint);
    return true;
  }
  await requireUnchanged(folder.at(name), folder.at(name), fingerprint);
  return false;
}

/** What was written to the file while it was moved is in no copy. @throws after removing what was placed */
async function requireUnchanged(at: string, placed: string, fingerprint: Fingerprint): Promise<void> {
  if (await names(at, fingerprint)) return;
  await unlink(placed);
  throw changed();
}

function changed(): Error {
  return new Error('the file was changed or replaced while it was moved');
}

async function copyDurably(from: string, folder: Folder, name: string, fingerprint: Fingerprint): Promise<void> {
  const [draft, target] = [folder.at(`${name}.${process.pid}.tmp`), folder.at(name)];
  const created = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    // Whatever has its name was left by a move that was cut off.
    await rm(draft, { force: true });
    await using copy = await open(draft, created, 0o600);
    await copyOpened(from, copy, fingerprint);
    await copy.sync();
    // Reserves the name first, so that an existing file is not replaced.
    await (await open(target, created, 0o600)).close();
    await rename(draft, target);
  } catch (caught) {
    await rm(draft, { force: true });
    throw caught;
  }
}

async function copyOpened(from: string, into: FileHandle, fingerprint: Fingerprint): Promise<void> {
  await using file = await openRegular(from);
  if (fingerprintText(fingerprintOf(file.stats)) !== fingerprintText(fingerprint)) throw changed();
  const piece = Buffer.alloc(1024 * 1024);
  for (let at = 0; ; ) {
    const read = await file.read(piece, at);
    if (read === 0) break;
    await into.writeFile(piece.subarray(0, read));
    at += read;
  }
  const { mode, atime, mtime } = file.stats;
  await into.chmod(Number(mode) & 0o777);
  await into.utimes(atime, mtime);
}
