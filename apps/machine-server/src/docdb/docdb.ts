/**
 * Sends readings also to a document database (`docdb_capture_config`), independently of sync: docs/specs/document-database.md.
 *
 * States of a queued file: waiting → sent (its documents are in the database, or were refused permanently) → removed. A failure changes no
 * state: the same files are sent again later, under the same ids.
 */
import {
  asPlatformError,
  type Clock,
  createLimiter,
  errorText,
  type Follower,
  follow,
  type Log,
  PlatformError,
  silentLog,
  unavailable,
} from '@platform/base';
import { LimitedLog } from '../logging/limited-log.ts';
import type { DocdbSettings, DocumentDatabase, OpenDatabase, Refusal } from './database.ts';
import { documentsOf, type PartIds, type ReadingDocument } from './documents-of.ts';
import type { DocdbQueue } from './queue.ts';

export interface DocdbDeps {
  readonly queue: DocdbQueue;
  readonly open: OpenDatabase;
  readonly ids: () => PartIds;
  /** Seals open capture files, so that their readings can be sent. */
  readonly seal: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** docs/specs/states.md says what makes each true. */
export const databaseStates = ['off', 'on', 'failing'] as const;

export interface DocdbStatus {
  readonly state: (typeof databaseStates)[number];
  readonly waiting_files: number;
  /** Numbers count from the start of the server. */
  readonly stored_documents: number;
  readonly refused_documents: number;
  readonly dropped_readings: number;
  readonly last_error: string;
}

/** Readings reach the database within this time, even while sync sends nothing. */
const sealEveryMs = 60_000;
const mostFiles = 64;
const mostDocuments = 1_000;
/** Maximum size of capture files that are sent together; they are in memory. */
const mostBytes = 4 * 1024 * 1024;
/**
 * An edit or a stop waits as long for documents that are being inserted. Otherwise they would be sent again, and after an edit they could be
 * in two databases.
 */
const finishMs = 2_000;
/** A document is dropped after this many attempts if the error does not say whether the document is the cause. */
const mostAttempts = 5;

export class Docdb implements AsyncDisposable {
  readonly #deps: DocdbDeps;
  readonly #log: LimitedLog;
  #settings: DocdbSettings | undefined;
  #follower: Follower | undefined;
  #sealing: Disposable | undefined;
  #database: DocumentDatabase | undefined;
  #stored = 0;
  #refused = 0;
  #unsureAttempts = 0;
  #lastError = '';
  readonly #inTurn = createLimiter(1);

  constructor(deps: DocdbDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.clock.monotonic());
  }

  /** @param settings undefined: no database is configured, and the queue is deleted */
  configure(settings: DocdbSettings | undefined): Promise<void> {
    return this.#inTurn(() => this.#bringTo(settings));
  }

  /** Sends nothing until it is configured again; files are still queued. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  /** Signals that there may be files in the queue. */
  wake(): void {
    // After a failure, the wait continues.
    if (this.#lastError === '') this.#follower?.wake();
  }

  status(): DocdbStatus {
    const { queue } = this.#deps;
    return {
      state: this.#settings === undefined ? 'off' : this.#lastError === '' ? 'on' : 'failing',
      waiting_files: queue.length,
      stored_documents: this.#stored,
      refused_documents: this.#refused,
      dropped_readings: queue.droppedReadings,
      last_error: this.#lastError,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #bringTo(settings: DocdbSettings | undefined): Promise<void> {
    const { queue, clock, log } = this.#deps;
    if (settings !== undefined && JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    await this.#end();
    if (settings === undefined) {
      if (queue.length > 0)
        log.warn('no document database is configured any longer; readings that waited for it are dropped', {
          files: queue.length,
        });
      await queue.clear();
      return;
    }
    await queue.open();
    this.#settings = settings;
    this.#sealing = clock.every(sealEveryMs, () => void this.#deps.seal().catch(() => {}));
    this.#follower = follow({
      name: 'document database',
      step: (signal) => this.#step(settings, signal),
      clock,
      log: silentLog,
      backoff: { firstMs: 1_000, maxMs: 60_000 },
    });
  }

  async #end(): Promise<void> {
    this.#sealing?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    await this.#close();
    this.#follower = undefined;
    this.#settings = undefined;
    this.#lastError = '';
  }

  async #close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    try {
      await database?.[Symbol.asyncDispose]();
    } catch {
      // Its connections are then gone.
    }
  }

  /** Sends the oldest files; false once none waits. */
  async #step(settings: DocdbSettings, signal: AbortSignal): Promise<boolean> {
    const { queue, log } = this.#deps;
    const { names, documents } = await this.#gather();
    if (names.length === 0) return false;
    const refused: { readonly document: ReadingDocument | undefined; readonly reason: string }[] = [];
    try {
      for (let at = 0; at < documents.length; at += mostDocuments) {
        const some = documents.slice(at, at + mostDocuments);
        for (const { index, reason } of await this.#insert(settings, some, signal))
          refused.push({ document: some[index], reason });
      }
    } catch (caught) {
      this.#fail(caught);
      throw caught;
    }
    this.#stored += documents.length - refused.length;
    for (const { document, reason } of refused) this.#refuse(document, reason);
    for (const name of names) await queue.remove(name);
    if (this.#lastError !== '') log.info('the document database accepts readings again');
    this.#lastError = '';
    this.#unsureAttempts = 0;
    return true;
  }

  async #gather(): Promise<{ names: string[]; documents: ReadingDocument[] }> {
    const { queue, ids } = this.#deps;
    const names: string[] = [];
    const documents: ReadingDocument[] = [];
    let bytes = 0;
    for (const name of queue.oldest(mostFiles)) {
      const contents = await queue.read(name);
      names.push(name);
      if (contents === undefined) continue;
      for (const document of documentsOf(contents, ids())) documents.push(document);
      bytes += contents.goodBytes;
      if (bytes >= mostBytes || documents.length >= mostDocuments) break;
    }
    return { names, documents };
  }

  async #insert(
    settings: DocdbSettings,
    documents: readonly ReadingDocument[],
    signal: AbortSignal,
  ): Promise<readonly Refusal[]> {
    this.#database ??= await this.#deps.open(settings);
    const inserting = this.#database.insert(documents);
    const stopped = Promise.withResolvers<never>();
    let waiting: Disposable | undefined;
    const stop = (): void => {
      waiting = this.#deps.clock.after(finishMs, () => stopped.reject(new PlatformError('canceled', 'stopped')));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    // The loser of the race may fail later.
    inserting.catch(() => {});
    stopped.promise.catch(() => {});
    try {
      const refusals = await Promise.race([inserting, stopped.promise]);
      const unsure = refusals.find(({ isUnsure }) => isUnsure);
      if (unsure !== undefined && ++this.#unsureAttempts < mostAttempts) throw unavailable(unsure.reason);
      return refusals;
    } finally {
      signal.removeEventListener('abort', stop);
      waiting?.[Symbol.dispose]();
    }
  }

  #refuse(document: ReadingDocument | undefined, reason: string): void {
    this.#refused++;
    this.#log.write('error', 'the document database refuses a reading; it is dropped, sync is not affected', {
      ...{ id: document?._id, resource: String(document?.['component_name']), reason, refused: this.#refused },
    });
  }

  #fail(caught: unknown): void {
    if (asPlatformError(caught).code === 'canceled') return;
    this.#lastError = errorText(caught);
    this.#log.write('warn', 'the document database does not accept readings; they wait, and are sent later', {
      ...{ error: this.#lastError, waitingFiles: this.#deps.queue.length },
    });
  }
}
