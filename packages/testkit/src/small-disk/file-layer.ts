/**
 * A small disk without a mount, loaded into a process before its program (`node --import`). To the process, SMALL_DISK is a disk of
 * SMALL_DISK_BYTES, of which others use as many bytes as the size of the file SMALL_DISK_OTHERS. A write that does not fit ends as on a
 * real disk: the part that fits is written, then ENOSPC. It covers node:fs/promises, with which a machine-server writes its home.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { bytesBelow } from './bytes-below.ts';

const { SMALL_DISK: disk = '', SMALL_DISK_BYTES: size = '', SMALL_DISK_OTHERS: others = '' } = process.env;
const bytes = Number(size);
/** How long a computed sum of all files is used; writes are added to it. */
const knownMs = 100;
const blockBytes = 4_096;

let known = { usedBytes: 0, atMs: Number.NEGATIVE_INFINITY };
const paths = new WeakMap<object, string>();

function freeBytes(): number {
  const nowMs = performance.now();
  if (nowMs - known.atMs > knownMs) known = { usedBytes: bytesBelow(disk), atMs: nowMs };
  return Math.max(0, bytes - known.usedBytes - fs.statSync(others).size);
}

function isOn(path: unknown): path is string {
  return typeof path === 'string' && `${resolve(realOf(path))}/`.startsWith(`${disk}/`);
}

/** Below an open folder, files are named `/proc/self/fd/NUMBER/…`. */
function realOf(path: string): string {
  const [, folder, rest = ''] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/.exec(path) ?? [];
  return folder === undefined ? path : fs.readlinkSync(folder) + rest;
}

function full(call: string, path: string): Error {
  const message = `ENOSPC: no space left on device, ${call} '${path}'`;
  return Object.assign(new Error(message), { code: 'ENOSPC', errno: -28, syscall: call, path });
}

/** How many of `wanted` bytes a write stores. */
function room(wanted: number, path: string): number {
  const fits = Math.min(wanted, freeBytes());
  if (fits === 0 && wanted > 0) throw full('write', path);
  known.usedBytes += fits;
  return fits;
}

const { promises } = fs;
const [open, statfs] = [promises.open, promises.statfs];
type Content = string | Uint8Array;
type Write = (
  this: object,
  data: Content,
  from?: number | null,
  length?: unknown,
  at?: number | null,
) => Promise<{ readonly bytesWritten: number }>;
type WriteAll = (this: object, data: Content, ...more: unknown[]) => Promise<void>;

const bytesOf = (data: Content): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

{
  await using sample = await open(others, 'r');
  const handles = Object.getPrototypeOf(sample) as { write: Write; writeFile: WriteAll; appendFile: WriteAll };
  const { write, writeFile } = handles;
  handles.write = async function (data, from, length, at) {
    const path = paths.get(this);
    if (path === undefined) return write.call(this, data, from, length, at);
    const content = bytesOf(data);
    // A text has its position in the second place.
    const [offset, position] = typeof data === 'string' ? [0, from ?? null] : [from ?? 0, at ?? null];
    const wanted = typeof length === 'number' ? length : content.length - offset;
    return write.call(this, content, offset, room(wanted, path), position);
  };
  handles.writeFile = async function (data, ...more) {
    const path = paths.get(this);
    if (path === undefined) return writeFile.call(this, data, ...more);
    const content = bytesOf(data);
    for (let done = 0; done < content.length; ) {
      const fits = room(content.length - done, path);
      done += (await write.call(this, content, done, fits, null)).bytesWritten;
    }
  };
  handles.appendFile = handles.writeFile;
}

type Options = { readonly mode?: number; readonly flag?: string; readonly flush?: boolean } | string | undefined;

function writeWith(usualFlag: string, otherwise: (typeof promises)['writeFile']) {
  return async (path: unknown, data: string | Uint8Array, options?: Options): Promise<void> => {
    if (!isOn(path)) return otherwise(path as string, data, options as never);
    const { mode = 0o666, flag = usualFlag, flush = false } = typeof options === 'object' ? options : {};
    await using handle = await promises.open(path, flag, mode);
    await handle.writeFile(data);
    if (flush) await handle.sync();
  };
}

Object.assign(promises, {
  async open(path: unknown, flags: string | number = 'r', mode?: number) {
    if (!isOn(path)) return open(path as string, flags, mode);
    const creates = typeof flags === 'string' && /[wa]/.test(flags) && !fs.existsSync(path);
    if (creates && freeBytes() < blockBytes) throw full('open', path);
    const handle = await open(path, flags, mode);
    paths.set(handle, path);
    return handle;
  },
  writeFile: writeWith('w', promises.writeFile),
  appendFile: writeWith('a', promises.appendFile as (typeof promises)['writeFile']),
  async statfs(path: string) {
    const found = await statfs(path);
    if (!isOn(path)) return found;
    const free = Math.floor(freeBytes() / blockBytes);
    return Object.assign(found, { bsize: blockBytes, blocks: bytes / blockBytes, bfree: free, bavail: free });
  },
});
syncBuiltinESMExports();
