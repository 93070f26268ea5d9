/**
 * Counts the readings that were not captured or not kept, by series and reason, and reports them to the cloud (docs/specs/gaps.md).
 *
 * States of a gap: open (grows while more readings are missing) → closed (none was missing for a minute, or it lasted for an hour) → told
 * (the cloud has its last count, and it is forgotten here). Its beginning is written to disk within a second, later growth within ten. A
 * regular stop closes and reports all.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { asPlatformError, type Clock, errorText, type Follower, follow, type Log, silentLog } from '@platform/base';
import { type GapReason, GapService } from '@platform/proto/platform/gaps/v1/gaps';
import type { Link } from '@platform/rpc/client';
import { LimitedLog } from '../logging/limited-log.ts';
import { type Gap, GapJournal, type GapSeries } from './gap-journal.ts';
import { timestampOf } from './lost-readings.ts';

export interface GapsDeps {
  readonly home: string;
  readonly partId: string;
  /** Undefined without a cloud. */
  readonly link: Link | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface Open {
  readonly id: string;
  readonly sinceMs: number;
  lastMs: number;
}

const quietMs = 60_000;
const longestMs = 3_600_000;
const writeEveryMs = 1_000;
const growthEveryMs = 10_000;
const sendEveryMs = 10_000;
const callTimeoutMs = 10_000;
/** How long a stop waits for the cloud. */
const lastSendMs = 2_000;
const mostAtOnce = 500;
/** Maximum number of gaps that wait for the cloud, 250 bytes each; beyond that, new ones are merged with the newest of their series. */
const mostWaiting = 20_000;
/** Codes for which a retry does not help: a cloud without the service, or a part that is gone. */
const final: readonly string[] = ['unimplemented', 'permission_denied', 'not_found', 'invalid_argument'];

export class Gaps implements AsyncDisposable {
  readonly #deps: GapsDeps;
  readonly #journal: GapJournal;
  readonly #log: LimitedLog;
  /** Not known to the cloud yet, or still open. */
  #gaps = new Map<string, Gap>();
  readonly #open = new Map<string, Open>();
  /** The newest gap of each series and reason. */
  readonly #newest = new Map<string, string>();
  readonly #changed = new Set<string>();
  /** No line of theirs is on the disk yet. */
  readonly #unwritten = new Set<string>();
  #isFailing = false;
  readonly #reported = new Map<string, number>();
  #isNew = false;
  #writtenMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #timer: Disposable | undefined;
  #follower: Follower | undefined;

  constructor(deps: GapsDeps) {
    this.#deps = deps;
    this.#log = new LimitedLog(deps.log, () => deps.clock.now());
    this.#journal = new GapJournal(join(deps.home, 'gaps.jsonl'), deps);
  }

  async start(): Promise<void> {
    const { clock } = this.#deps;
    this.#gaps = new Map([...(await this.#journal.read()), ...this.#gaps]);
    this.#timer = clock.every(writeEveryMs, () => {
      this.#close();
      const isDue = this.#isNew || clock.monotonic() - this.#writtenMs >= growthEveryMs;
      if ((this.#changed.size > 0 && isDue) || this.#isSettled) void this.flush();
    });
    if (this.#deps.link === undefined) return;
    this.#follower = follow({
      name: 'report gaps',
      step: (signal) => this.#send(signal),
      clock,
      log: silentLog,
      idleMs: sendEveryMs,
      backoff: { firstMs: 1_000, maxMs: 60_000 },
    });
  }

  /** The cloud can be reached again. */
  retry(): void {
    this.#follower?.retry();
  }

  /** Counts `readings` that are missing between two times; extends an open gap of the series with this reason. */
  add(series: GapSeries, reason: GapReason, readings: number, startUs: number, endUs: number): void {
    const now = this.#deps.clock.monotonic();
    const key = `${series.api}/${series.name} ${series.method} ${reason}`;
    const open = this.#open.get(key);
    const isMerged = open === undefined && this.#gaps.size >= mostWaiting;
    const id = open?.id ?? (isMerged ? this.#newest.get(key) : undefined);
    const before = id === undefined ? undefined : this.#gaps.get(id);
    if (open !== undefined) open.lastMs = now;
    if (before === undefined) {
      const { api, name, method } = series;
      const gap = { id: randomBytes(16).toString('hex'), api, name, method, reason, startUs, endUs, readings };
      this.#gaps.set(gap.id, gap);
      this.#open.set(key, { id: gap.id, sinceMs: now, lastMs: now });
      this.#newest.set(key, gap.id);
      this.#changed.add(gap.id);
      this.#unwritten.add(gap.id);
      this.#isNew = true;
      return;
    }
    const grown = {
      ...before,
      startUs: Math.min(before.startUs, startUs),
      endUs: Math.max(before.endUs, endUs),
      readings: before.readings + readings,
    };
    this.#gaps.set(before.id, grown);
    this.#changed.add(before.id);
  }

  /** The gaps that are open or that the cloud does not know yet. */
  waiting(): readonly Gap[] {
    return [...this.#gaps.values()];
  }

  /**
   * Start of the oldest gap that could not be written to the disk, µs; undefined if there is none. A crash would forget it, so the gap of
   * the crash must begin there.
   */
  get unwrittenUs(): number | undefined {
    if (!this.#isFailing || this.#unwritten.size === 0) return undefined;
    return Math.min(...[...this.#unwritten].map((id) => this.#gaps.get(id)?.startUs ?? Number.POSITIVE_INFINITY));
  }

  /** Resolves once everything counted so far would survive a power failure. Never rejects: disk errors are logged. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    await this.flush();
    if (this.#follower !== undefined) await this.#sendLast();
  }

  /** The cloud has every gap, but the next start would report them again. */
  get #isSettled(): boolean {
    return this.#gaps.size === 0 && this.#journal.isUsed;
  }

  async #write(): Promise<void> {
    if (this.#changed.size === 0 && !this.#isSettled) return;
    const changed = [...this.#changed].flatMap((id) => this.#gaps.get(id) ?? []);
    this.#changed.clear();
    this.#isNew = false;
    this.#writtenMs = this.#deps.clock.monotonic();
    try {
      await this.#journal.write(changed, [...this.#gaps.values()]);
      for (const { id } of changed) this.#unwritten.delete(id);
      this.#isFailing = false;
    } catch (caught) {
      for (const { id } of changed) this.#changed.add(id);
      this.#isFailing = true;
      // Tried again within a second.
      this.#isNew = true;
      this.#log.write('error', 'gaps cannot be written to the disk', {
        error: errorText(caught),
        gaps: changed.length,
      });
    }
  }

  #close(): void {
    const now = this.#deps.clock.monotonic();
    for (const [key, { id, sinceMs, lastMs }] of this.#open) {
      if (now - lastMs < quietMs && now - sinceMs < longestMs) continue;
      this.#open.delete(key);
      this.#forget(id);
    }
  }

  /** The next start may be weeks away. It reports what the cloud does not get now. */
  async #sendLast(): Promise<void> {
    this.#open.clear();
    for (const id of this.#gaps.keys()) this.#forget(id);
    const late = new AbortController();
    using _limit = this.#deps.clock.after(lastSendMs, () => late.abort());
    const sendAll = async (): Promise<void> => {
      while (await this.#send(late.signal));
    };
    await sendAll().catch(() => {});
    await this.flush();
  }

  /** Makes one call; false once everything is reported. */
  async #send(signal: AbortSignal): Promise<boolean> {
    const { link, partId, log } = this.#deps;
    const due = [...this.#gaps.values()].filter(({ id, readings }) => this.#reported.get(id) !== readings);
    const some = due.slice(0, mostAtOnce);
    if (some.length === 0) return false;
    // Saved first: a later start must not report less under the same id than the cloud already has.
    await this.flush();
    try {
      await link
        ?.client(GapService)
        .reportGaps({ partId, gaps: some.map(messageOf) }, { signal, timeoutMs: callTimeoutMs });
    } catch (caught) {
      if (!final.includes(asPlatformError(caught).code)) throw caught;
      log.warn('the cloud does not accept the gaps of this machine', { error: errorText(caught), gaps: some.length });
      return false;
    }
    for (const { id, readings } of some) {
      this.#reported.set(id, readings);
      this.#forget(id);
    }
    return due.length > some.length;
  }

  /** Forgets a closed gap once the cloud has its last count. */
  #forget(id: string): void {
    if (this.#reported.get(id) !== this.#gaps.get(id)?.readings) return;
    for (const open of this.#open.values()) if (open.id === id) return;
    this.#gaps.delete(id);
    this.#reported.delete(id);
    this.#changed.delete(id);
    this.#unwritten.delete(id);
  }
}

function messageOf({ id, api, name, method, reason, startUs, endUs, readings }: Gap) {
  return {
    ...{ id, componentType: api, componentName: name, methodName: method, reason },
    ...{ start: timestampOf(startUs), end: timestampOf(endUs), readings: BigInt(readings) },
  };
}
