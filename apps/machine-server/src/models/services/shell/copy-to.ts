/**
 * Copies files to this machine: each file is acknowledged once it is written. A file gets its name when it is complete, so that programs
 * never read half of it, and a copy that breaks off leaves what was there.
 */
import { chmod, mkdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type FileAttributes,
  failedPrecondition,
  invalidArgument,
  invalidValue,
  type Replacement,
  replaceFile,
} from '@platform/base';
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
  let file: { readonly path: string; readonly replacement: Replacement } | undefined;
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
        await explained(file.path, file.replacement.write(data.data));
      }
      if (!data.eof) continue;
      if (file !== undefined)
        await explained(file.path, file.replacement.finish(preserve ? attributesOf(first) : undefined));
      file = undefined;
      first = undefined;
      yield { ackLastFile: true };
    }
    for (const { path, data } of folders.toReversed()) await explained(path, keep(path, data));
  } finally {
    await file?.replacement.discard();
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
  const making = mkdir(path, { recursive: true });
  await explained(path, making, { EEXIST: 'a file has this name; choose another destination' });
}

/** A link to a file stays, and the file is replaced. */
async function begin(path: string) {
  await explained(path, mkdir(dirname(path), { recursive: true }));
  return { path, replacement: await explained(path, replaceFile(path, { followsLinks: true })) };
}

async function explained<T>(path: string, work: Promise<T>, hints?: Readonly<Record<string, string>>): Promise<T> {
  try {
    return await work;
  } catch (caught) {
    throw await deviceError(path, caught, hints);
  }
}

function attributesOf({ mode, modTime }: FileData): FileAttributes {
  return { mode, modifiedMs: modTime && timestampMs(modTime) };
}

/** Of a folder. */
async function keep(path: string, data: FileData): Promise<void> {
  const { mode, modifiedMs } = attributesOf(data);
  if (mode !== undefined) await chmod(path, mode & 0o777);
  if (modifiedMs !== undefined) await utimes(path, modifiedMs / 1_000, modifiedMs / 1_000);
}
