/** Handles an arbitrary file once the cloud has it. */
import { copyFile, link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative } from 'node:path';
import { syncDirectory } from '../../directories/disk-storage.ts';
import { type Fingerprint, isUnchanged } from './fingerprint.ts';
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
  if (!(await isUnchanged(path, fingerprint))) return;
  if (after.action === 'keep') await sent.add(path, fingerprint);
  else if (after.action === 'delete') await rm(path, { force: true });
  else await moveTo(path, join(after.to, relative(root, path)));
}

/** Never replaces a file: `name.ext` becomes `name.1.ext`, `name.2.ext`, … */
async function moveTo(path: string, wanted: string): Promise<void> {
  await mkdir(dirname(wanted), { recursive: true });
  const end = extname(wanted);
  const stem = basename(wanted, end);
  for (let number = 0; ; number++) {
    const target = number === 0 ? wanted : join(dirname(wanted), `${stem}.${number}${end}`);
    try {
      await place(path, target);
      break;
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code !== 'EEXIST') throw caught;
    }
  }
  await syncDirectory(dirname(wanted));
  await rm(path, { force: true });
}

async function place(path: string, target: string): Promise<void> {
  try {
    await link(path, target);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    // Another disk, or one without hard links.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP') throw caught;
    await copyDurably(path, target);
  }
}

async function copyDurably(path: string, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.tmp`;
  await copyFile(path, draft);
  await using handle = await open(draft, 'r+');
  await handle.sync();
  // Reserves the name first, so that an existing file is not replaced.
  await writeFile(target, '', { flag: 'wx' }).catch(async (caught) => {
    await rm(draft, { force: true });
    throw caught;
  });
  await rename(draft, target);
}
