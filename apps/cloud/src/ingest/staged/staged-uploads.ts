/**
 * Large uploads in progress: their bytes are staged below one folder until all have arrived.
 *
 * `<folder>/<organization>/<hash of part and key>.part` contains the bytes; its length is the current offset. Next to it, `.size` contains
 * the declared length, which the bytes must not exceed, and `.done` the answer of a finished upload, for a machine that did not receive it.
 *
 * States: absent → staged → finished (payload and row are stored, then the staged bytes are removed and the answer is kept for an hour) |
 * expired (nothing was written for a week). A kill at any instant leaves a shorter file, which the sender continues. The checksum of the
 * whole reveals bytes that a power cut damaged.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aborted, type Clock, failedPrecondition, invalidArgument, PlatformError } from '@platform/base';
import { untilAborted } from '@platform/rpc/server';
import { StagedBytes } from './staged-bytes.ts';
import { declaredSize, donePath, namesIn, sizeOf, sizePath } from './staged-files.ts';

export interface StagedLimits {
  /** Bytes of one organization's staged uploads together. Default 64 GiB. */
  readonly maxBytes: number;
  /** Staged uploads of one organization. Default 256. */
  readonly maxUploads: number;
}

export const defaultStagedLimits: StagedLimits = { maxBytes: 64 * 1024 ** 3, maxUploads: 256 };

/** Identifies an upload; the sender chooses `key`. */
export interface StagedKey {
  readonly organizationId: string;
  readonly partId: string;
  readonly key: Uint8Array;
}

export interface StagedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
}

const expiryMs = 7 * 24 * 3_600_000;
const answerMs = 3_600_000;
const busyMs = 60_000;

export class StagedUploads {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #limits: StagedLimits;
  readonly #bytes = new StagedBytes();
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #arriving = new Map<string, AbortController>();

  constructor(folder: string, clock: Clock, limits: StagedLimits = defaultStagedLimits) {
    this.#folder = folder;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** As `write`, in turn, for a piece that arrives slowly: it ends when the upload is begun again. */
  async receive(key: StagedKey, offset: number, length: number, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const path = this.#path(key);
    const arriving = new AbortController();
    this.#arriving.set(path, arriving);
    try {
      const arrived = untilAborted(chunks, arriving.signal);
      return await this.inTurn(key, () => this.write(key, offset, length, arrived));
    } finally {
      if (this.#arriving.get(path) === arriving) this.#arriving.delete(path);
    }
  }

  /** Ends a piece that is still arriving: its sender has begun again, so the rest of it will not arrive. */
  interrupt(key: StagedKey): void {
    this.#arriving
      .get(this.#path(key))
      ?.abort(aborted('the upload was begun again while this piece of it was arriving'));
  }

  /** Calls of one upload run one after the other. */
  async inTurn<T>(key: StagedKey, run: () => Promise<T>): Promise<T> {
    const path = this.#path(key);
    const turn = (this.#queues.get(path) ?? Promise.resolve()).then(run, run);
    this.#queues.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.#queues.get(path) === turn) this.#queues.delete(path);
    }
  }

  /**
   * Starts or finds the upload; returns how many bytes are staged. An upload declared with another size starts over.
   *
   * @param size of the whole file
   * @throws failed_precondition if it is too large; resource_exhausted if too much is staged
   */
  async begin(key: StagedKey, size: number): Promise<number> {
    const { maxBytes, maxUploads } = this.#limits;
    if (size > maxBytes)
      throw failedPrecondition(
        `expected a file of at most ${maxBytes} bytes, found ${size}: send it with DataSyncService.FileUpload`,
      );
    const path = this.#path(key);
    const found = await sizeOf(path);
    const others = (await this.#staged(key.organizationId)).filter((each) => each.path !== path);
    const bytes = others.reduce((sum, each) => sum + each.bytes, 0);
    if (bytes + size > maxBytes || others.length >= maxUploads)
      throw new PlatformError(
        'resource_exhausted',
        `this organization already has ${others.length} staged uploads of ${bytes} bytes, the maximum is ${maxUploads} of ${maxBytes} bytes in total: some must be finished or expire first`,
        undefined,
        { retryAfterMs: busyMs },
      );
    if (found !== undefined && found <= size && (await declaredSize(path)) === size) return found;
    await this.remove(key);
    await mkdir(join(this.#folder, key.organizationId), { recursive: true, mode: 0o700 });
    await writeFile(sizePath(path), String(size), { mode: 0o600 });
    await writeFile(path, '', { mode: 0o600 });
    return 0;
  }

  /**
   * Appends at `offset`, if the staged bytes end there; returns where they end. What arrives before `chunks` throws is appended.
   *
   * @param length of all chunks
   * @throws failed_precondition without `begin`; invalid_argument beyond the declared size
   */
  async write(key: StagedKey, offset: number, length: number, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const path = this.#path(key);
    const { bytes, declared } = await this.#require(path);
    const end = offset + length;
    if (end > declared)
      throw invalidArgument(
        `expected at most the ${declared} bytes that BeginUpload declared, found a piece that ends at ${end}`,
      );
    return offset !== bytes || length === 0 ? bytes : this.#bytes.append(path, offset, chunks);
  }

  /**
   * Returns the staged file once it is durable.
   *
   * @throws failed_precondition without `begin`, or while bytes are missing; aborted if it differs from what was sent: it is then removed
   */
  async complete(key: StagedKey, expected: Uint8Array): Promise<StagedFile> {
    const path = this.#path(key);
    const { bytes: sizeBytes, declared } = await this.#require(path);
    if (sizeBytes < declared)
      throw failedPrecondition(
        `expected the ${declared} bytes that BeginUpload declared, found ${sizeBytes}: begin the upload again, which continues it`,
      );
    const sha256 = await this.#bytes.hashOf(path, sizeBytes);
    if (!Buffer.from(expected).equals(sha256)) {
      await this.remove(key);
      throw aborted(
        `the ${sizeBytes} staged bytes of the upload were damaged: their checksum differs from that of the sent file. They were removed; begin the upload again`,
      );
    }
    try {
      await this.#bytes.sync(path);
    } catch (caught) {
      // After a failed sync it is unknown what is on the disk, and another sync would not tell (I2).
      await this.remove(key);
      throw caught;
    }
    return { path, sizeBytes, sha256 };
  }

  /** Keeps the answer for an hour, and removes the bytes. */
  async finish(key: StagedKey, binaryDataId: string): Promise<void> {
    await writeFile(donePath(this.#path(key)), binaryDataId, { mode: 0o600 });
    await this.remove(key);
  }

  /** The answer of an upload that was finished within the last hour. */
  async answer(key: StagedKey): Promise<string | undefined> {
    const path = donePath(this.#path(key));
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || this.#clock.now() - found.mtimeMs > answerMs) return undefined;
    return (await readFile(path, 'utf8')) || undefined;
  }

  async remove(key: StagedKey): Promise<void> {
    const path = this.#path(key);
    this.#bytes.forget(path);
    await rm(path, { force: true });
    await rm(sizePath(path), { force: true });
  }

  /** Removes uploads to which nothing was written for a week, and answers older than an hour; returns how many uploads. */
  async expire(): Promise<number> {
    let expired = 0;
    for (const organization of await namesIn(this.#folder)) {
      const names = await namesIn(join(this.#folder, organization));
      for (const name of names) {
        if (name.endsWith('.size') && names.includes(name.replace(/size$/, 'part'))) continue;
        const path = join(this.#folder, organization, name);
        const found = await stat(path).catch(() => undefined);
        const isUpload = name.endsWith('.part');
        if (found === undefined || this.#queues.has(path)) continue;
        if (this.#clock.now() - found.mtimeMs <= (isUpload ? expiryMs : answerMs)) continue;
        this.#bytes.forget(path);
        await rm(path, { force: true });
        if (isUpload) await rm(sizePath(path), { force: true });
        if (isUpload) expired++;
      }
    }
    return expired;
  }

  async #staged(organizationId: string): Promise<{ path: string; bytes: number }[]> {
    const folder = join(this.#folder, organizationId);
    const paths = (await namesIn(folder)).filter((name) => name.endsWith('.part')).map((name) => join(folder, name));
    return Promise.all(paths.map(async (path) => ({ path, bytes: (await sizeOf(path)) ?? 0 })));
  }

  async #require(path: string): Promise<{ bytes: number; declared: number }> {
    const [bytes, declared] = await Promise.all([sizeOf(path), declaredSize(path)]);
    if (bytes === undefined || declared === undefined)
      throw failedPrecondition('expected an upload that was begun and has not expired, found none: begin it again');
    return { bytes, declared };
  }

  #path({ organizationId, partId, key }: StagedKey): string {
    const name = createHash('sha256').update(partId).update('\0').update(key).digest('hex');
    return join(this.#folder, organizationId, `${name}.part`);
  }
}
