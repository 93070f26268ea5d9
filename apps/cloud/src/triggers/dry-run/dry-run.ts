/**
 * Dry run of a trigger over stored data: what it would have reported, and which notifications its intervals would have suppressed, if it
 * had been saved at the beginning of a time span. The code that runs live decides (evaluate.ts); the store only omits readings that cannot
 * matter.
 *
 * Reads page by page, yields to other work of the process every few milliseconds, and ends at `signal`.
 */

import type { ArrivedLine } from '../../machines/logs/lines-by-arrival.ts';
import type { MachineLogs } from '../../machines/logs/logs.ts';
import type { EventPlace } from '../../outbox/event.ts';
import type { Keys } from '../../reading-codec/key-filter.ts';
import type { ReadArrivals } from '../../tabular/arrivals/read-arrivals.ts';
import { evaluate, noState, type TriggerDecision } from '../evaluate.ts';
import type { TriggerInput } from '../input.ts';
import type { StoredNeeds, Trigger } from '../trigger.ts';
import { storedUploads } from './stored-uploads.ts';

export interface DryRunDeps {
  readonly arrivals: ReadArrivals;
  readonly logs: Pick<MachineLogs, 'lastBefore' | 'after'>;
  /** Transitions of a part in [from, until), wall clock in ms, in order. */
  readonly transitions: (
    partId: string,
    fromMs: number,
    untilMs: number,
  ) => Promise<readonly { readonly number: number; readonly status: 'online' | 'offline'; readonly atMs: number }[]>;
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

export interface DryRunSpan {
  readonly place: EventPlace;
  /** Wall clock of the cloud, ms: [from, until). */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface DryRunSink {
  decided(decision: TriggerDecision): void;
  /** Called after each page: how much was read since the last call, and up to what time. */
  read(looked: {
    readonly uploads: number;
    readonly readings: number;
    readonly lines: number;
    readonly atMs: number;
  }): void;
}

/** Why past events of a kind cannot be replayed; undefined: they can. */
export function whyNotDry({ event }: Trigger): string | undefined {
  if (event.timed === 'logs' || event.transitions !== undefined) return undefined;
  if (event.timed === 'facts') return 'what the cloud knew of a machine in the past is not stored';
  return event.stored?.areReadings === true ? undefined : 'only readings can be replayed, not files and pictures';
}

/** @throws like `Tabular.query`, and the signal's reason */
export async function dryRun(deps: DryRunDeps, span: DryRunSpan, trigger: Trigger, sink: DryRunSink): Promise<void> {
  const run = new Run(span, trigger, sink);
  if (trigger.event.timed === 'logs') return await overLogs(deps, span, trigger, run, sink);
  const { stored, transitions } = trigger.event;
  if (transitions !== undefined) {
    const { place, fromMs, untilMs } = span;
    for (const transition of await deps.transitions(place.partId, fromMs, untilMs))
      run.tell({ kind: 'transition', ...transition, place });
    return;
  }
  if (stored === undefined || whyNotDry(trigger) !== undefined) return;
  await overReadings(deps, span, trigger, stored, run, sink);
}

/** State of a trigger during the run. */
class Run {
  readonly #span: DryRunSpan;
  readonly #trigger: Trigger;
  readonly #sink: DryRunSink;
  state = noState;

  constructor(span: DryRunSpan, trigger: Trigger, sink: DryRunSink) {
    this.#span = span;
    this.#trigger = trigger;
    this.#sink = sink;
  }

  tell(input: TriggerInput): void {
    const { state, decisions } = evaluate(this.#trigger, this.state, input);
    this.state = state;
    for (const decision of decisions) this.#sink.decided(decision);
  }

  /** Advances time to `toMs`: all inputs that arrived before then have been passed in. */
  pass(toMs: number): void {
    const { event } = this.#trigger;
    if (event.timed !== 'time' || event.dueMs === undefined) return;
    const { fromMs, place } = this.#span;
    for (;;) {
      const dueMs = event.dueMs(this.state.rule);
      if (dueMs === undefined || dueMs > toMs) return;
      const { rule } = this.state;
      this.tell({ kind: 'time', atMs: Math.max(dueMs, fromMs), listeningSinceMs: fromMs, place });
      if (this.state.rule === rule) return;
    }
  }
}

/** The run yields to other work of the process after this time. */
const sliceMs = 8;
/** Number of readings between checks of the clock. */
const readingsPerCheck = 256;

async function overReadings(
  { arrivals, monotonic }: DryRunDeps,
  { place, fromMs, untilMs, signal }: DryRunSpan,
  { event }: Trigger,
  { keys, methodNames, only }: StoredNeeds,
  run: Run,
  sink: DryRunSink,
): Promise<void> {
  const { uploads } = event;
  const pages = arrivals({
    organizationId: place.organizationId,
    columns: {
      part_id: { in: [place.partId] },
      ...(typeof uploads === 'object' && { component_name: { in: [uploads.componentName] } }),
      ...(methodNames && { method_name: { in: methodNames } }),
    },
    paths: keys === 'none' ? [] : keys === undefined ? 'all' : pathsOf(keys),
    ...(only && { only }),
    ...{ fromMs, untilMs, signal },
  });
  run.pass(fromMs);
  for await (const page of pages) {
    // Opening the page took some of the time slice.
    await new Promise((resolve) => setImmediate(resolve));
    let count = 0;
    let unchecked = 0;
    let atMs = fromMs;
    let startedMs = monotonic();
    for (const upload of storedUploads(page, place)) {
      atMs = upload.atMs;
      run.pass(atMs);
      run.tell(upload);
      count += 1;
      // An upload may have one reading or a thousand.
      unchecked += upload.readings.count;
      if (unchecked < readingsPerCheck) continue;
      unchecked = 0;
      if (monotonic() - startedMs < sliceMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      startedMs = monotonic();
    }
    sink.read({ uploads: count, readings: page.reduce((sum, { rows }) => sum + rows, 0), lines: 0, atMs });
  }
  run.pass(untilMs);
}

const pageLines = 1_000;

/** Makes the checks at the same intervals as live, the first at the beginning. */
async function overLogs(
  { logs }: DryRunDeps,
  { place, fromMs, untilMs, signal }: DryRunSpan,
  { event }: Trigger,
  run: Run,
  sink: DryRunSink,
): Promise<void> {
  const { partId } = place;
  const levels = event.logLevels ?? [];
  const upToId = await logs.lastBefore(partId, untilMs);
  let afterId = await logs.lastBefore(partId, fromMs);
  run.tell({ kind: 'logs', atMs: fromMs, place, lines: [], isLast: true, newestId: afterId });
  let page: ArrivedLine[] = [];
  let isWhole = false;
  for (;;) {
    const atMs = event.dueMs?.(run.state.rule);
    if (atMs === undefined || atMs > untilMs) return;
    signal.throwIfAborted();
    for (;;) {
      if (page.length === 0 && !isWhole) {
        page = await logs.after(partId, { afterId, upToId, levels, limit: pageLines });
        isWhole = page.length < pageLines;
      }
      const later = page.findIndex(({ receivedMs }) => receivedMs > atMs);
      const lines = later < 0 ? page : page.slice(0, later);
      page = later < 0 ? [] : page.slice(later);
      afterId = lines.at(-1)?.id ?? afterId;
      const isLast = page.length > 0 || isWhole;
      run.tell({ kind: 'logs', atMs, place, lines, isLast, newestId: afterId });
      sink.read({ uploads: 0, readings: 0, lines: lines.length, atMs });
      if (isLast) break;
    }
  }
}

function pathsOf(keys: Keys): string[][] {
  return [...keys].flatMap(([key, below]) =>
    below === 'all' ? [[key]] : pathsOf(below).map((path) => [key, ...path]),
  );
}
