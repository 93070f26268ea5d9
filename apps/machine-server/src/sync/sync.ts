/**
 * Sends files to the cloud.
 *
 * States of a file: waiting → in flight → acknowledged, then deleted | waiting with its own retry time | set aside. A pass lists the
 * directories and sends what is due, `threads` at a time; a failing file does not delay others (D15).
 */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type CodeName, errorText, type LogFields } from '@platform/base';
import { failedFolder } from '../directories/paths.ts';
import { setAside } from '../directories/set-aside.ts';
import { LimitedLog } from '../logging/limited-log.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { Attempts } from './attempts.ts';
import { dueFiles } from './due-files.ts';
import type { Outcome } from './outcome.ts';
import { type UploadContext, uploadCapture } from './upload-capture.ts';
import { uploadFile } from './upload-file.ts';

export interface SyncSettings {
  readonly intervalMs: number;
  readonly disabled: boolean;
  readonly threads: number;
  readonly tags: readonly string[];
  readonly additionalPaths: readonly string[];
  /** Arbitrary files must be unmodified for this long. */
  readonly unmodifiedMs: number;
}

export interface SyncDeps extends Omit<UploadContext, 'link'> {
  /** Undefined if there is no cloud; files then stay. */
  readonly link: Link | undefined;
  readonly partId: string;
  readonly captureDirectories: () => readonly string[];
  /** Seals open files, so that a pass sends them. */
  readonly seal: () => Promise<void>;
  /** Looks at uploads. */
  readonly observe: Observe | undefined;
}

type Link = UploadContext['link'];

export interface SyncStatus {
  uploadedFiles: number;
  uploadedReadings: number;
  setAsideFiles: number;
  failedAttempts: number;
}

export class Sync implements AsyncDisposable {
  readonly status: SyncStatus = { uploadedFiles: 0, uploadedReadings: 0, setAsideFiles: 0, failedAttempts: 0 };
  readonly #deps: SyncDeps;
  readonly #attempts = new Attempts();
  readonly #inFlight = new Set<string>();
  /** Acknowledged files that the disk refused to delete: they must not be sent again. */
  readonly #acknowledged = new Map<string, { stream: Uint8Array; seq: number } | undefined>();
  readonly #stop = new AbortController();
  #settings: SyncSettings | undefined;
  #timer: Disposable | undefined;
  #pass: Promise<void> | undefined;
  /** Uploads in progress, across passes: a slow one occupies its thread, but does not delay the next pass. None of them rejects. */
  readonly #running = new Set<Promise<void>>();
  readonly #log: LimitedLog;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.clock.monotonic());
  }

  configure(settings: SyncSettings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = settings;
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#deps.clock.every(settings.intervalMs, () => void this.#tick());
  }

  /** Ends regular sync. */
  unconfigure(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#settings = undefined;
  }

  /** Whether files are sent without being asked for: false without a data manager, without a cloud, or with `sync_disabled`. */
  get sends(): boolean {
    return this.#settings?.disabled === false && this.#deps.link !== undefined;
  }

  /** Whether `path` is being sent right now. */
  sending(path: string): boolean {
    return this.#inFlight.has(path);
  }

  /** Seals and sends everything that is due; simultaneous callers share the same pass. */
  async flush(): Promise<void> {
    await this.#passOnce();
    await Promise.all(this.#running);
  }

  #passOnce(): Promise<void> {
    this.#pass ??= this.#run().finally(() => {
      this.#pass = undefined;
    });
    return this.#pass;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unconfigure();
    this.#stop.abort();
    await this.#pass?.catch(() => {});
    await Promise.all(this.#running);
  }

  /** While nothing is sent, files are sealed only at their maximum size: sealing them at every interval would leave many small ones. */
  async #tick(): Promise<void> {
    if (this.sends) await this.#passOnce();
  }

  async #run(): Promise<void> {
    try {
      await this.#deps.seal();
      const { link } = this.#deps;
      if (link !== undefined) await this.#send(link);
    } catch (caught) {
      this.#deps.log.error('a sync pass failed', { error: errorText(caught) });
    }
  }

  async #send(link: Link): Promise<void> {
    const { signal } = this.#stop;
    const running = this.#running;
    let unavailable = false;
    const start = (task: Promise<Outcome>): void => {
      const done: Promise<void> = task.then((outcome) => {
        running.delete(done);
        // The others would fail in the same way: they wait for the next pass, and no failure is recorded for them.
        if (outcome.kind === 'later' && outcome.code === 'unavailable') unavailable = true;
      });
      running.add(done);
    };
    const { threads = 1, additionalPaths = [], unmodifiedMs = 0 } = this.#settings ?? {};
    const { clock, captureDirectories } = this.#deps;
    const isReady = (path: string): boolean => !this.#inFlight.has(path) && this.#attempts.due(path, clock.monotonic());
    const due = { captureDirectories: captureDirectories(), additionalPaths, unmodifiedMs, isReady, clock };
    for await (const { path, directory } of dueFiles(due, signal)) {
      if (unavailable || signal.aborted) break;
      while (running.size >= threads) await Promise.race(running);
      if (unavailable || signal.aborted) break;
      const send = () =>
        directory === undefined ? this.#sendFile(path, link) : this.#sendCapture(path, directory, link);
      start(this.#attempt(path, send));
    }
  }

  /** One attempt to send a file. Never throws: an error on this side is a failure of this file only. */
  async #attempt(path: string, send: () => Promise<Outcome>): Promise<Outcome> {
    this.#inFlight.add(path);
    try {
      return await observed(this.#deps.observe, 'upload', { 'file.path': path }, send);
    } catch (caught) {
      const outcome: Outcome = { kind: 'later', code: 'internal', message: errorText(caught) };
      const waitMs = this.#later(path, 'internal');
      this.#say('error', 'sync: sending a file failed on this side; trying again', {
        file: path,
        error: outcome.message,
        waitMs,
      });
      return outcome;
    } finally {
      this.#inFlight.delete(path);
    }
  }

  async #sendCapture(path: string, directory: string, link: Link): Promise<Outcome> {
    if (this.#acknowledged.has(path)) {
      const identity = this.#acknowledged.get(path);
      await this.#removeAcknowledged(path, identity);
      return { kind: 'gone' };
    }
    const outcome = await uploadCapture(path, directory, { ...this.#deps, link }, this.#stop.signal);
    await this.#conclude(path, directory, outcome, outcome.identity);
    return outcome;
  }

  async #sendFile(path: string, link: Link): Promise<Outcome> {
    const { partId } = this.#deps;
    const outcome = await uploadFile(path, partId, this.#settings?.tags ?? [], link, this.#stop.signal);
    await this.#conclude(path, dirname(path), outcome);
    return outcome;
  }

  async #conclude(
    path: string,
    directory: string,
    outcome: Outcome,
    identity?: { stream: Uint8Array; seq: number },
  ): Promise<void> {
    const { ledger } = this.#deps;
    switch (outcome.kind) {
      case 'accepted':
        this.status.uploadedFiles++;
        this.status.uploadedReadings += outcome.readings;
        this.#acknowledged.set(path, identity);
        await this.#removeAcknowledged(path, identity);
        return;
      case 'gone':
        this.#attempts.done(path);
        if (identity !== undefined) ledger.settle(identity.stream, identity.seq);
        return;
      case 'aside':
        return this.#putAside(path, directory, outcome.reason);
      default: {
        const { code, message: error } = outcome;
        const waitMs = this.#later(path, code);
        const what =
          code === 'unavailable'
            ? 'sync: the cloud is unavailable; files stay on the disk and are sent later'
            : 'sync: a file was not accepted; trying again';
        this.#say('warn', what, { file: path, code, error, waitMs });
      }
    }
  }

  async #putAside(path: string, directory: string, reason: string): Promise<void> {
    const { log, clock } = this.#deps;
    try {
      const file = await setAside(path, directory, reason, clock.now());
      this.#attempts.done(path);
      this.status.setAsideFiles++;
      log.error(`the cloud does not accept a file; set aside in ${failedFolder}/`, { file, reason });
    } catch (caught) {
      const waitMs = this.#later(path, 'internal');
      this.#say('error', 'the cloud does not accept a file, and it could not be set aside; trying again', {
        file: path,
        reason,
        error: errorText(caught),
        waitMs,
      });
    }
  }

  /** Gives the file its own retry time; returns the wait in ms. */
  #later(path: string, code: CodeName): number {
    this.status.failedAttempts++;
    return Math.round(this.#attempts.failed(path, code, this.#deps.clock.monotonic()));
  }

  #say(level: 'warn' | 'error', message: string, fields: LogFields): void {
    if (!this.#stop.signal.aborted) this.#log.write(level, message, fields);
  }

  /** Deletes after acknowledgement; only then may the low-water mark pass the file (I6). */
  async #removeAcknowledged(path: string, identity: { stream: Uint8Array; seq: number } | undefined): Promise<void> {
    const { ledger } = this.#deps;
    try {
      await rm(path, { force: true });
    } catch (caught) {
      const waitMs = this.#later(path, 'internal');
      this.#say('error', 'a synced file could not be deleted; it is not sent again', {
        file: path,
        error: errorText(caught),
        waitMs,
      });
      return;
    }
    this.#acknowledged.delete(path);
    this.#attempts.done(path);
    if (identity !== undefined) ledger.settle(identity.stream, identity.seq);
  }
}
