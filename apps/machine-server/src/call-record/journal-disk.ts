/**
 * The files of the journal: `<16 digits>.calls` in one folder (0700), mode 0600. Both are this server's own: a link or anything else in
 * their place is never followed or opened (D51).
 */
import { constants } from 'node:fs';
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileTurns, failedPrecondition, readRegular, systemClock } from '@platform/base';
import { unless } from '../directories/folder.ts';
import { makeDirectory } from '../directories/make-directory.ts';
import { syncDirectory } from '../directories/sync-directory.ts';

/** A segment that is open for writing. */
export interface SegmentFile {
  /** @param position in the file */
  write(bytes: Buffer, position: number): Promise<void>;
  /** Makes it durable across a power failure, a new one with its name. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface JournalDisk {
  /** Numbers of the segments, in order. */
  list(): Promise<number[]>;
  read(segment: number): Promise<Buffer>;
  /** @param isNew whether it is made; there must not be one yet */
  open(segment: number, isNew: boolean): Promise<SegmentFile>;
  remove(segment: number): Promise<void>;
}

/** Of its own: files that others named, and that do not answer, hold up no start. */
const turns = new FileTurns(systemClock);
const name = /^(\d{16})\.calls$/;
/** More than any segment. */
const maxBytes = 4 * 1024 * 1024;
const existing = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function openJournalDisk(directory: string): JournalDisk {
  const pathOf = (segment: number): string => join(directory, `${String(segment).padStart(16, '0')}.calls`);
  return {
    async list() {
      const names = await readdir(directory).catch(unless('ENOENT'));
      if (names === undefined) return [];
      await requireFolder(directory);
      const numbers = names.flatMap((each) => name.exec(each)?.slice(1) ?? []).map(Number);
      return numbers.toSorted((a, b) => a - b);
    },
    read: async (segment) => Buffer.from(await readRegular(pathOf(segment), { maxBytes, turns })),
    async open(segment, isNew) {
      if (isNew) await makeDirectory(directory);
      await requireFolder(directory);
      const handle = await open(pathOf(segment), isNew ? 'wx' : existing, 0o600);
      if (!(await handle.stat()).isFile()) {
        await handle.close();
        throw failedPrecondition(`${pathOf(segment)}: expected a regular file`);
      }
      let isNamed = !isNew;
      return {
        async write(bytes, position) {
          for (let done = 0; done < bytes.length; )
            done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
        },
        async sync() {
          await handle.datasync();
          if (!isNamed) await syncDirectory(directory);
          isNamed = true;
        },
        close: () => handle.close(),
      };
    },
    remove: (segment) => rm(pathOf(segment), { force: true }),
  };
}

async function requireFolder(directory: string): Promise<void> {
  for (const path of [dirname(directory), directory])
    if (!(await lstat(path)).isDirectory()) throw failedPrecondition(`${path}: expected a folder of this server`);
}
