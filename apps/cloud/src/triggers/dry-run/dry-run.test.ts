import type { JsonObject } from '@bufbuild/protobuf';
import { rollingSeed, seededRandom } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { ArrivedLine } from '../../machines/logs/lines-by-arrival.ts';
import { openTabular } from '../../tabular/testing/open-tabular.ts';
import { evaluate, noState, type TriggerDecision } from '../evaluate.ts';
import type { UploadInput } from '../input.ts';
import { messageIdsOf } from '../messages-of.ts';
import { parseTriggers } from '../parsing/parse-triggers.ts';
import { readUpload } from '../read-upload.ts';
import { logged } from '../testing/logged.ts';
import type { Trigger } from '../trigger.ts';
import { type DryRunDeps, dryRun, whyNotDry } from './dry-run.ts';
import { summarizer } from './summarize.ts';

const webhook = { type: 'webhook', value: 'https://example.com/hook' };
const test_ = (operator: string, value: unknown) => ({ operator, value });
const all = (...evals: object[]) => ({ evals });

/** A few seconds between readings, so that intervals, durations and silences end within a run. */
const conditions: Readonly<Record<string, object>> = {
  above: { conditions: all(test_('gt', { load: 60 })) },
  'full path': { conditions: all(test_('lte', { 'readings.load': 20 })) },
  'both of two': { conditions: all(test_('gte', { load: 30 }), test_('lt', { load: 50 })) },
  'one of two': { conditions: { any: [test_('eq', { name: 'b' }), test_('eq', { on: true })] } },
  text: { conditions: all(test_('regex', { name: '^[ab]$' })) },
  'another type': { conditions: all(test_('neq', { mixed: 3 })) },
  'below an object': { conditions: all(test_('gt', { a: { b: 50 } })) },
  'key with a period': { conditions: all(test_('gt', { 'c.d': 50 })) },
  'item of a list': { conditions: all(test_('gt', { 'list.0': 50 })) },
  'whole object': { conditions: all(test_('eq', { a: { b: 7, c: 1 } })) },
  'nothing asked': {},
  hysteresis: { conditions: all(test_('gt', { load: 80 })), clear: all(test_('lt', { load: 40 })) },
  duration: { conditions: all(test_('gt', { load: 30 })), for_secs: 4 },
  'several times': { conditions: all(test_('gt', { load: 70 })), times_within: { times: 3, secs: 12 } },
  silence: { absent_for_secs: 9 },
  'silence of a condition': { conditions: all(test_('gt', { load: 85 })), absent_for_secs: 15 },
};

function triggersOf(): readonly Trigger[] {
  const conditional = Object.entries(conditions).map(([name, more]) => ({
    name,
    event: { type: 'conditional_data_ingested', conditional: { data_capture_method: 'sensor:cpu:Readings', ...more } },
    notifications: [webhook, { ...webhook, value: 'https://example.com/slow', seconds_between_notifications: 11 }],
  }));
  const others = [
    { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } },
    { type: 'sync_behind', after_secs: 2 },
  ].map((event) => ({ name: event.type, event, notifications: [webhook] }));
  const { triggers, problems } = parseTriggers(
    [...conditional, ...others],
    [{ name: 'cpu', api: 'core:component:sensor' }],
  );
  expect(problems.filter(({ level }) => level === 'error')).toEqual([]);
  return triggers;
}

function randomReading(below: (limit: number) => number): JsonObject {
  const values: JsonObject = { load: below(100) };
  if (below(2) === 0) values['name'] = 'abcd'[below(4)] as string;
  if (below(3) === 0) values['on'] = below(4) === 0;
  if (below(2) === 0) values['mixed'] = [3, 'three', null, false][below(4)] as string;
  if (below(2) === 0) values['a'] = below(3) === 0 ? { b: 7, c: 1 } : { b: below(100) };
  if (below(3) === 0) values['c.d'] = below(100);
  if (below(3) === 0) values['list'] = [below(100), 1];
  return below(20) === 0 ? values : { readings: values };
}

const startMs = Date.UTC(2026, 0, 2);

/** Uploads of a part, mostly of one sensor; each of a few readings. */
function randomUploads(count: number, below: (limit: number) => number): Uint8Array[] {
  let atMs = startMs;
  return Array.from({ length: count }, () => {
    atMs += 500 + below(below(8) === 0 ? 20_000 : 3_000);
    const readings = Array.from({ length: 1 + below(4) }, () => randomReading(below));
    const metadata = below(6) === 0 ? { componentName: 'gpu' } : {};
    return logged({ readings, metadata, syncedAtMs: atMs, receivedAtMs: atMs - 4_000 + below(3_000) });
  });
}

const textOf = (trigger: Trigger, decision: TriggerDecision): string => {
  const ids = messageIdsOf('part', trigger, decision);
  const notifications = decision.notifications.map(({ suppressed }, i) => suppressed ?? ids[i]);
  return `${decision.outcome} ${decision.atMs} ${decision.reason} ${notifications.join(' ')}`;
};

/** What the trigger decides live: each upload once, with time advancing to each millisecond at which something is due. */
function live(trigger: Trigger, uploads: readonly UploadInput[], untilMs: number): string[] {
  let state = noState;
  const found: string[] = [];
  const tell = (input: Parameters<typeof evaluate>[2]): void => {
    const evaluated = evaluate(trigger, state, input);
    state = evaluated.state;
    found.push(...evaluated.decisions.map((decision) => textOf(trigger, decision)));
  };
  const place = (uploads[0] as UploadInput).place;
  const pass = (toMs: number): void => {
    if (trigger.event.timed !== 'time') return;
    for (let dueMs = trigger.event.dueMs?.(state.rule); dueMs !== undefined && dueMs <= toMs; ) {
      tell({ kind: 'time', atMs: Math.max(dueMs, startMs), listeningSinceMs: startMs, place });
      dueMs = trigger.event.dueMs?.(state.rule);
    }
  };
  pass(startMs);
  for (const upload of uploads) {
    pass(upload.atMs);
    tell(upload);
  }
  pass(untilMs);
  return found;
}

const noTransitions: DryRunDeps['transitions'] = async () => [];
const noLogs: DryRunDeps['logs'] = { lastBefore: async () => 0, after: async () => [] };

test('a dry run decides like the live code, with the same ids, from sealed files, hot files and rows in memory', async () => {
  await using store = await openTabular();
  const random = seededRandom(rollingSeed());
  const batches = randomUploads(600, (limit) => Math.floor(random() * limit));
  const uploads: UploadInput[] = [];
  for (const [index, batch] of batches.entries()) {
    const position = store.appendRaw(batch, 'part');
    uploads.push(readUpload({ position, partId: 'part', batch }));
    if (index === 200 || index === 400) await store.tabular.seal();
  }
  const untilMs = (uploads.at(-1) as UploadInput).atMs + 30_000;
  const { place } = uploads[0] as UploadInput;
  const deps = {
    arrivals: store.tabular.arrivals,
    logs: noLogs,
    transitions: noTransitions,
    monotonic: () => performance.now(),
  };
  const signal = new AbortController().signal;
  for (const trigger of triggersOf()) {
    expect(whyNotDry(trigger)).toBeUndefined();
    const expected = live(trigger, uploads, untilMs);
    const found: string[] = [];
    const summary = summarizer('part', trigger, 3);
    await dryRun(deps, { place, fromMs: startMs, untilMs, signal }, trigger, {
      decided(decision) {
        found.push(textOf(trigger, decision));
        summary.decided(decision);
      },
      read: summary.read,
    });
    expect([trigger.name, ...found]).toEqual([trigger.name, ...expected]);
    expect([trigger.name, expected.length > 2]).toEqual([trigger.name, true]);
    const { fired, recovered, occurrences } = summary.summary();
    expect(fired + recovered).toBe(expected.length);
    expect(occurrences).toHaveLength(3);
  }
});

test('only uploads that were accepted within the time span and belong to the part count', async () => {
  await using store = await openTabular();
  const at = (second: number, partId = 'part') =>
    store.appendRaw(
      logged({ partId, readings: [{ readings: { load: 99 } }], syncedAtMs: startMs + second * 1_000 }),
      partId,
    );
  for (const second of [1, 2, 3, 4, 5]) at(second);
  at(3, 'other');
  const [trigger] = triggersOf();
  if (trigger === undefined) throw new Error('expected a trigger');
  const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });
  const summary = summarizer('part', trigger, 10);
  const deps = {
    arrivals: store.tabular.arrivals,
    logs: noLogs,
    transitions: noTransitions,
    monotonic: () => performance.now(),
  };
  const span = { place, fromMs: startMs + 2_000, untilMs: startMs + 5_000, signal: new AbortController().signal };
  await dryRun(deps, span, trigger, summary);
  const { fired, sent, suppressedByInterval, occurrences } = summary.summary();
  expect(occurrences.map(({ atMs }) => (atMs - startMs) / 1_000)).toEqual([2, 3, 4]);
  expect({ fired, sent, suppressedByInterval }).toEqual({ fired: 3, sent: 4, suppressedByInterval: 2 });
});

test('an aborted dry run ends', async () => {
  await using store = await openTabular();
  for (let n = 0; n < 20; n++) store.appendRaw(logged({ syncedAtMs: startMs + n }), 'part');
  const [trigger] = triggersOf();
  if (trigger === undefined) throw new Error('expected a trigger');
  const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });
  const deps = {
    arrivals: store.tabular.arrivals,
    logs: noLogs,
    transitions: noTransitions,
    monotonic: () => performance.now(),
  };
  const ended = AbortSignal.abort(new Error('enough'));
  const run = dryRun(
    deps,
    { place, fromMs: 0, untilMs: startMs * 2, signal: ended },
    trigger,
    summarizer('part', trigger, 1),
  );
  await expect(run).rejects.toThrow('enough');
});

test("D22 logs are checked at the trigger's intervals, from the beginning of the span", async () => {
  const line = (id: number, second: number, level = 'error'): ArrivedLine => {
    const entry = { host: 'h', level, time: '', logger_name: 'l', message: `line ${id}` };
    return { id, receivedMs: startMs + second * 1_000, level, message: entry.message, entry: () => entry };
  };
  const lines = [line(1, -5), line(2, 3), line(3, 9), line(4, 10), line(5, 11, 'info'), line(6, 45), line(7, 46)];
  const logs: DryRunDeps['logs'] = {
    lastBefore: async (_part, beforeMs) =>
      Math.max(0, ...lines.filter((one) => one.receivedMs < beforeMs).map(({ id }) => id)),
    after: async (_part, { afterId, upToId, levels, limit }) =>
      lines.filter(({ id, level }) => id > afterId && id <= upToId && levels.includes(level)).slice(0, limit),
  };
  const event = { type: 'conditional_logs_ingested', log_levels: ['error'], check_interval_secs: 10 };
  const { triggers } = parseTriggers([{ name: 't', event, notifications: [webhook] }], []);
  const [trigger] = triggers;
  if (trigger === undefined) throw new Error('expected a trigger');
  const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });
  const summary = summarizer('part', trigger, 10);
  const arrivals: DryRunDeps['arrivals'] = async function* () {};
  const span = { place, fromMs: startMs, untilMs: startMs + 60_000, signal: new AbortController().signal };
  await dryRun(
    { arrivals, logs, transitions: noTransitions, monotonic: () => performance.now() },
    span,
    trigger,
    summary,
  );
  const { occurrences, lines: looked } = summary.summary();
  expect(occurrences.map(({ atMs, reason }) => `${(atMs - startMs) / 1_000} ${reason.split(' ')[0]}`)).toEqual([
    '10 3',
    '50 2',
  ]);
  expect(looked).toBe(5);
});

test('D17 transitions of the part are replayed, with the ids that their messages had', async () => {
  const all = [
    { number: 4, status: 'offline', atMs: startMs + 1_000 },
    { number: 5, status: 'online', atMs: startMs + 2_000 },
    { number: 6, status: 'offline', atMs: startMs + 3_000 },
  ] as const;
  const event = { type: 'part_offline' };
  const [trigger] = parseTriggers([{ name: 't', event, notifications: [webhook] }], []).triggers;
  if (trigger === undefined) throw new Error('expected a trigger');
  const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });
  const summary = summarizer('part', trigger, 10);
  const arrivals: DryRunDeps['arrivals'] = async function* () {};
  const deps = { arrivals, logs: noLogs, transitions: async () => all, monotonic: () => performance.now() };
  await dryRun(
    deps,
    { place, fromMs: startMs, untilMs: startMs + 60_000, signal: new AbortController().signal },
    trigger,
    summary,
  );
  const ids = all
    .filter(({ status }) => status === 'offline')
    .flatMap((transition) => evaluate(trigger, noState, { kind: 'transition', ...transition, place }).decisions)
    .flatMap((decision) => messageIdsOf('part', trigger, decision));
  expect(
    summary.summary().occurrences.flatMap(({ notifications }) => notifications.map(({ messageId }) => messageId)),
  ).toEqual(ids);
  expect(ids).toHaveLength(2);
});
