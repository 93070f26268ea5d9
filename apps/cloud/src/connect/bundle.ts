/** What another computer downloads to become a machine: the machine-server as an archive, and this computer's Node. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '@platform/base';
import { collectProgram } from './collect-program.ts';
import { tar } from './tar.ts';

export interface Bundle {
  readonly archive: Uint8Array;
  /** SHA-256 in hexadecimal. */
  readonly archiveSum: string;
  /** Path of its main module in the archive. */
  readonly main: string;
  /** Flags that Node needs for it. */
  readonly flags: readonly string[];
  /** Undefined if this computer's Node needs shared libraries. */
  readonly node: NodeFile | undefined;
}

export interface NodeFile {
  open(): Readable;
  readonly bytes: number;
  readonly sum: string;
  /** Such as `linux-x64`. */
  readonly platform: string;
}

/** How long it stays in memory after its last use; it takes a few megabytes. */
const keepMs = 900_000;

/** @param main path of the main module of the machine-server */
export function createBundles(main: string, clock: Clock): () => Promise<Bundle> {
  let made: Promise<Bundle> | undefined;
  let forgetting: Disposable | undefined;
  return () => {
    forgetting?.[Symbol.dispose]();
    forgetting = clock.after(keepMs, () => {
      made = undefined;
    });
    made ??= make(main).catch((caught: unknown) => {
      made = undefined;
      throw caught;
    });
    return made;
  };
}

async function make(main: string): Promise<Bundle> {
  const { entries, main: inArchive, flags } = await collectProgram(main);
  const archive = await promisify(gzip)(tar(entries));
  const archiveSum = createHash('sha256').update(archive).digest('hex');
  return { archive, archiveSum, main: inArchive, flags, node: await ownNode() };
}

async function ownNode(): Promise<NodeFile | undefined> {
  // The Node of a Linux distribution is small because it links shared libraries, which other computers may lack.
  const { variables } = process.config as unknown as { readonly variables: { readonly node_shared?: boolean } };
  if (variables.node_shared === true) return undefined;
  const path = await realpath(process.execPath);
  const sum = createHash('sha256');
  await pipeline(createReadStream(path), sum);
  const { size } = await stat(path);
  return {
    open: () => createReadStream(path),
    bytes: size,
    sum: sum.digest('hex'),
    platform: `${process.platform}-${process.arch}`,
  };
}
