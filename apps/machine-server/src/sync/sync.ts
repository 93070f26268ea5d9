/**
 * Sends files to the cloud.
 *
 * States of a file: waiting → under way → acknowledged, then deleted (arbitrary files: deleted, kept or moved) | waiting with its own retry
 * time | set aside with its reason. Capture files and arbitrary files have a lane each, so that a file of gigabytes delays no reading; a
 * failing file delays no other (D15).
 */
import { readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText, type LogFields, PlatformError } from '@platform/base';
import { type CaptureFileContents, readCaptureFile } from '@platform/capture-file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { failedFolder } from '../directories/paths.ts';
import { setAside } from '../directories/set-aside.ts';
import { LimitedLog } from '../logging/limited-log.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { Attempts } from './attempts.ts';
import { ByteBudget } from './byte-budget.ts';
import { type CaptureFile, CaptureQueue, priorityOf } from './capture-queue.ts';
import { type AfterSync, afterSync } from './files/after-sync.ts';
import { DueFiles } from './files/due-files.ts';
import type { Fingerprint } from './files/fingerprint.ts';
import { SentFiles } from './files/sent-files.ts';
import { type AboutBytes, uploadBytes } from './files/upload-bytes.ts';
import { uploadFile } from './files/upload-file.ts';
import { Lane } from './lane.ts';
import { isOfCloud, type Outcome } from './outcome.ts';
import { Pause } from './pause.ts';
import { RateLimit } from './rate-limit.ts';
import type { SyncRule } from './rules/sync-rule.ts';
import type { SyncSettings } from './rules/sync-settings.ts';
import { splitOversize } from './split-oversize.ts';
import { SyncTally } from './sync-tally.ts';
import { type CaptureOutcome, type UploadContext, uploadCapture } from './upload-capture.ts';

export interface SyncDeps extends Omit<UploadContext, 'link' | 'rate'> {
  /** Undefined if there is no cloud; files then stay. */
  readonly link: UploadContext['link'] | undefined;
  readonly partId: string;
  readonly home: string;
  readonly captureDirectories: () => readonly string[];
  /** Seals open files, so that a pass sends them. */
  readonly seal: () => Promise<void>;
  /** Looks at uploads. */
  readonly observe?: Observe | undefined;
  /** The cloud has what was intact of this file. */
  readonly damaged?: (contents: CaptureFileContents) => void;
}

interface FoundFile {
  readonly path: string;
  /** The folder of `additional_sync_paths` that contains it. */
  readonly root: string;
}

/**
 * An upload mostly waits for the network and the cloud's disk, so that one thread's share of the work is several of them. More would only
 * make the memory for them grow, and that of large files is limited.
 */
const uploadsPerThread = 16;
const mostBytesInMemory = 16 * 1024 * 1024;
const leastRetryMs = 50;

type Acknowledged = Pick<CaptureOutcome, 'identity' | 'damaged'>;

export class Sync implements AsyncDisposable {
  readonly tally: SyncTally = new SyncTally();
  readonly attempts: Attempts = new Attempts();
  readonly #deps: SyncDeps;
  readonly #underWay = new Set<string>();
  /** Acknowledged files that the disk refused to delete or move: they must not be sent again. */
  readonly #acknowledged = new Map<string, Acknowledged>();
  readonly #stop = new AbortController();
  readonly #pauses = { captures: new Pause(), files: new Pause() };
  readonly #queue: CaptureQueue;
  readonly #captures: Lane<CaptureFile>;
  readonly #files: Lane<FoundFile>;
  readonly #sent: SentFiles;
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
    this.#sent = new SentFiles(deps.home);
    const isDue = (path: string): boolean => !this.#underWay.has(path) && this.attempts.due(path, clock.monotonic());
    this.#queue = new CaptureQueue({
      directories: captureDirectories,
      order: () => ({
        newestFirst: this.#settings?.newestFirst ?? false,
        priorityOf: priorityOf(this.#settings?.priorities ?? {}),
      }),
      ...{ isDue, signal },
    });
    const limit = (pause: Pause, most: number): number => (pause.isProbing ? 1 : most);
    this.#captures = new Lane({
      list: () => this.#queue.due(),
      send: (file) => this.#attempt(file.path, () => this.#sendCapture(file)),
      limit: () => limit(this.#pauses.captures, (this.#settings?.threads ?? 1) * uploadsPerThread),
      isClosed: () => this.#isClosed(this.#pauses.captures),
    });
    const files = new DueFiles({
      ...{ home: deps.home, captureDirectories, isDue, sent: this.#sent, clock, signal },
      say: (message, fields) => this.#say('warn', message, fields),
    });
    this.#files = new Lane({
      list: () => files.list(this.#settings),
      send: (file) => this.#attempt(file.path, () => this.#sendFile(file)),
      limit: () => limit(this.#pauses.files, this.#settings?.threads ?? 1),
      isClosed: () => this.#isClosed(this.#pauses.files),
    });
  }

  /** @param rule says why nothing may be sent now; undefined: it may. Manual sync does not ask it. */
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

  /** Whether files are sent without being asked for: false without a data manager, without a cloud, or with `sync_disabled`. */
  get sends(): boolean {
    return this.#settings?.disabled === false && this.#deps.link !== undefined;
  }

  /** Why nothing is sent at the moment, although sync is on; undefined: it is sent. */
  get heldReason(): string | undefined {
    return this.sends ? this.#heldReason : undefined;
  }

  /** Monotonic ms until which the cloud gets nothing, because it does not answer or asked for time. */
  get pausedUntil(): number | undefined {
    return this.#pauses.captures.until;
  }

  /** How many files are being sent right now. */
  get underWay(): number {
    return this.#underWay.size;
  }

  captureDirectories(): readonly string[] {
    return this.#deps.captureDirectories();
  }

  /** Whether `path` is being sent right now. */
  sending(path: string): boolean {
    return this.#underWay.has(path);
  }

  /** A capture file was sealed. */
  sealed(path: string): void {
    this.#queue.sealed(path);
  }

  /**
   * Sends bytes that are in no file. Resolves once the cloud has them.
   *
   * @throws failed_precondition without a cloud; what the cloud answers
   */
  async sendBytes(bytes: Uint8Array, about: AboutBytes, signal: AbortSignal): Promise<void> {
    const { link, partId, clock } = this.#deps;
    if (link === undefined)
      throw new PlatformError('failed_precondition', 'this machine has no cloud to which it could send data');
    const tags = [...(this.#settings?.tags ?? []), ...about.tags];
    await uploadBytes(bytes, { ...about, tags }, { link, partId, rate: this.#rate, nowMs: clock.now() }, signal);
  }

  /** Seals and sends everything that is due, whatever the rules. Does nothing without a cloud. */
  async flush(): Promise<void> {
    this.#flushing++;
    try {
      // A pass that has begun may have been closed by a rule or a pause, or be beyond the newest files.
      await Promise.all([this.#captures.settled(), this.#files.settled()]);
      for (const pause of [this.#pauses.captures, this.#pauses.files]) pause.succeeded();
      await this.#pass();
      await Promise.all([this.#captures.settled(), this.#files.settled()]);
    } finally {
      this.#flushing--;
    }
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
    this.#heldReason = await this.#rule().catch((caught) => `the rules cannot be checked: ${errorText(caught)}`);
    if (this.#heldReason !== undefined) {
      this.#say('warn', `sync: nothing is sent: ${this.#heldReason}`);
      return;
    }
    if (isRegular) await this.#deps.seal().catch((caught) => this.#failed(caught));
    void this.#pass(false).then(() => this.#scheduleRetry());
  }

  async #pass(seals = true): Promise<void> {
    try {
      if (seals) await this.#deps.seal();
      if (this.#deps.link === undefined) return;
      await Promise.all([this.#captures.pass(), this.#files.pass()]);
    } catch (caught) {
      this.#failed(caught);
    }
  }

  #failed(caught: unknown): void {
    this.#deps.log.error('a sync pass failed', { error: errorText(caught) });
  }

  /** Failed files are tried at their own times, not only at the next interval. */
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
  async #attempt(path: string, send: () => Promise<void>): Promise<void> {
    this.#underWay.add(path);
    try {
      await observed(this.#deps.observe, 'upload', { 'file.path': path }, send);
    } catch (caught) {
      const error = errorText(caught);
      const waitMs = this.#later(path, { code: 'internal', message: error });
      this.#say('error', 'sync: sending a file failed on this side; trying again', { file: path, error, waitMs });
    } finally {
      this.#underWay.delete(path);
    }
  }

  async #sendCapture({ path, directory }: CaptureFile): Promise<void> {
    const { link } = this.#deps;
    if (link === undefined) return;
    const acknowledged = this.#acknowledged.get(path);
    if (acknowledged !== undefined) return this.#removeAcknowledged(path, directory, acknowledged);
    using _memory = await this.#memory.take((await stat(path).catch(() => undefined))?.size ?? 0);
    const context = { ...this.#deps, link, rate: this.#rate };
    const outcome = await uploadCapture(path, directory, context, this.#stop.signal);
    const { identity } = outcome;
    this.tally.attempted(outcome.resource, outcome);
    if (outcome.kind === 'accepted') {
      this.#pauses.captures.succeeded();
      const { damaged } = outcome;
      if (damaged !== undefined) this.#deps.damaged?.(damaged);
      this.#acknowledged.set(path, { identity, damaged });
      await this.#removeAcknowledged(path, directory, { identity, damaged });
    } else if (outcome.kind === 'gone') {
      this.attempts.done(path);
      if (identity !== undefined) this.#deps.ledger.settle(identity.stream, identity.seq);
    } else await this.#failedToSend(path, directory, outcome, this.#pauses.captures);
  }

  async #sendFile({ path, root }: FoundFile): Promise<void> {
    const { partId, link } = this.#deps;
    const { tags = [], after = { action: 'delete' } } = this.#settings ?? {};
    if (link === undefined) return;
    const outcome = await uploadFile(path, { link, partId, tags, rate: this.#rate }, this.#stop.signal);
    this.tally.attempted(undefined, outcome);
    if (outcome.kind === 'accepted') {
      this.#pauses.files.succeeded();
      await this.#finish(path, root, outcome.fingerprint, after);
    } else if (outcome.kind === 'gone') this.attempts.done(path);
    else await this.#failedToSend(path, dirname(path), outcome, this.#pauses.files);
  }

  async #finish(path: string, root: string, fingerprint: Fingerprint | undefined, after: AfterSync): Promise<void> {
    try {
      if (fingerprint !== undefined) await afterSync(path, root, fingerprint, after, this.#sent);
      this.attempts.done(path);
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return this.attempts.done(path);
      const error = errorText(caught);
      const waitMs = this.#later(path, { code: 'internal', message: error });
      const what = `a synced file could not be ${after.action === 'delete' ? 'deleted' : after.action === 'keep' ? 'remembered' : 'moved'}; the cloud has it`;
      this.#say('error', what, { file: path, error, waitMs });
    }
  }

  async #failedToSend(
    path: string,
    directory: string,
    outcome: Extract<Outcome, { kind: 'aside' | 'later' }>,
    pause: Pause,
  ): Promise<void> {
    if (outcome.kind === 'aside') return this.#putAside(path, directory, outcome.reason);
    if (this.#stop.signal.aborted) return;
    const { code, message: error } = outcome;
    if (isOfCloud(outcome)) pause.failed(this.#deps.clock.monotonic(), outcome.retryAfterMs);
    // It waits on its own even then: if only this file makes the cloud fail, another one must be the next to try.
    const waitMs = this.#later(path, outcome, outcome.retryAfterMs);
    const what =
      code === 'unavailable'
        ? 'sync: the cloud is unavailable; files stay on the disk and are sent later'
        : 'sync: a file was not accepted; trying again';
    this.#say('warn', what, { file: path, code, error, waitMs });
  }

  async #putAside(path: string, directory: string, reason: string): Promise<void> {
    const { log, clock } = this.#deps;
    try {
      const file = await setAside(path, directory, reason, clock.now());
      this.attempts.done(path);
      this.tally.setAsideFiles++;
      log.error(`the cloud does not accept a file; set aside in ${failedFolder}/`, { file, reason });
      await this.#countRefused(file);
    } catch (caught) {
      const error = errorText(caught);
      const waitMs = this.#later(path, { code: 'internal', message: error });
      const what = 'the cloud does not accept a file, and it could not be set aside; trying again';
      this.#say('error', what, { file: path, reason, error, waitMs });
    }
  }

  /** What is in a capture file that was set aside is missing in the cloud. */
  async #countRefused(path: string): Promise<void> {
    if (!path.endsWith('.capture')) return;
    const contents = await readFile(path)
      .then(readCaptureFile)
      .catch(() => undefined);
    // Those that are too large were counted when they were split off.
    if (contents !== undefined)
      this.#deps.refused?.(GapReason.REFUSED, contents.header, splitOversize(contents.readings).rest);
  }

  /** Gives the file its own retry time; returns the wait in ms. */
  #later(path: string, error: Parameters<Attempts['failed']>[2], askedMs?: number): number {
    return Math.round(this.attempts.failed(path, this.#deps.clock.monotonic(), error, askedMs));
  }

  #say(level: 'warn' | 'error', message: string, fields: LogFields = {}): void {
    if (!this.#stop.signal.aborted) this.#log.write(level, message, fields);
  }

  /**
   * Deletes after acknowledgement; only then may the low-water mark pass the file (I6). A damaged file is kept, for a person to look at;
   * it is not sent again.
   */
  async #removeAcknowledged(path: string, directory: string, { identity, damaged }: Acknowledged): Promise<void> {
    try {
      if (damaged === undefined) await unlink(path).catch(unlessGone);
      else await this.#keepDamaged(path, directory, damaged);
    } catch (caught) {
      const error = errorText(caught);
      const waitMs = this.#later(path, { code: 'internal', message: error });
      this.#say('error', 'a synced file could not be deleted; it is not sent again', { file: path, error, waitMs });
      return;
    }
    this.#acknowledged.delete(path);
    this.attempts.done(path);
    if (identity !== undefined) this.#deps.ledger.settle(identity.stream, identity.seq);
  }

  async #keepDamaged(path: string, directory: string, contents: CaptureFileContents): Promise<void> {
    const { readings, missing, cutBytes, cutReason } = contents;
    const reason = `data_loss: ${cutReason ?? 'the file is shorter than when it was sealed'}: ${missing} readings are missing, ${cutBytes} bytes cannot be read; the cloud has the other ${readings.length} readings`;
    const file = await setAside(path, directory, reason, this.#deps.clock.now(), '.damaged');
    this.tally.setAsideFiles++;
    this.#deps.log.error('a capture file was damaged; what is intact was sent, and the file is set aside', {
      file,
      reason,
    });
  }
}

function unlessGone(caught: NodeJS.ErrnoException): void {
  if (caught.code !== 'ENOENT') throw caught;
}
