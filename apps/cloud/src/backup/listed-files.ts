/**
 * The files of a backup, taken as its manifest lists them. A backup has been elsewhere, so nothing in it is trusted: only regular files
 * below its directory are opened, no link is followed, nothing waits for a pipe, and every byte is compared before it counts.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dataLoss, failedPrecondition, openRegular, type RegularFile } from '@platform/base';
import type { BackedUpFile } from './manifest.ts';

const chunkBytes = 1024 * 1024;
/** They have hundreds of bytes. */
const longestText = 1024 * 1024;

export interface ListedFileOptions {
  /** The backup. */
  readonly source: string;
  readonly expected: BackedUpFile;
  readonly signal: AbortSignal;
}

/**
 * Copies a file below `target` under its own path; durable except for its directories. Without a target it is only compared.
 *
 * @throws data_loss if it is missing or differs, failed_precondition if it is no regular file; each with its path, what was expected and
 * what was found
 */
export async function copyListed(options: ListedFileOptions, target?: string): Promise<void> {
  // Before anything is made for it: a manifest may list what no file system can hold.
  await using input = await openBelow(options.source, options.expected.path);
  if (target === undefined) return await readThrough(options, input, async () => {});
  const file = join(target, ...options.expected.path.split('/'));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await using output = await open(file, 'wx', 0o600);
  await readThrough(options, input, (part) => output.appendFile(part));
  await output.sync();
}

/** The text of a file of up to 1 MiB. @throws as `copyListed` */
export async function readListed(options: ListedFileOptions): Promise<string> {
  const { source, expected } = options;
  if (expected.bytes > longestText)
    throw dataLoss(
      `${join(source, expected.path)}: expected at most ${longestText} bytes, found ${expected.bytes} in the manifest`,
    );
  await using input = await openBelow(source, expected.path);
  const parts: Buffer[] = [];
  // The chunk is used again.
  await readThrough(options, input, async (part) => void parts.push(Buffer.from(part)));
  return Buffer.concat(parts).toString('utf8');
}

async function readThrough(
  { source, expected, signal }: ListedFileOptions,
  input: RegularFile,
  take: (part: Buffer) => Promise<unknown>,
): Promise<void> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  // One that grows, or never ends, is read until it is too long.
  while (bytes <= expected.bytes) {
    signal.throwIfAborted();
    const bytesRead = await input.read(chunk, bytes);
    if (bytesRead === 0) break;
    const part = chunk.subarray(0, bytesRead);
    hash.update(part);
    bytes += bytesRead;
    if (bytes <= expected.bytes) await take(part);
  }
  const sha256 = hash.digest('hex');
  if (bytes === expected.bytes && sha256 === expected.sha256) return;
  const found = bytes > expected.bytes ? 'more bytes' : `${bytes} bytes with SHA-256 ${sha256}`;
  throw dataLoss(
    `${join(source, expected.path)}: expected ${expected.bytes} bytes with SHA-256 ${expected.sha256}, found ${found}: the backup is damaged, nothing was restored`,
  );
}

/**
 * Opens a regular file. Everything else is refused, and so is a path with a link in it, which may lead out of the backup.
 *
 * @param path relative to the root, segments joined by `/`
 * @throws data_loss if it is missing; failed_precondition
 */
export async function openBelow(root: string, path: string): Promise<RegularFile> {
  const file = join(root, ...path.split('/'));
  try {
    const [realRoot, folder] = await Promise.all([realpath(root), realpath(dirname(file))]);
    if (folder === dirname(join(realRoot, ...path.split('/')))) return await openRegular(file);
    throw failedPrecondition(`${file}: expected a regular file, found a link in its path, to ${folder}`);
  } catch (caught) {
    if (!isMissing(caught)) throw caught;
    throw dataLoss(`expected ${file}, which belongs to the backup, found no such file`, caught);
  }
}

function isMissing(caught: unknown): boolean {
  return (
    caught instanceof Error && 'code' in caught && ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(String(caught.code))
  );
}

/** Whether a regular file with this path can be opened. */
export async function hasFile(root: string, path: string): Promise<boolean> {
  try {
    await using _file = await openBelow(root, path);
    return true;
  } catch {
    // Whatever it is, it is no source of data.
    return false;
  }
}
