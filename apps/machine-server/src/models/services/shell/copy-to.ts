/** Copies files to this machine: each file is acknowledged once it is written. */
import { chmod, type FileHandle, mkdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createRegular, failedPrecondition, invalidArgument, invalidValue } from '@platform/base';
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

/** @param say logs the copied files */
export async function* copyTo(
  requests: AsyncIterable<CopyFilesToMachineRequest>,
  signal: AbortSignal,
  say: (what: string) => void,
  serverHome: string,
): AsyncGenerator<{ readonly ackLastFile: boolean }, void> {
  let target: Target | undefined;
  let preserve = false;
  let file: { readonly handle: FileHandle; readonly path: string } | undefined;
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
      const path = file?.path ?? pathOf(target, data.name);
      if (data.isDir) await mkdir(path, { recursive: true });
      else {
        file ??= { path, handle: await create(path) };
        await file.handle.writeFile(data.data);
      }
      if (!data.eof) continue;
      await file?.handle.close();
      file = undefined;
      if (preserve) await keep(path, first);
      first = undefined;
      yield { ackLastFile: true };
    }
  } finally {
    await file?.handle.close();
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

async function create(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return await createRegular(path);
  } catch (caught) {
    throw await deviceError(path, caught);
  }
}

async function keep(path: string, { mode, modTime }: FileData): Promise<void> {
  if (mode !== undefined) await chmod(path, mode & 0o777);
  if (modTime !== undefined) await utimes(path, timestampMs(modTime) / 1_000, timestampMs(modTime) / 1_000);
}
