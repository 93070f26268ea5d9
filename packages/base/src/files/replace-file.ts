/**
 * Writes a file that gets its name only when it is complete: programs never read half of it, and what breaks off leaves what was there. Until
 * then it is in the same folder below another name, and only its owner can read it.
 */
import { chmod, chown, open, realpath, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newShortId } from '../ids.ts';
import { findRegular } from './regular-file.ts';

export interface FileAttributes {
  /** Permissions. Default: those of the file that is replaced, or else the usual ones. */
  readonly mode?: number | undefined;
  /** Default: now. */
  readonly modifiedMs?: number | undefined;
}

export interface Replacement {
  write(data: Uint8Array): Promise<void>;
  /** Gives the file its name. */
  finish(attributes?: FileAttributes): Promise<void>;
  /** Leaves what was there. Does nothing after `finish`. */
  discard(): Promise<void>;
}

/**
 * @param asked its name, in a folder that exists. A link with this name stays if `followsLinks`, and is replaced otherwise
 * @throws failed_precondition if something else than a file has this name; the system's error
 */
export async function replaceFile(
  asked: string,
  { followsLinks }: { readonly followsLinks: boolean },
): Promise<Replacement> {
  const path = followsLinks ? await realpath(asked).catch(() => asked) : asked;
  const before = await findRegular(path);
  const temporary = join(dirname(path), `.copy-${newShortId()}.part`);
  const handle = await open(temporary, 'wx', 0o600);
  const discard = async (): Promise<void> => {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true });
  };
  return {
    discard,
    write: (data) => handle.writeFile(data),
    async finish({ mode, modifiedMs } = {}) {
      try {
        await handle.close();
        // Only root may give files away. For others it has the same owner already, or changes it, as with other tools.
        if (before !== undefined) await chown(temporary, Number(before.uid), Number(before.gid)).catch(() => {});
        const usual = before === undefined ? 0o666 & ~process.umask() : Number(before.mode);
        await chmod(temporary, (mode ?? usual) & 0o777);
        if (modifiedMs !== undefined) await utimes(temporary, modifiedMs / 1_000, modifiedMs / 1_000);
        await rename(temporary, path);
      } catch (caught) {
        await discard();
        throw caught;
      }
    },
  };
}
