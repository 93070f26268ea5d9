/**
 * Copies files to this machine: each file is acknowledged once it is written. A file gets its name when it is complete, so that programs
 * never read half of it, and a copy that breaks off leaves what was there.
 */
import { chmod, chown, type FileHandle, mkdir, open, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { failedPrecondition, findRegular, invalidArgument, invalidValue, newShortId } from '@platform/base';
import {
  CopyFilesSourceType,
  type CopyFilesToMachineRequest,
  type FileData,
} from '@platform/proto/platform/service/shell/v1/shell';
import { codeOf, deviceError } from '../../../hardware/device-error.ts';
import { inHome } from './copy-from.ts';

interface Target {
  readonly directory: string;
  /** Replaces the first part of each name if the destination is a new name. */
  readonly renamed: string | undefined;
}

/** A file that is being written, below another name in the same folder. */
interface Unfinished {
  readonly handle: FileHandle;
  readonly temporary: string;
  readonly path: string;
  /** The file that it replaces. */
  readonly before: Awaited<ReturnType<typeof findRegular>>;
}

/** @param say logs the copied files */
export async function* copyTo(
  requests: AsyncIterable<CopyFilesToMachineRequest>,
  signal: AbortSignal,
  say: (what: string) => void,
  serverHome: string,
): AsyncGenerator<{ readonly ackLastFile: boolean }, void> {
  let target: Target | undefined;
  let preserve = false;
  let file: Unfinished | undefined;
  /** Folders get their modes and times at the end: files in them change their times, and may not fit their modes. */
  const folders: { readonly path: string; readonly data: FileData }[] = [];
  /** The first message of the current file, the only one from public clients that describes it. */
  let first: FileData | undefined;
  try {
    for await (const { request } of requests) {
      signal.throwIfAborted();
      if (request.case === 'metadata') {
        const { destination, sourceType } = request.value;
        preserve = request.value.preserve;
        const path = inHome(destination, serverHome);
        target = await targetOf(path, sourceType);
        say(path);
        continue;
      }
      if (target === undefined || request.case !== 'fileData')
        throw invalidArgument('expected metadata first, then the data of files, found another message');
      const data = request.value;
      first ??= data;
      if (data.isDir) {
        const path = pathOf(target, data.name);
        await makeFolder(path);
        if (preserve) folders.push({ path, data });
      } else {
        file ??= await begin(pathOf(target, data.name));
        await file.handle.writeFile(data.data);
      }
      if (!data.eof) continue;
      if (file !== undefined) await finish(file, preserve ? first : undefined);
      file = undefined;
      first = undefined;
      yield { ackLastFile: true };
    }
    for (const { path, data } of folders.toReversed()) await keep(path, data);
  } finally {
    if (file !== undefined) await discard(file);
  }
}

/** Files go into an existing folder; any other destination is the new name of a single file or folder. */
async function targetOf(path: string, sourceType: CopyFilesSourceType): Promise<Target> {
  const isSingle =
    sourceType === CopyFilesSourceType.SINGLE_FILE || sourceType === CopyFilesSourceType.SINGLE_DIRECTORY;
  const found = await kindOf(path);
  if (found === 'folder') return { directory: path, renamed: undefined };
  if (found === 'file' && sourceType !== CopyFilesSourceType.SINGLE_FILE)
    throw failedPrecondition(`${path}: expected a folder, found a file; choose another destination`);
  if (isSingle) return { directory: dirname(path), renamed: basename(path) };
  return { directory: path, renamed: undefined };
}

async function kindOf(path: string): Promise<'folder' | 'file' | 'none'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (caught) {
    if (codeOf(caught) === 'ENOENT') return 'none';
    throw await deviceError(path, caught);
  }
}

/** @throws invalid_argument for a name that leads out of the destination */
function pathOf({ directory, renamed }: Target, name: string): string {
  const [first = '', ...rest] = name.split('/');
  const path = join(directory, renamed ?? first, ...rest);
  const inside = relative(directory, path);
  if (name !== '' && inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`)) return path;
  throw invalidValue('file_data.name', 'a path inside the destination', name);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (caught) {
    throw await deviceError(path, caught, { EEXIST: 'a file has this name; choose another destination' });
  }
}

/** A link to a file stays, and the file is replaced. */
async function begin(asked: string): Promise<Unfinished> {
  try {
    await mkdir(dirname(asked), { recursive: true });
    const path = await realpath(asked).catch(() => asked);
    const before = await findRegular(path);
    const temporary = join(dirname(path), `.copy-${newShortId()}.part`);
    // Nobody else reads it before it has its mode.
    return { path, before, temporary, handle: await open(temporary, 'wx', 0o600) };
  } catch (caught) {
    throw await deviceError(asked, caught);
  }
}

/** @param kept describes the file, if its mode and time are kept */
async function finish(file: Unfinished, kept: FileData | undefined): Promise<void> {
  const { handle, temporary, path, before } = file;
  try {
    await handle.close();
    if (before !== undefined) {
      // Only root may give files away; for others it is the same owner, or the file changes its owner, as it does with other tools.
      await chown(temporary, Number(before.uid), Number(before.gid)).catch(() => {});
    }
    await chmod(temporary, before === undefined ? 0o666 & ~process.umask() : Number(before.mode) & 0o777);
    if (kept !== undefined) await keep(temporary, kept);
    await rename(temporary, path);
  } catch (caught) {
    await discard(file);
    throw await deviceError(path, caught);
  }
}

async function discard({ handle, temporary }: Unfinished): Promise<void> {
  await handle.close().catch(() => {});
  await rm(temporary, { force: true });
}

async function keep(path: string, { mode, modTime }: FileData): Promise<void> {
  if (mode !== undefined) await chmod(path, mode & 0o777);
  if (modTime !== undefined) await utimes(path, timestampMs(modTime) / 1_000, timestampMs(modTime) / 1_000);
}
