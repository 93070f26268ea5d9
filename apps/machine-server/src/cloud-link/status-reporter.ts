/**
 * Reports to the cloud what this server runs (D9, D10): soon after a change, and once an hour in case the cloud forgot. It also reports the
 * status of capture and sync if that has changed, so that the cloud can show it while this machine is offline: at the start, 5 s later, and
 * then once a minute. While a configuration is waiting, it reports at every check: the answer says whether an owner forces it.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import { asPlatformError, type Clock, errorText, type Follower, follow, type Log, silentLog } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { stopwatch } from '../logging/stopwatch.ts';
import { reportClient } from './report-service.ts';

export interface RunningStatus {
  readonly appliedRevision: string;
  /** The revision of a newer configuration that waits for the maintenance window; empty if there is none. */
  readonly heldRevision: string;
  /** Why it waits; empty if none is waiting. */
  readonly heldReason: string;
  /** Errors while the configuration was applied, or since; empty if there were none. */
  readonly lastError: string;
}

export interface StatusReporterDeps {
  readonly link: Link;
  readonly partId: string;
  readonly version: string;
  readonly status: () => RunningStatus;
  /** The status of capture and sync; undefined if there is nothing to report. */
  readonly dataStatus: () => Promise<JsonObject | undefined>;
  /** The revision that an owner forces; empty if there is none. */
  readonly onForced: (revision: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

const platform = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`;
const lookEveryMs = 5_000;
const repeatAfterMs = 3_600_000;
const dataEveryMs = 60_000;
const callTimeoutMs = 10_000;
const maxErrorLength = 2_000;
/** Errors from clouds without the service, or for credentials that may not report: repeating the call does not help. */
const final: readonly string[] = ['unimplemented', 'permission_denied', 'not_found'];

export class StatusReporter implements AsyncDisposable {
  readonly #deps: StatusReporterDeps;
  #follower: Follower | undefined;
  #reported = '';
  #reportedMs = 0;
  #data = '';
  #nextDataMs = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#follower = follow({
      name: 'report status',
      step: (signal) => this.#report(signal),
      clock: this.#deps.clock,
      log: silentLog,
      idleMs: lookEveryMs,
      backoff: { firstMs: 1_000, maxMs: 60_000 },
    });
  }

  /** Signals that something may have changed. */
  changed(): void {
    this.#follower?.wake();
  }

  /** The cloud can be reached again. */
  retry(): void {
    this.#follower?.retry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
  }

  async #report(signal: AbortSignal): Promise<boolean> {
    const { link, partId, version, status, onForced, clock } = this.#deps;
    const now = status();
    const text = JSON.stringify(now);
    const isReported = text === this.#reported && clock.monotonic() - this.#reportedMs < repeatAfterMs;
    if (this.#isOver) return false;
    const data = await this.#changedData();
    if (isReported && now.heldRevision === '' && data === undefined) return false;
    const took = stopwatch(clock);
    try {
      const lastError = now.lastError.slice(0, maxErrorLength);
      const report = { partId, ...now, lastError, serverVersion: version, platform, ...data };
      const answer = await reportClient(link).reportPartStatus(report, { signal, timeoutMs: callTimeoutMs });
      this.#deps.log.debug('reported the status to the cloud', took());
      onForced(answer.forcedRevision);
    } catch (caught) {
      this.#isOver = final.includes(asPlatformError(caught).code);
      if (!this.#isOver) throw caught;
      this.#deps.log.debug('the cloud does not accept status reports of this server', { error: errorText(caught) });
      return false;
    }
    this.#reported = text;
    this.#reportedMs = clock.monotonic();
    if (data !== undefined) this.#data = JSON.stringify(data.dataStatus);
    return false;
  }

  /** Undefined if the cloud knows it, or it is not time yet. */
  async #changedData(): Promise<{ readonly dataStatus: JsonObject } | undefined> {
    const { dataStatus, clock } = this.#deps;
    if (clock.monotonic() < this.#nextDataMs) return undefined;
    const isFirst = this.#nextDataMs === Number.NEGATIVE_INFINITY;
    const found = await dataStatus();
    this.#nextDataMs = clock.monotonic() + (isFirst ? lookEveryMs : dataEveryMs);
    return found === undefined || JSON.stringify(found) === this.#data ? undefined : { dataStatus: found };
  }
}
