/**
 * Owns, recovers and remembers the capture directories of this machine.
 *
 * `<home>/capture_directories.json` lists every directory that ever held captures, so that files in one that the
 * configuration no longer names are still recovered, sent, and counted in the low-water mark of their stream (C10).
 */
import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, PlatformError } from '@platform/base';
import { readCaptureFileHeader } from '@platform/capture-file';
import { inFolder } from './folder.ts';
import { lockDirectory } from './lock/lock-directory.ts';
import { openBelow } from './open-below.ts';
import { failedFolder } from './paths.ts';
import { readState } from './read-state.ts';
import { type RecoveryDeps, recoverFile } from './recover.ts';
import type { SeqLedger } from './seq-ledger.ts';
import { walkFiles } from './walk-files.ts';
import { writeDurably } from './write-durably.ts';

export interface DirectoriesDeps extends RecoveryDeps {
  readonly home: string;
  readonly ledger: SeqLedger;
}

export class Directories implements AsyncDisposable {
  readonly #deps: DirectoriesDeps;
  readonly #owned = new Map<string, AsyncDisposable>();
  readonly #known = new Set<string>();
  /** Directories that another process owns or that cannot be used, with the logged reason. */
  readonly #refused = new Map<string, string>();

  constructor(deps: DirectoriesDeps) {
    this.#deps = deps;
  }

  /** Directories that this process owns. */
  owned(): readonly string[] {
    return [...this.#owned.keys()];
  }

  /** Takes ownership of every remembered directory that still exists. */
  async start(): Promise<void> {
    for (const directory of await this.#remembered()) {
      this.#known.add(directory);
      if (await exists(directory)) await this.own(directory);
    }
  }

  /**
   * Lists the headers of all files left by earlier starts, so that the low-water marks of their streams can be reported. Slow with many
   * files.
   */
  async survey(signal: AbortSignal): Promise<void> {
    let isComplete = true;
    const onUnreadable = (path: string, caught: unknown): void => {
      isComplete = false;
      this.#deps.log.error('a folder of a capture directory cannot be read; its files wait', {
        path,
        error: errorText(caught),
      });
    };
    for (const directory of this.#known) {
      // A directory that cannot be listed may still hold files: then the low-water marks stay unreported.
      if (!this.#owned.has(directory)) return;
      for (const from of [directory, join(directory, failedFolder)]) {
        for await (const path of walkFiles(directory, signal, { onUnreadable, from })) {
          if (!path.endsWith('.capture')) continue;
          try {
            const identity = await readIdentity(path, directory);
            if (identity !== undefined) this.#deps.ledger.found(identity.stream, identity.seq);
          } catch (caught) {
            // Without a readable header it can never be sent; a file that has disappeared meanwhile was settled.
            if (!neverSent(caught)) throw caught;
          }
        }
      }
    }
    // Files that cannot be seen may still be sent one day: their streams' low-water marks stay unreported.
    if (isComplete && !signal.aborted) this.#deps.ledger.complete();
  }

  /** Owns a directory and recovers the files left open in it; false if another process has it or it cannot be used. */
  async own(directory: string): Promise<boolean> {
    if (this.#owned.has(directory)) return true;
    try {
      this.#owned.set(directory, await this.#take(directory));
      this.#refused.delete(directory);
    } catch (caught) {
      const reason = errorText(caught);
      if (this.#refused.get(directory) !== reason)
        this.#deps.log.error('a capture directory cannot be used', { directory, reason });
      this.#refused.set(directory, reason);
      return false;
    }
    return true;
  }

  async #take(directory: string): Promise<AsyncDisposable> {
    await using taking = new AsyncDisposableStack();
    const lock = taking.use(await lockDirectory(directory));
    await this.#remember(directory);
    await this.#recover(directory);
    taking.move();
    return lock;
  }

  /** Why the directory could not be owned at the last attempt; undefined if it could, or none was made. */
  refusal(directory: string): string | undefined {
    return this.#refused.get(directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#owned.values()) await lock[Symbol.asyncDispose]();
    this.#owned.clear();
  }

  async #recover(directory: string): Promise<void> {
    const onUnreadable = (path: string, caught: unknown): void =>
      this.#deps.log.error('a folder cannot be read; files that a crash left open in it wait for the next start', {
        path,
        error: errorText(caught),
      });
    for await (const path of walkFiles(directory, new AbortController().signal, { onUnreadable })) {
      try {
        if (path.endsWith('.prog')) await recoverFile(path, directory, this.#deps);
        else if (/\.(capture|prog)(\.\d+)?\.tmp$/.test(path)) await inFolder(path, directory, (at) => rm(at));
      } catch (caught) {
        this.#deps.log.error('recovering a capture file failed; the file is left unchanged', {
          path,
          error: errorText(caught),
        });
      }
    }
  }

  get #listFile(): string {
    return join(this.#deps.home, 'capture_directories.json');
  }

  async #remembered(): Promise<string[]> {
    const text = await readState(this.#listFile, this.#deps);
    if (text === undefined) return [];
    try {
      const list: unknown = JSON.parse(text);
      return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
    } catch (caught) {
      this.#deps.log.error('the list of capture directories cannot be read', { error: errorText(caught) });
      return [];
    }
  }

  async #remember(directory: string): Promise<void> {
    if (this.#known.has(directory)) return;
    await writeDurably(this.#listFile, `${JSON.stringify([...this.#known, directory], null, 2)}\n`);
    this.#known.add(directory);
  }
}

function neverSent(caught: unknown): boolean {
  // Not a regular file, or another account's with several names.
  if (caught instanceof PlatformError) return caught.code === 'data_loss' || caught.code === 'failed_precondition';
  const { code } = caught as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ELOOP';
}

/** Reads stream and seq from the header of a capture file; undefined if it is from a public machine-server and has none. */
export async function readIdentity(
  path: string,
  directory: string,
): Promise<{ stream: Uint8Array; seq: number } | undefined> {
  await using file = await openBelow(path, directory);
  for (let size = 4_096; ; size *= 16) {
    const bytes = Buffer.alloc(size);
    let bytesRead = 0;
    for (let more = 1; more > 0 && bytesRead < size; bytesRead += more)
      more = await file.read(bytes.subarray(bytesRead), bytesRead);
    try {
      const { header, kind } = readCaptureFileHeader(bytes.subarray(0, bytesRead));
      return kind === 'public' ? undefined : { stream: header.stream, seq: Number(header.seq) };
    } catch (caught) {
      if (bytesRead < size) throw caught;
    }
  }
}

async function exists(directory: string): Promise<boolean> {
  const handle = await opendir(directory).catch(() => undefined);
  await handle?.close();
  return handle !== undefined;
}
