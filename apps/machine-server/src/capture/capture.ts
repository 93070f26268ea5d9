/** Captures readings into files: one collector per captured method, in directories that this process owns. */
import { create } from '@bufbuild/protobuf';
import type { Clock, Log } from '@platform/base';
import type { CaptureStorage } from '@platform/capture-file';
import { DataCaptureMetadataSchema, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import type { Directories } from '../directories/directories.ts';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import type { Gaps } from '../gaps/gaps.ts';
import { LimitedLog } from '../logging/limited-log.ts';
import { CaptureMemory } from './capture-memory.ts';
import { Collector } from './collector.ts';
import { methodParameters } from './method-parameters.ts';
import type { CapturePlan } from './plan-capture.ts';
import type { ReadResource } from './read-resource.ts';
import { RollFile } from './roll-file.ts';
import { createTicker, type Ticker } from './ticker.ts';
import { createWallMicros } from './wall-micros.ts';
import { WriteOuts, type WriteOutsDeps } from './write-outs.ts';

export interface CaptureDeps {
  readonly partId: string;
  readonly storage: (plan: Pick<CapturePlan, 'kind' | 'directory'>) => CaptureStorage;
  readonly ledger: SeqLedger;
  readonly directories: Directories;
  /** Reads a method of a resource. */
  readonly read: ReadResource;
  readonly gaps: Pick<Gaps, 'add' | 'unwrittenUs'>;
  readonly alive: WriteOutsDeps['alive'];
  /** For readings that wait for the disk. Default: 64 MiB. */
  readonly memory?: CaptureMemory;
  readonly clock: Clock;
  readonly log: Log;
}

export const captureCounters = ['taken', 'late', 'held', 'failed', 'dropped', 'diskFailures'] as const;

export interface CaptureStatus extends Readonly<Record<(typeof captureCounters)[number], number>> {
  readonly key: string;
  /** Readings that are only in memory. */
  readonly queued: number;
}

interface Running {
  readonly plan: CapturePlan;
  readonly settings: string;
  readonly collector: Collector;
  readonly file: RollFile;
  readonly ticks: Disposable;
}

const closeGraceMs = 2_000;
/** Sync waits this long for files to be sealed; those of a slow disk are sent by a later pass. */
const sealWaitMs = 5_000;
/** A crash may cost a second (gaps.md); the rest of the second is for writing out. Every other write-out goes to the disk. */
const writeEveryMs = 400;
/** A reading that takes longer is given up. */
const readingLimitMs = 60_000;
/** Above this frequency, ticks of a pause of 50 ms to 100 ms are missed (ticker.ts). */
const mostPausedHz = 10;
/** Delay before another attempt to own a directory that another process holds. */
const retryMs = 5_000;

export class Capture implements AsyncDisposable {
  readonly #deps: CaptureDeps;
  readonly #ticker: Ticker;
  readonly #wallMicros: () => number;
  readonly #memory: CaptureMemory;
  readonly #running = new Map<string, Running>();
  /** Captures that have ended, whose last files are not sealed yet. */
  readonly #leaving = new Set<Pick<Running, 'plan' | 'file'>>();
  /** By resource. */
  readonly #ended = new Map<string, CaptureStatus>();
  #syncing: Disposable | undefined;
  /** On the monotonic clock. */
  #nextWriteOutMs = 0;
  #retrying: Disposable | undefined;
  #plans: readonly CapturePlan[] = [];
  #work: Promise<void> = Promise.resolve();
  readonly #writeOuts: WriteOuts;

  constructor(deps: CaptureDeps) {
    this.#deps = deps;
    this.#ticker = createTicker(deps.clock);
    this.#wallMicros = createWallMicros(deps.clock);
    this.#memory = deps.memory ?? new CaptureMemory();
    const { alive, clock, gaps } = deps;
    this.#writeOuts = new WriteOuts({
      unwrittenGapUs: () => gaps.unwrittenUs,
      ...{ alive, clock, wallMicros: this.#wallMicros, log: new LimitedLog(deps.log, () => clock.now()) },
      files: () => [...this.#running.values(), ...this.#leaving].map(({ file }) => file),
      noted: () => {
        for (const { collector } of this.#running.values()) collector.resume();
      },
    });
  }

  /** Starts writing out user buffers, so that all are on the disk within a second (C6). */
  start(): void {
    const { clock } = this.#deps;
    let isToDisk = true;
    this.#nextWriteOutMs = clock.monotonic() + writeEveryMs;
    this.#syncing = clock.every(writeEveryMs, () => {
      this.#nextWriteOutMs = clock.monotonic() + writeEveryMs;
      isToDisk = !isToDisk;
      if (isToDisk) for (const { collector } of this.#running.values()) collector.check();
      for (const each of this.#leaving) if (each.file.isEmpty) this.#leaving.delete(each);
      this.#writeOuts.tick(isToDisk);
    });
    this.#retrying = clock.every(retryMs, () => {
      if (this.#plans.some(({ key }) => !this.#running.has(key))) void this.configure(this.#plans);
    });
  }

  /** Starts and stops collectors according to the plan; unchanged ones continue undisturbed. */
  configure(plans: readonly CapturePlan[]): Promise<void> {
    this.#plans = plans;
    const task = (): Promise<void> => this.#bringTo(this.#plans);
    this.#work = this.#work.then(task, task);
    return this.#work;
  }

  async #bringTo(plans: readonly CapturePlan[]): Promise<void> {
    const wanted = new Map(plans.map((plan) => [plan.key, plan]));
    const ending = [...this.#running].filter(([key, { settings }]) => settings !== JSON.stringify(wanted.get(key)));
    await Promise.all(ending.map(([key]) => this.#end(key)));
    const starting = plans.filter(({ key }) => !this.#running.has(key));
    // If another process owns a directory, only captures into that directory stop. Owning one may take long, so it must not happen between
    // the note and the first reading.
    const ready: CapturePlan[] = [];
    for (const plan of starting) if (await this.#deps.directories.own(plan.directory)) ready.push(plan);
    if (ending.length + starting.length > 0)
      await this.#writeOuts.noteSeries(
        [...plans, ...[...this.#leaving].map(({ plan }) => plan)].map(({ api, name, method, hz, kind }) => ({
          ...{ api, name, method, hz },
          ...(kind === 'binary' && { ownFiles: true }),
        })),
      );
    for (const plan of ready) this.#begin(plan);
  }

  /** Seals every open file, so that sync can send it. Does not wait for a disk that takes long, which may be that of another file. */
  async seal(): Promise<void> {
    const late = Promise.withResolvers<void>();
    using _late = this.#deps.clock.after(sealWaitMs, late.resolve);
    await Promise.race([Promise.all([...this.#running.values()].map(({ file }) => file.seal())), late.promise]);
  }

  /** Whether a pause of this process, such as for a collection of garbage, would cost readings. */
  get isFast(): boolean {
    return [...this.#running.values()].some(({ plan }) => plan.hz > mostPausedHz);
  }

  status(): CaptureStatus[] {
    return [...this.#running].map(([key, running]) => statusOf(key, running));
  }

  /** Counts since the start: of running captures, and of ended ones as a sum for each resource, whose full name is then the key. */
  counts(): CaptureStatus[] {
    return [...this.status(), ...this.#ended.values()];
  }

  /** The captures that fail or cannot write to their directory, one per line; empty if none. */
  errors(): string {
    return this.#plans
      .flatMap(({ key, resource, method, directory }) => {
        const running = this.#running.get(key);
        const failure = running?.collector.error;
        if (failure !== undefined) return [`${resource}: ${method} is not captured: ${failure}`];
        const reason = running === undefined ? this.#deps.directories.refusal(directory) : undefined;
        return reason === undefined ? [] : [`${resource}: ${method} is not captured into ${directory}: ${reason}`];
      })
      .join('\n');
  }

  /** Drains and seals everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#syncing?.[Symbol.dispose]();
    this.#retrying?.[Symbol.dispose]();
    this.#plans = [];
    await this.#work.catch(() => {});
    await Promise.all([...this.#running.keys()].map((key) => this.#end(key)));
    for (const { file } of this.#leaving) file.giveUp();
    this.#leaving.clear();
  }

  #begin(plan: CapturePlan): void {
    const { storage, ledger, partId, clock } = this.#deps;
    const log = this.#deps.log.child(plan.resource);
    const metadata = create(DataCaptureMetadataSchema, {
      componentType: plan.api,
      componentName: plan.name,
      methodName: plan.method,
      type: plan.kind === 'binary' ? DataType.BINARY_SENSOR : DataType.TABULAR_SENSOR,
      methodParameters: methodParameters(plan.params),
      fileExtension: plan.kind === 'binary' ? '' : '.dat',
      tags: [...plan.tags],
    });
    const { directory, maxFileBytes, queueSize, bufferBytes } = plan;
    const file = new RollFile(
      { directory, metadata, maxFileBytes, queueSize, bufferBytes },
      {
        ...{ storage: storage(plan), ledger, partId, wallMicros: this.#wallMicros, clock, log },
        memory: this.#memory.share(),
        nextWriteOutMs: () => this.#nextWriteOutMs,
        lost: (readings, sinceUs) =>
          this.#deps.gaps.add(plan, GapReason.UNWRITTEN, readings, sinceUs, this.#wallMicros()),
      },
    );
    const intervalMs = 1_000 / plan.hz;
    const context = { intervalMs, memory: new Map<string, unknown>() };
    const collector = new Collector({
      name: `${plan.resource} ${plan.method}`,
      read: (signal) => this.#deps.read(plan, { ...context, signal }),
      limitMs: readingLimitMs + plan.extraMs,
      file,
      wallMicros: this.#wallMicros,
      covers: (us) => this.#writeOuts.covers(us),
      monotonicMs: () => clock.monotonic(),
      gap: (reason, readings, startUs, endUs) => this.#deps.gaps.add(plan, reason, readings, startUs, endUs),
      intervalMs,
      log,
    });
    const ticks = this.#ticker.add(plan.hz, (due, missed) => collector.tick(due, missed));
    this.#running.set(plan.key, { plan, settings: JSON.stringify(plan), collector, file, ticks });
    log.info('capturing', { method: plan.method, hz: plan.hz, directory });
  }

  async #end(key: string): Promise<void> {
    const running = this.#running.get(key);
    if (running === undefined) return;
    running.ticks[Symbol.dispose]();
    await Promise.race([running.collector.settled(), this.#deps.clock.sleep(closeGraceMs)]);
    running.collector.abandon();
    await running.file.close(closeGraceMs);
    if (running.file.isEmpty) running.file.giveUp();
    else this.#leaving.add(running);
    this.#running.delete(key);
    const [resource = key] = key.split(' ');
    this.#ended.set(resource, sumOf(statusOf(resource, running), this.#ended.get(resource)));
  }
}

function statusOf(key: string, { collector, file }: Running): CaptureStatus {
  const { taken, late, held, failed, dropped } = collector;
  return { key, taken, late, held, failed, dropped, queued: file.queued, diskFailures: file.failures };
}

function sumOf(one: CaptureStatus, other: CaptureStatus | undefined): CaptureStatus {
  return { ...one, ...Object.fromEntries(captureCounters.map((name) => [name, one[name] + (other?.[name] ?? 0)])) };
}
