/**
 * Records the calls that reach this machine without the cloud and are more than reads, for the audit trail of the cloud
 * (docs/specs/remote-control.md, "What went directly"). Calls of one caller to one method of one resource within 10 s are one record.
 *
 * States of a record: open (its first call is on the disk before it runs; further ones are counted, on the disk, too) → closed (10 s
 * later, or at a stop) → told (the cloud has it; it leaves the disk). What the disk has no space for is dropped, and the next record says
 * how many that were.
 */
import type { Clock, Log } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { LimitedLog } from '../logging/limited-log.ts';
import { Journal, type JournalOptions } from './journal.ts';
import type { JournalDisk } from './journal-disk.ts';
import type { Entry } from './journal-entry.ts';
import { type DirectCall, firstOf, recordedArguments, recordedName } from './recorded-calls.ts';
import { ReportCalls } from './report-calls.ts';

export interface CallRecordDeps {
  readonly disk: JournalDisk;
  readonly link: Pick<Link, 'client'>;
  readonly partId: string;
  /** Masks secrets in the arguments of calls. */
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: those of the journal. */
  readonly limits?: Pick<JournalOptions, 'maxBytes' | 'segmentBytes' | 'maxWaitingBytes'>;
}

interface Window extends Disposable {
  /** Undefined if it was dropped at once. */
  readonly entry: Entry | undefined;
  /** Of the last call; undefined if there was only one. */
  lastArguments: string | undefined;
}

const windowMs = 10_000;
/** Beyond this number at a time, the oldest are closed early. */
const maxWindows = 10_000;

export class CallRecord implements AsyncDisposable {
  readonly #deps: CallRecordDeps;
  readonly #journal: Journal;
  readonly #reporter: ReportCalls;
  readonly #log: LimitedLog;
  /** By caller, path, operation and resource; oldest first. */
  readonly #windows = new Map<string, Window>();
  /** Closed, and not told yet; oldest first. */
  readonly #closed = new Set<Entry>();
  /** Records that no other record has counted yet. */
  #dropped = 0;

  constructor(deps: CallRecordDeps) {
    const { disk, link, partId, clock, log, limits } = deps;
    this.#deps = deps;
    this.#log = new LimitedLog(log, () => clock.monotonic());
    this.#journal = new Journal({
      ...{ disk, clock, log, ...limits },
      onState(problem) {
        if (problem === undefined) log.info('direct calls are recorded on the disk again');
        else
          log.error(
            `direct calls cannot be recorded on the disk, a restart loses the records that the cloud does not have: ${problem}`,
          );
      },
      onDropped: (entries) => {
        for (const entry of entries) this.#closed.delete(entry);
        this.#warnDropped(entries.length);
      },
    });
    this.#reporter = new ReportCalls({
      ...{ link, partId, clock, log },
      next: (most) => {
        const entries = [...this.#closed.values().take(most)];
        for (const entry of entries) entry.isSending = true;
        return entries.map(({ record }) => record);
      },
      done: (records, isRefused) => this.#done(new Set(records), isRefused),
      released: () => {
        for (const entry of this.#closed) entry.isSending = false;
      },
    });
  }

  /** Reads what earlier runs left, and begins to send. */
  async start(): Promise<void> {
    for (const entry of await this.#journal.start()) this.#closed.add(entry);
    this.#reporter.start();
  }

  /** The cloud can be reached again. */
  retry(): void {
    this.#reporter.retry();
  }

  /**
   * Returns once the call is on the disk, so that it may run; at once if the disk fails, and after 100 ms if it does not answer. Never
   * throws.
   */
  async add(call: DirectCall): Promise<void> {
    const { caller, path } = call.caller;
    const key = JSON.stringify([caller, path, call.operation, recordedName(call.resource)]);
    const window = this.#windows.get(key);
    if (window === undefined || window.entry?.isDropped === true) this.#open(key, call);
    else if (window.entry === undefined) return;
    else {
      const { record } = window.entry;
      record.count++;
      record.lastMs = Math.max(record.lastMs, this.#deps.clock.now());
      window.lastArguments = call.arguments;
      this.#journal.changed(window.entry);
    }
    await this.#journal.saved();
  }

  /** Closes all records, and sends what it can within 2 s; the rest stays on the disk. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of [...this.#windows.keys()]) this.#close(key);
    await this.#reporter[Symbol.asyncDispose]();
    await this.#journal[Symbol.asyncDispose]();
  }

  #open(key: string, call: DirectCall): void {
    const { clock, redact } = this.#deps;
    this.#close(key);
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= maxWindows) this.#close(oldest);
    const record = firstOf(call, clock.now(), redact);
    record.dropped = this.#dropped;
    const entry = this.#journal.add(record);
    this.#dropped = entry === undefined ? this.#dropped + 1 : 0;
    if (entry === undefined) this.#warnDropped(1);
    const timer = clock.after(windowMs, () => this.#close(key));
    this.#windows.set(key, { entry, lastArguments: undefined, [Symbol.dispose]: () => timer[Symbol.dispose]() });
  }

  #close(key: string): void {
    const window = this.#windows.get(key);
    if (window === undefined) return;
    window[Symbol.dispose]();
    this.#windows.delete(key);
    const { entry, lastArguments } = window;
    if (entry === undefined || entry.isDropped) return;
    const before = entry.record.arguments;
    if (lastArguments !== undefined) entry.record.arguments = recordedArguments(lastArguments, this.#deps.redact);
    this.#closed.add(entry);
    this.#journal.closed(entry, entry.record.arguments !== before);
    this.#reporter.wake();
  }

  async #done(records: ReadonlySet<Entry['record']>, isRefused: boolean): Promise<void> {
    const entries = [...this.#closed].filter(({ record }) => records.has(record));
    for (const entry of entries) {
      this.#closed.delete(entry);
      entry.isSending = false;
      if (isRefused) this.#dropped += 1 + entry.record.dropped;
    }
    await this.#journal.told(entries);
  }

  #warnDropped(records: number): void {
    if (records > 0)
      this.#log.write('warn', 'records of direct calls were dropped, because there is no space for them', { records });
  }
}
