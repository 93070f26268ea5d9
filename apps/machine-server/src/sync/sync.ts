/**
 * Sends files to the cloud.
 *
 * States of a file: waiting → being sent → acknowledged, then deleted (arbitrary files: deleted, kept or moved) | waiting with its own
 * retry time | set aside with its reason. Capture files and arbitrary files have separate queues, so that a file of gigabytes delays no
 * reading; a failing file delays no other (D15).
 */
import { stat } from 'node:fs/promises';
import { errorText, failedPrecondition, type LogFields } from '@platform/base';
import { LimitedLog } from '../logging/limited-log.ts';
import { stopwatch } from '../logging/stopwatch.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { AfterAttempt, type AfterAttemptDeps, type FoundFile } from './after-attempt.ts';
import { Attempts } from './attempts.ts';
import { ByteBudget } from './byte-budget.ts';
import { type CaptureFile, CaptureQueue, priorityOf } from './capture-queue.ts';
import { DueFiles } from './files/due-files.ts';
import { SentFiles } from './files/sent-files.ts';
import { type AboutBytes, uploadBytes } from './files/upload-bytes.ts';
import { uploadFile } from './files/upload-file.ts';
import { Omitted } from './omitted.ts';
import type { Outcome } from './outcome.ts';
import { Pause } from './pause.ts';
import { RateLimit } from './rate-limit.ts';
import type { SyncRule } from './rules/sync-rule.ts';
import type { SyncSettings } from './rules/sync-settings.ts';
import { SendQueue } from './send-queue.ts';
import { SyncTally } from './sync-tally.ts';
import { type UploadContext, uploadCapture } from './upload-capture.ts';

export interface SyncDeps extends Omit<UploadContext, 'link' | 'rate'> {
  /** Undefined if there is no cloud; files then stay. */
  readonly link: UploadContext['link'] | undefined;
  readonly partId: string;
  readonly home: string;
  readonly captureDirectories: () => readonly string[];
  /** Seals open files, so that a pass sends them. */
  readonly seal: () => Promise<void>;
  /** Observes uploads. */
  readonly observe?: Observe | undefined;
  readonly damaged?: AfterAttemptDeps['damaged'];
  readonly unreadable?: AfterAttemptDeps['unreadable'];
}

/**
 * Uploads per thread: an upload mostly waits for the network and the cloud's disk, so one thread can handle several. More would only need
 * more memory, which is limited for large files.
 */
const uploadsPerThread = 16;
const mostBytesInMemory = 16 * 1024 * 1024;
const leastRetryMs = 50;

type SendOutcome = Outcome['kind'] | 'accepted before' | 'no cloud';

export class Sync implements AsyncDisposable {
  readonly tally: SyncTally = new SyncTally();
  readonly attempts: Attempts = new Attempts();
  readonly omitted: Omitted;
  readonly #deps: SyncDeps;
  readonly #underWay = new Set<string>();
  readonly #stop = new AbortController();
  readonly #pauses = { captures: new Pause(), files: new Pause() };
  readonly #queue: CaptureQueue;
  readonly #captures: SendQueue<CaptureFile>;
  readonly #files: SendQueue<FoundFile>;
  readonly #after: AfterAttempt;
  readonly #rate: RateLimit;
  readonly #memory = new ByteBudget(mostBytesInMemory);
  readonly #log: LimitedLog;
  #settings: SyncSettings | undefined;
  #rule: SyncRule = async () => undefined;
  #heldReason: string | undefined;
  #flushing = 0;
  #timer: Disposable | undefined;
  #retry: Disposable | undefined;
  #ticking: Promise<void> | undefined;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    const { clock, captureDirectories } = deps;
    const { signal } = this.#stop;
    this.#log = new LimitedLog(deps.log, () => clock.monotonic());
    this.#rate = new RateLimit(clock);
    this.omitted = new Omitted((message, fields) => deps.log.warn(message, fields));
    const sent = new SentFiles(deps.home);
    const { ledger, log, refused, damaged, unreadable } = deps;
    const { attempts, tally } = this;
    this.#after = new AfterAttempt({
      ...{ attempts, tally, ledger, sent, clock, log, signal },
      ...{ refused, damaged, unreadable },
    });
    const isDue = (path: string): boolean => !this.#underWay.has(path) && this.attempts.due(path, clock.monotonic());
    this.#queue = new CaptureQueue({
      directories: captureDirectories,
      order: () => ({
        newestFirst: this.#settings?.newestFirst ?? false,
        priorityOf: priorityOf(this.#settings?.priorities ?? {}),
      }),
      ...{ isDue, signal },
      onOmitted: (path, why) => this.omitted.note(path, why),
    });
    const limit = (pause: Pause, most: number): number => (pause.isProbing ? 1 : most);
    this.#captures = new SendQueue({
      list: () => this.#queue.due(),
      send: (file) => this.#attempt(file.path, () => this.#sendCapture(file)),
      limit: () => limit(this.#pauses.captures, (this.#settings?.threads ?? 1) * uploadsPerThread),
      isClosed: () => this.#isClosed(this.#pauses.captures),
    });
    const files = new DueFiles({
      ...{ home: deps.home, captureDirectories, isDue, sent, clock, signal, omitted: this.omitted },
      say: (message, fields) => this.#say('warn', message, fields),
    });
    this.#files = new SendQueue({
      list: () => files.list(this.#settings),
      send: (file) => this.#attempt(file.path, () => this.#sendFile(file)),
      limit: () => limit(this.#pauses.files, this.#settings?.threads ?? 1),
      isClosed: () => this.#isClosed(this.#pauses.files),
    });
  }

  /** @param rule returns why nothing may be sent now; undefined if sending is allowed. Manual sync ignores it. */
  configure(settings: SyncSettings, rule: SyncRule): void {
    this.#rule = rule;
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = settings;
    this.#rate.configure(settings.maxBytesPerSecond);
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#deps.clock.every(settings.intervalMs, () => this.#tick());
  }

  /** Ends regular sync. */
  unconfigure(): void {
    this.#timer?.[Symbol.dispose]();
    this.#retry?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#settings = undefined;
  }

  /** Whether files are sent automatically: false without a data manager, without a cloud, or with `sync_disabled`. */
  get sends(): boolean {
    return this.#settings?.disabled === false && this.#deps.link !== undefined;
  }

  /** The cloud can be reached again: what waited for it is tried now. */
  retry(): void {
    const now = this.#deps.clock.monotonic();
    for (const pause of [this.#pauses.captures, this.#pauses.files]) pause.retry(now);
    this.attempts.retry(now);
    if (this.sends) void this.#start(false);
  }

  /** Why nothing is sent now although sync is on; undefined if files are sent. */
  get heldReason(): string | undefined {
    return this.sends ? this.#heldReason : undefined;
  }

  /** Monotonic ms until which the cloud gets nothing, because it does not answer or requested a wait. */
  get pausedUntil(): number | undefined {
    return this.#pauses.captures.until;
  }

  /** How many files are being sent now. */
  get underWay(): number {
    return this.#underWay.size;
  }

  captureDirectories(): readonly string[] {
    return this.#deps.captureDirectories();
  }

  /** Whether `path` is being sent now. */
  sending(path: string): boolean {
    return this.#underWay.has(path);
  }

  /** Records that a capture file was sealed. */
  sealed(path: string): void {
    this.#queue.sealed(path);
  }

  /**
   * Sends bytes that are not in a file. Resolves once the cloud has them.
   *
   * @throws failed_precondition without a cloud; the cloud's error
   */
  async sendBytes(bytes: Uint8Array, about: AboutBytes, signal: AbortSignal): Promise<void> {
    const { link, partId, clock } = this.#deps;
    if (link === undefined) throw failedPrecondition('this machine has no cloud to which it could send data');
    const tags = [...(this.#settings?.tags ?? []), ...about.tags];
    await uploadBytes(bytes, { ...about, tags }, { link, partId, rate: this.#rate, nowMs: clock.now() }, signal);
  }

  /** Seals and sends everything that is due, regardless of the rules. Does nothing without a cloud. */
  async flush(): Promise<void> {
    this.#flushing++;
    try {
      // A rule or a pause may have ended a pass in progress, or it may already be past the newest files.
      await Promise.all([this.#captures.settled(), this.#files.settled()]);
      for (const pause of [this.#pauses.captures, this.#pauses.files]) pause.succeeded();
      await this.#pass();
      await Promise.all([this.#captures.settled(), this.#files.settled()]);
    } finally {
      this.#flushing--;
    }
  }

  /**
   * Seals and sends what is due before a stop, unless the rules forbid it now (D46). What stays is sent by a later run, when they allow it.
   */
  async sendLast(): Promise<void> {
    if (!this.sends || (await this.#askRule()) !== undefined) return;
    // Two passes, because a running one may have begun before the last files were sealed.
    await this.flush();
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unconfigure();
    this.#stop.abort();
    await this.#ticking;
    await Promise.all([this.#captures.settled(), this.#files.settled()]);
  }

  /** While nothing is sent, files are sealed only at their maximum size: sealing them at every interval would leave many small ones. */
  #tick(): void {
    if (this.sends) this.#ticking ??= this.#start(true).finally(() => (this.#ticking = undefined));
  }

  /** Starts passes that are not running; a running one takes the newly sealed files first. */
  async #start(isRegular: boolean): Promise<void> {
    this.#heldReason = await this.#askRule();
    if (this.#heldReason !== undefined) {
      this.#say('warn', `sync: nothing is sent: ${this.#heldReason}`);
      return;
    }
    if (isRegular) await this.#deps.seal().catch((caught) => this.#failed(caught));
    void this.#pass(false).then(() => this.#scheduleRetry());
  }

  #askRule(): ReturnType<SyncRule> {
    return this.#rule().catch((caught) => `the rules cannot be checked: ${errorText(caught)}`);
  }

  async #pass(seals = true): Promise<void> {
    try {
      if (seals) await this.#deps.seal();
      if (this.#deps.link === undefined) return;
      const took = stopwatch(this.#deps.clock);
      await Promise.all([this.#captures.pass(), this.#files.pass()]);
      this.#deps.log.debug('sync: everything due was started', took());
    } catch (caught) {
      this.#failed(caught);
    }
  }

  #failed(caught: unknown): void {
    this.#deps.log.error('a sync pass failed', { error: errorText(caught) });
  }

  /** Retries failed files at their own times, not only at the next interval. */
  #scheduleRetry(): void {
    this.#retry?.[Symbol.dispose]();
    if (!this.sends || this.#stop.signal.aborted) return;
    const { clock } = this.#deps;
    const times = [this.attempts.earliest(), this.#pauses.captures.until, this.#pauses.files.until];
    const at = Math.min(...times.filter((time) => time !== undefined));
    if (at === Number.POSITIVE_INFINITY) return;
    this.#retry = clock.after(Math.max(leastRetryMs, at - clock.monotonic()), () => {
      if (this.sends) void this.#start(false);
    });
  }

  #isClosed(pause: Pause): boolean {
    if (this.#stop.signal.aborted) return true;
    const isHeld = this.#flushing === 0 && (this.#heldReason !== undefined || !this.sends);
    return isHeld || pause.isPaused(this.#deps.clock.monotonic());
  }

  /** One attempt to send a file. Never rejects: an error on this side is a failure of this file only. */
  async #attempt(path: string, send: () => Promise<SendOutcome>): Promise<void> {
    this.#underWay.add(path);
    const took = stopwatch(this.#deps.clock);
    try {
      const outcome = await observed(this.#deps.observe, 'upload', { 'file.path': path }, send);
      this.#deps.log.debug('sync: an attempt to send a file ended', { file: path, outcome, ...took() });
    } catch (caught) {
      this.#after.failed(path, caught, 'sync: sending a file failed on this side; trying again');
    } finally {
      this.#underWay.delete(path);
    }
  }

  async #sendCapture(file: CaptureFile): Promise<SendOutcome> {
    const { link } = this.#deps;
    if (link === undefined) return 'no cloud';
    if (await this.#after.deleteAcknowledged(file)) return 'accepted before';
    const { path, directory } = file;
    using _memory = await this.#memory.take((await stat(path).catch(() => undefined))?.size ?? 0);
    const context = { ...this.#deps, link, rate: this.#rate };
    const outcome = await uploadCapture(path, directory, context, this.#stop.signal);
    await this.#after.capture(file, outcome, this.#pauses.captures);
    return outcome.kind;
  }

  async #sendFile(file: FoundFile): Promise<SendOutcome> {
    const { partId, link } = this.#deps;
    const { tags = [] } = this.#settings ?? {};
    if (link === undefined) return 'no cloud';
    const outcome = await uploadFile(file.path, file.root, { link, partId, tags, rate: this.#rate }, this.#stop.signal);
    await this.#after.file(file, outcome, this.#pauses.files);
    return outcome.kind;
  }

  #say(level: 'warn' | 'error', message: string, fields: LogFields = {}): void {
    if (!this.#stop.signal.aborted) this.#log.write(level, message, fields);
  }
}
