/** The archive to upload: an existing file, or a folder packed by this computer's tar. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import { type Cloud, errorText, type JsonObject, type PackageType } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { bytesText } from '../../query/amounts.ts';

export interface Archive {
  /** Pieces of at most 256 KiB, which fit into one message. Can be read once. @throws any error while the archive is read or packed */
  chunks(): AsyncIterable<Uint8Array>;
  /** A file at the archive's top level as text; undefined if there is none. */
  read(name: string): Promise<string | undefined>;
}

const gzip = Buffer.from([0x1f, 0x8b]);

/** @throws invalid_argument when it is neither a folder nor a gzip file */
export async function openArchive(path: string): Promise<Archive> {
  const found = await stat(path).catch((caught: unknown) => {
    throw invalidArgument(`${path}: expected a folder or a .tar.gz file, ${errorText(caught)}`);
  });
  if (found.isDirectory())
    return {
      chunks: () => outputOf(['-czf', '-', '-C', path, '.']),
      read: (name) => readFile(join(path, name), 'utf8').catch(() => undefined),
    };
  const first = found.isFile() ? await buffer(createReadStream(path, { end: 1 })) : Buffer.alloc(0);
  if (!first.equals(gzip)) throw invalidArgument(`${path}: expected a folder or a .tar.gz file, found another file`);
  return {
    chunks: () => createReadStream(path, { highWaterMark: 256 * 1024 }),
    async read(name) {
      for (const member of [name, `./${name}`]) {
        const text = await buffer(outputOf(['-xzOf', path, member])).catch(() => undefined);
        if (text !== undefined) return text.toString('utf8');
      }
      return undefined;
    },
  };
}

/** The output of tar. @throws if it cannot be started or fails, even after its first bytes */
async function* outputOf(args: readonly string[]): AsyncGenerator<Uint8Array> {
  const tar: ChildProcess = spawn('tar', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(tar, 'close').catch((caught: unknown) => {
    throw failedPrecondition(`tar: expected to run it, ${errorText(caught)}; upload a .tar.gz file`);
  });
  // It is awaited after all output has been read.
  closed.catch(() => {});
  let said = '';
  tar.stderr?.on('data', (text: Buffer) => {
    said = `${said}${text}`.slice(-500);
  });
  try {
    if (tar.stdout !== null) yield* tar.stdout as AsyncIterable<Uint8Array>;
    const [code] = await closed;
    if (code !== 0) throw failedPrecondition(`tar: expected it to succeed, it ended with code ${code}: ${said.trim()}`);
  } finally {
    tar.kill();
  }
}

interface Upload {
  readonly name: string;
  readonly version: string;
  readonly type: PackageType;
  /** Empty if it runs on every platform. */
  readonly platform: string;
  readonly metadata: JsonObject;
}

type Message = Parameters<Cloud['packages']['createPackage']>[0] extends AsyncIterable<infer M> ? M : never;

/** Uploads an archive as a version of a package. */
export const uploadFields: readonly string[] = ['id', 'version', 'size_bytes'];

/** @returns the id of the package: organization and name */
export async function upload(context: Context, archive: Archive, { platform, ...info }: Upload): Promise<string> {
  const { id: organizationId } = await context.find.organization();
  let bytes = 0;
  async function* messages(): AsyncGenerator<Message> {
    yield { package: { case: 'info', value: { ...info, organizationId, ...(platform !== '' && { platform }) } } };
    for await (const value of archive.chunks()) {
      bytes += value.length;
      context.progress.says(`uploading ${info.name}, ${bytesText(bytes)} sent`);
      yield { package: { case: 'contents', value } };
    }
  }
  const { packages } = await context.cloud();
  // An upload has no time limit; only --timeout and Ctrl-C end it.
  const { id, version } = await packages.createPackage(messages(), { timeoutMs: 0 });
  context.out.object({ id, version, size_bytes: bytes });
  return id;
}
