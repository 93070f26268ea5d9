/** Copies of files from and to a machine, over any connection to the machine. What has names and contents is up to the caller. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { aborted, failedPrecondition } from '@platform/base/portable';
import {
  CopyFilesSourceType,
  type CopyFilesToMachineRequestSchema,
  type FileData,
} from '@platform/proto/platform/service/shell/v1/shell';
import { shell as shellType } from '@platform/resources/types';
import type { Machine } from './open-machine.ts';
import { createOutbox } from './outbox.ts';

export interface CopiedFile {
  /** The names of the folders above it, and its own, below what is copied; empty: what is copied itself. */
  readonly path: readonly string[];
  readonly isFolder: boolean;
  /** Bytes; 0 also if it is not known. */
  readonly size: number;
  /** Permissions. */
  readonly mode?: number | undefined;
  readonly modifiedMs?: number | undefined;
  /** Empty for a folder. */
  readonly content: AsyncIterable<Uint8Array>;
}

export interface CopyOptions {
  /** The name of the machine's shell service. */
  readonly shell: string;
  readonly signal?: AbortSignal;
}

const pieceBytes = 64 * 1024;
/** Files that may be on the way to the machine before it has acknowledged them. */
const mostUnacknowledged = 16;

/**
 * A file of the machine, or a folder and everything in it: each folder before what it contains. The content of a file must be read before the
 * next one. No name leads out of what was asked for, whatever the machine sends.
 *
 * @throws not_found, invalid_argument for a folder without `isRecursive`, failed_precondition for names that lead elsewhere
 */
export async function* readFiles(
  machine: Pick<Machine, 'client'>,
  from: string,
  { shell: name, isRecursive, signal }: CopyOptions & { readonly isRecursive: boolean },
): AsyncGenerator<CopiedFile, void> {
  const over = new AbortController();
  const either = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const { messages, send, end } = createOutbox<{
    request: { case: 'metadata'; value: object } | { case: 'ackLastFile'; value: true };
  }>();
  const metadata = { name, paths: [from], allowRecursion: isRecursive, preserve: true };
  void send({ request: { case: 'metadata', value: metadata } });
  const answers = machine.client(shellType.service).copyFilesFromMachine(messages, { signal: either });
  const data = dataIn(answers);
  let root: readonly string[] | undefined;
  try {
    for (let next = await data.next(); next.done !== true; next = await data.next()) {
      const first = next.value;
      const full = first.name.split('/').filter((part) => part !== '' && part !== '.');
      root ??= full;
      const path = pathBelow(root, full, first.name);
      if (first.isDir && !isRecursive) throw elsewhere(`${first.name}/`);
      let isRead = false;
      async function* content(): AsyncGenerator<Uint8Array, void> {
        for (let piece = first; ; ) {
          if (piece.data.length > 0) yield piece.data;
          if (piece.eof) break;
          const more = await data.next();
          if (more.done === true) throw aborted(`${first.name}: the machine ended the copy within this file`);
          piece = more.value;
        }
        isRead = true;
      }
      const pieces = content();
      yield {
        path,
        isFolder: first.isDir,
        size: Number(first.size),
        mode: first.mode,
        modifiedMs: first.modTime && timestampMs(first.modTime),
        content: pieces,
      };
      if (!isRead) for await (const _ of pieces);
      void send({ request: { case: 'ackLastFile', value: true } });
    }
  } finally {
    end();
    over.abort();
  }
}

async function* dataIn(
  answers: AsyncIterable<{ readonly response: { readonly case?: string | undefined; readonly value?: unknown } }>,
): AsyncGenerator<FileData, void> {
  for await (const { response } of answers) if (response.case === 'fileData') yield response.value as FileData;
}

/** @throws failed_precondition if it is not below the root */
function pathBelow(root: readonly string[], full: readonly string[], name: string): readonly string[] {
  const path = full.slice(root.length);
  const isBelow = full.length >= root.length && root.every((part, index) => part === full[index]);
  if (isBelow && !path.some((part) => part === '..' || part.includes('\0'))) return path;
  throw elsewhere(name);
}

function elsewhere(name: string) {
  return failedPrecondition(
    `the machine sent ${JSON.stringify(name.slice(0, 200))}, which is not in what was asked for; nothing of it was written`,
  );
}

/**
 * Copies a file, or a folder and everything in it, to the machine.
 *
 * @param files what is copied first, each folder before what it contains. @param options `to`: a path on the machine, relative to the home of
 * the machine-server's user. In an existing folder the copy has `name`; anything else is its new name
 * @throws what reading `files` throws; the machine's error
 */
export async function writeFiles(
  machine: Pick<Machine, 'client'>,
  files: AsyncIterable<CopiedFile>,
  options: CopyOptions & { readonly to: string; readonly name: string; readonly isFolder: boolean },
): Promise<void> {
  const failed = new AbortController();
  const signals = options.signal === undefined ? [failed.signal] : [options.signal, failed.signal];
  const acks = { missing: 0, arrived: () => {} };
  const answers = machine
    .client(shellType.service)
    .copyFilesToMachine(requestsOf(files, options, acks, failed), { signal: AbortSignal.any(signals) });
  try {
    for await (const { ackLastFile } of answers) {
      if (!ackLastFile) continue;
      acks.missing--;
      acks.arrived();
    }
  } catch (caught) {
    throw failed.signal.aborted ? failed.signal.reason : caught;
  }
  if (acks.missing > 0) throw aborted(`the machine ended the copy before it had acknowledged ${acks.missing} files`);
}

async function* requestsOf(
  files: AsyncIterable<CopiedFile>,
  { shell, to, name, isFolder }: Parameters<typeof writeFiles>[2],
  acks: { missing: number; arrived: () => void },
  failed: AbortController,
): AsyncGenerator<MessageInitShape<typeof CopyFilesToMachineRequestSchema>, void> {
  const sourceType = isFolder ? CopyFilesSourceType.SINGLE_DIRECTORY : CopyFilesSourceType.SINGLE_FILE;
  yield {
    request: { case: 'metadata', value: { name: shell, sourceType, destination: to, preserve: true } },
  };
  const part = (value: Partial<Omit<FileData, '$typeName'>>) => ({ request: { case: 'fileData' as const, value } });
  try {
    for await (const file of files) {
      const described = {
        name: [name, ...file.path].join('/'),
        size: BigInt(file.size),
        isDir: file.isFolder,
        ...(file.mode !== undefined && { mode: file.mode }),
        ...(file.modifiedMs !== undefined && { modTime: timestampFromMs(file.modifiedMs) }),
      };
      acks.missing++;
      if (file.isFolder) yield part({ ...described, eof: true });
      else {
        // Only the first message of a file describes it: public machine-servers take a name for the beginning of another file.
        yield part(described);
        for await (const data of file.content)
          for (let at = 0; at < data.length; at += pieceBytes) yield part({ data: data.subarray(at, at + pieceBytes) });
        yield part({ eof: true });
      }
      while (acks.missing >= mostUnacknowledged)
        await new Promise<void>((resolve) => {
          acks.arrived = resolve;
        });
    }
  } catch (caught) {
    failed.abort(caught);
    throw caught;
  }
}
