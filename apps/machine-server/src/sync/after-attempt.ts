/**
 * Handles a file after an attempt to send it: it is deleted (arbitrary files: or kept, or moved), waits with its own retry time, or is set
 * aside with its reason.
 */
import { unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, errorText, type Log, type LogFields } from '@platform/base';
import type { CaptureFileContents } from '@platform/capture-file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { inFolder, unless } from '../directories/folder.ts';
import { failedFolder } from '../directories/paths.ts';
import { readCaptured } from '../directories/read-captured.ts';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import { setAside } from '../directories/set-aside.ts';
import { LimitedLog } from '../logging/limited-log.ts';
import type { Attempts } from './attempts.ts';
import type { CaptureFile } from './capture-queue.ts';
import { type AfterSync, afterSync } from './files/after-sync.ts';
import type { Fingerprint } from './files/fingerprint.ts';
import type { SentFiles } from './files/sent-files.ts';
import { isOfCloud, type Outcome } from './outcome.ts';
import type { Pause } from './pause.ts';
import { splitOversize } from './split-oversize.ts';
import type { SyncTally } from './sync-tally.ts';
import type { CaptureOutcome, UploadContext } from './upload-capture.ts';

export interface FoundFile {
  readonly path: string;
  /** The folder of `additional_sync_paths` that contains it. */
  readonly root: string;
  /** What happens to it once it was sent. */
  readonly after: AfterSync;
}

export interface AfterAttemptDeps {
  readonly attempts: Attempts;
  readonly tally: SyncTally;
  readonly ledger: SeqLedger;
  readonly sent: SentFiles;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when sync stops: failures after that are not reported. */
  readonly signal: AbortSignal;
  readonly refused: UploadContext['refused'];
  /** Called when the cloud has the intact part of this file. */
  readonly damaged: ((contents: CaptureFileContents) => void) | undefined;
  /** Called when this file was set aside because its header could not be read. */
  readonly unreadable: ((path: string, directory: string) => void) | undefined;
}

interface Placed {
  readonly path: string;
  /** In which it is set aside. */
  readonly directory: string;
  /** The configured folder that contains it. */
  readonly root: string;
}

/** Without a fingerprint, it is not the listed file, and stays. */
type FileOutcome = Outcome & { readonly fingerprint?: Fingerprint };
type Acknowledged = Pick<CaptureOutcome, 'identity' | 'damaged'>;

export class AfterAttempt {
  readonly #deps: AfterAttemptDeps;
  readonly #log: LimitedLog;
  /** Acknowledged files that the disk refused to delete or move: they must not be sent again. */
  readonly #acknowledged = new Map<string, Acknowledged>();

  constructor(deps: AfterAttemptDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.clock.monotonic());
  }

  /** Deletes a file that the cloud has already acknowledged; false if it has not. */
  async deleteAcknowledged(file: CaptureFile): Promise<boolean> {
    const acknowledged = this.#acknowledged.get(file.path);
    if (acknowledged === undefined) return false;
    await this.#removeAcknowledged(file, acknowledged);
    return true;
  }

  async capture(file: CaptureFile, outcome: CaptureOutcome, pause: Pause): Promise<void> {
    const { attempts, tally, ledger, damaged: sayDamaged } = this.#deps;
    const { identity, damaged } = outcome;
    tally.attempted(outcome.resource, outcome);
    if (outcome.kind === 'accepted') {
      pause.succeeded();
      if (damaged !== undefined) sayDamaged?.(damaged);
      this.#acknowledged.set(file.path, { identity, damaged });
      await this.#removeAcknowledged(file, { identity, damaged });
    } else if (outcome.kind === 'gone') {
      attempts.done(file.path);
      if (identity !== undefined) ledger.settle(identity.stream, identity.seq);
    } else await this.#notSent({ ...file, root: file.directory }, outcome, pause);
  }

  async file({ path, root, after }: FoundFile, outcome: FileOutcome, pause: Pause): Promise<void> {
    const { attempts, tally, sent } = this.#deps;
    tally.attempted(undefined, outcome);
    if (outcome.kind === 'aside' || outcome.kind === 'later')
      return this.#notSent({ path, directory: dirname(path), root }, outcome, pause);
    try {
      if (outcome.kind === 'accepted') {
        pause.succeeded();
        if (outcome.fingerprint !== undefined) await afterSync(path, root, outcome.fingerprint, after, sent);
      }
      attempts.done(path);
    } catch (caught) {
      const { code } = caught as NodeJS.ErrnoException;
      // A link has replaced its folder, or it is gone.
      if (code === 'ENOENT' || code === 'ELOOP') return attempts.done(path);
      const done = { delete: 'deleted', keep: 'remembered', move: 'moved' }[after.action];
      this.failed(path, caught, `a synced file could not be ${done}; the cloud has it`);
    }
  }

  /** An error on this side: the file waits. */
  failed(path: string, caught: unknown, what: string, fields: LogFields = {}): void {
    const error = errorText(caught);
    const waitMs = this.#later(path, { code: 'internal', message: error });
    this.#say('error', what, { file: path, ...fields, error, waitMs });
  }

  async #notSent(file: Placed, outcome: Extract<Outcome, { kind: 'aside' | 'later' }>, pause: Pause): Promise<void> {
    const { path } = file;
    if (outcome.kind === 'aside') return this.#putAside(file, outcome.reason);
    if (this.#deps.signal.aborted) return;
    const { code, message: error } = outcome;
    if (isOfCloud(outcome)) pause.failed(this.#deps.clock.monotonic(), outcome.retryAfterMs);
    // Even then it gets its own wait: if only this file makes the cloud fail, another one must be tried next.
    const waitMs = this.#later(path, outcome, outcome.retryAfterMs);
    const refused = 'sync: a file was not accepted; trying again';
    const away = 'sync: the cloud is unavailable; files stay on the disk and are sent later';
    const cut = 'sync: the connection ended while a file was sent; trying again';
    const what = outcome.isCutOff ? cut : code === 'unavailable' ? away : refused;
    this.#say('warn', what, { file: path, code, error, waitMs });
  }

  async #putAside({ path, directory, root }: Placed, reason: string): Promise<void> {
    const { attempts, tally, log, clock } = this.#deps;
    try {
      const file = await setAside(path, directory, reason, clock.now(), { root });
      attempts.done(path);
      tally.setAsideFiles++;
      log.error(`the cloud does not accept a file; set aside in ${failedFolder}/`, { file, reason });
      if (!(await this.#countRefused(file, root))) this.#deps.unreadable?.(path, directory);
    } catch (caught) {
      const what = 'the cloud does not accept a file, and it could not be set aside; trying again';
      this.failed(path, caught, what, { reason });
    }
  }

  /** Counts the readings of a capture file that was set aside as missing in the cloud; false if it cannot be read. */
  async #countRefused(path: string, root: string): Promise<boolean> {
    if (!path.endsWith('.capture')) return true;
    const contents = await readCaptured(path, root).catch(() => undefined);
    if (contents === undefined) return false;
    if (contents.missing > 0) this.#deps.damaged?.(contents);
    // Oversize readings were counted when they were split off.
    this.#deps.refused?.(GapReason.REFUSED, contents.header, splitOversize(contents.readings).rest);
    return true;
  }

  /**
   * Deletes after acknowledgement; only then may the low-water mark pass the file (I6). A damaged file is kept for inspection, and not sent
   * again.
   */
  async #removeAcknowledged({ path, directory }: CaptureFile, { identity, damaged }: Acknowledged): Promise<void> {
    try {
      // ELOOP: a link that has replaced its folder leads to another file.
      const isGone = unless('ENOENT', 'ELOOP');
      if (damaged === undefined) await inFolder(path, directory, (at) => unlink(at)).catch(isGone);
      else await this.#keepDamaged(path, directory, damaged);
    } catch (caught) {
      this.failed(path, caught, 'a synced file could not be deleted; it is not sent again');
      return;
    }
    this.#acknowledged.delete(path);
    this.#deps.attempts.done(path);
    if (identity !== undefined) this.#deps.ledger.settle(identity.stream, identity.seq);
  }

  async #keepDamaged(path: string, directory: string, contents: CaptureFileContents): Promise<void> {
    const { tally, log, clock } = this.#deps;
    const { readings, missing, cutBytes, cutReason } = contents;
    const reason = `data_loss: ${cutReason ?? 'the file is shorter than when it was sealed'}: ${missing} readings are missing, ${cutBytes} bytes cannot be read; the cloud has the other ${readings.length} readings`;
    const file = await setAside(path, directory, reason, clock.now(), { suffix: '.damaged' });
    tally.setAsideFiles++;
    log.error('a capture file was damaged; the intact part was sent, and the file is set aside', { file, reason });
  }

  /** Gives the file its own retry time; returns the wait in ms. */
  #later(path: string, error: Parameters<Attempts['failed']>[2], askedMs?: number): number {
    return Math.round(this.#deps.attempts.failed(path, this.#deps.clock.monotonic(), error, askedMs));
  }

  #say(level: 'warn' | 'error', message: string, fields: LogFields): void {
    if (!this.#deps.signal.aborted) this.#log.write(level, message, fields);
  }
}
