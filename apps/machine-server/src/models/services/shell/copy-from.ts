/**
 * Copies files from this machine: each file in pieces, and the next one once the caller has acknowledged it. Links are followed, except to a
 * folder that contains them.
 */
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { aborted, fileTurns, invalidArgument, openRegular, type RegularFile, wireTime } from '@platform/base';
import {
  type CopyFilesFromMachineRequest,
  type CopyFilesFromMachineResponseSchema,
  CopyFilesSourceType,
  type FileDataSchema,
} from '@platform/proto/platform/service/shell/v1/shell';
import { deviceError } from '../../../hardware/device-error.ts';

type Answer = MessageInitShape<typeof CopyFilesFromMachineResponseSchema>;

interface Source {
  readonly path: string;
  /** Relative to the requested path. */
  readonly name: string;
  /** The folders that contain it, of those that are copied. */
  readonly above: readonly string[];
}

const pieceBytes = 65_536;
const mostUnsizedBytes = 64 * 1024 * 1024;

/** @param say logs the copied files */
export async function* copyFrom(
  requests: AsyncIterable<CopyFilesFromMachineRequest>,
  signal: AbortSignal,
  say: (what: string) => void,
  serverHome: string,
): AsyncGenerator<Answer, void> {
  const messages = requests[Symbol.asyncIterator]();
  const first = await messages.next();
  const { request } = first.done === true ? { request: undefined } : first.value;
  if (request?.case !== 'metadata' || request.value.paths.length === 0)
    throw invalidArgument('expected a first message with metadata.paths, found none');
  const { paths, allowRecursion, preserve } = request.value;
  say(paths.join(', '));
  const roots = paths.map((path) => ({ path: inHome(path, serverHome), name: basename(path), above: [] }));
  const areDirectories = await Promise.all(roots.map(({ path }) => isDirectory(path)));
  const directory = roots[areDirectories.indexOf(true)];
  if (directory !== undefined && !allowRecursion)
    throw invalidArgument(`${directory.path}: expected a file, found a folder; allow recursion to copy folders`);
  const single = directory === undefined ? CopyFilesSourceType.SINGLE_FILE : CopyFilesSourceType.SINGLE_DIRECTORY;
  const sourceType = roots.length > 1 ? CopyFilesSourceType.MULTIPLE_FILES : single;
  yield { response: { case: 'metadata', value: { sourceType } } };
  // Files are found while they are copied, so that a large folder is not held in memory.
  const waiting: Source[] = roots.toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted();
    const { path, name, above } = next;
    const found = await statOf(path);
    const own = `${found.dev}:${found.ino}`;
    if (found.isDirectory() && above.includes(own)) {
      say(`${path} is left out: it leads back to a folder that contains it`);
      continue;
    }
    yield* send(next, preserve);
    await acknowledged(messages, path);
    if (!found.isDirectory()) continue;
    for (const each of (await fileTurns.run(path, () => readdir(path))).toSorted().toReversed())
      waiting.push({ path: join(path, each), name: join(name, each), above: [...above, own] });
  }
}

async function* send({ path, name }: Source, preserve: boolean): AsyncGenerator<Answer, void> {
  const found = await statOf(path);
  const kept = preserve ? { modTime: wireTime(found.mtimeNs), mode: Number(found.mode) & 0o777 } : {};
  if (found.isDirectory())
    return yield { response: { case: 'fileData', value: { name, isDir: true, eof: true, ...kept } } };
  await using file = await opened(path);
  // A file of the kernel has the size 0. Any other ends where it ended when it was opened: a log may grow faster than it can be copied.
  const end = file.size === 0 ? mostUnsizedBytes : file.size;
  // Only in the first message of a file: public clients take a name for the beginning of another file.
  let described: MessageInitShape<typeof FileDataSchema> = { name, size: BigInt(file.size), ...kept };
  for (let at = 0; ; ) {
    const piece = new Uint8Array(Math.min(pieceBytes, end - at));
    const read = piece.length === 0 ? 0 : await file.read(piece, at);
    const eof = read === 0;
    yield { response: { case: 'fileData', value: { ...described, data: piece.subarray(0, read), eof } } };
    if (eof) return;
    at += read;
    described = {};
  }
}

async function opened(path: string): Promise<RegularFile> {
  try {
    return await openRegular(path, { followsLinks: true });
  } catch (caught) {
    throw await deviceError(path, caught);
  }
}

async function acknowledged(messages: AsyncIterator<CopyFilesFromMachineRequest>, path: string): Promise<void> {
  const next = await messages.next();
  if (next.done !== true && next.value.request.case === 'ackLastFile') return;
  throw aborted(`${path}: expected an acknowledgement, found ${next.done === true ? 'the end' : 'another message'}`);
}

async function statOf(path: string) {
  try {
    return await fileTurns.run(path, () => stat(path, { bigint: true }));
  } catch (caught) {
    throw await deviceError(path, caught, { ENOENT: 'correct the path' });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await statOf(path)).isDirectory();
}

/**
 * Relative paths are those in the home of the machine-server's user. `$VIAM_HOME`, with which the public command line begins paths of the
 * machine's own files, is the home of the machine-server; it expects full-time diagnostics in another folder there.
 */
export function inHome(path: string, serverHome: string): string {
  if (path === '$VIAM_HOME' || path.startsWith('$VIAM_HOME/')) {
    const below = path.slice('$VIAM_HOME'.length).replace(/^\/diagnostics\.data(\/[\w-]+)?\/?$/, '/ftdc');
    return join(serverHome, below);
  }
  return resolve(homedir(), path === '~' ? '.' : path.replace(/^~\//, ''));
}
