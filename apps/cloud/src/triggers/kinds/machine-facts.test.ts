import { expect, test } from 'vitest';
import { evaluate, noState, type TriggerState } from '../evaluate.ts';
import type { FactsInput, PartFacts, TriggerInput } from '../input.ts';
import { parseTriggers } from '../parsing/parse-triggers.ts';
import { readUpload } from '../read-upload.ts';
import { logged } from '../testing/logged.ts';
import { seriesName } from './machine-facts.ts';

const series = { componentType: 'core:component:sensor', componentName: 'cpu', methodName: 'Readings', hz: 1 };
const slow = { ...series, componentName: 'tank', hz: 0.001 };
const calm: PartFacts = {
  onlineSinceMs: 0,
  captured: [series],
  arrivedMs: () => undefined,
  configuration: { savedRevision: 'a', runsRevision: 'a', heldRevision: '', lastError: '' },
  discarded: 5,
  keys: [],
};
const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });

const facts = (second: number, told: Partial<PartFacts> = {}, listeningSince = 0): FactsInput => ({
  ...{ kind: 'facts', place, atMs: second * 1_000, listeningSinceMs: listeningSince * 1_000 },
  facts: { ...calm, ...told },
});

/** `<state> <subject> <second>` of each change; the state is passed through JSON, as across restarts. */
function run(event: object, inputs: readonly TriggerInput[]): string[] {
  const { triggers, problems } = parseTriggers(
    [{ name: 't', event, notifications: { type: 'webhook', value: 'https://example.com' } }],
    [],
  );
  expect(problems).toEqual([]);
  const [trigger] = triggers;
  if (trigger === undefined) throw new Error('expected a trigger');
  let state: TriggerState = noState;
  return inputs.flatMap((input) => {
    const evaluated = evaluate(trigger, state, input);
    state = JSON.parse(JSON.stringify(evaluated.state)) as TriggerState;
    return evaluated.decisions.map((decision) => {
      const { change } = decision.event();
      return `${change?.to} ${change?.subject} ${decision.atMs / 1_000}`.replace('  ', ' ');
    });
  });
}

test('capture_stopped fires once for each method without data while the part is online, and recovers when data arrives again', () => {
  const arrived = (second: number) => ({ arrivedMs: () => second * 1_000 });
  const inputs = [
    facts(100),
    facts(299),
    facts(300),
    facts(400),
    facts(410, {}, 405),
    facts(420, arrived(415)),
    facts(714, arrived(415)),
    facts(716, arrived(415)),
  ];
  expect(run({ type: 'capture_stopped' }, inputs)).toEqual([
    ...['firing sensor:cpu:Readings 300', 'recovered sensor:cpu:Readings 420', 'firing sensor:cpu:Readings 716'],
  ]);
  const offline = { onlineSinceMs: undefined };
  expect(run({ type: 'capture_stopped' }, [facts(900, offline), facts(1_000, { onlineSinceMs: 900_000 })])).toEqual([]);
  expect(
    run({ type: 'capture_stopped', after_secs: 10 }, [
      facts(1_000, { captured: [slow] }),
      facts(3_001, { captured: [slow] }),
    ]),
  ).toEqual(['firing sensor:tank:Readings 3001']);
  expect(seriesName({ ...series, methodName: 'GetReadings' })).toBe(seriesName(series));
});

test('sync_behind fires once for each method whose data arrives late, and recovers when it arrives in time again', () => {
  const upload = (second: number, late: number, componentName = 'cpu') =>
    readUpload({
      ...{ position: second, partId: 'part' },
      batch: logged({ metadata: { componentName }, syncedAtMs: second * 1_000, receivedAtMs: (second - late) * 1_000 }),
    });
  const inputs = [
    upload(1_000, 10),
    upload(2_000, 700),
    upload(2_001, 5, 'tank'),
    upload(2_002, 650),
    upload(2_100, 20),
  ];
  expect(run({ type: 'sync_behind' }, inputs)).toEqual([
    'firing sensor:cpu:Readings 2000',
    'recovered sensor:cpu:Readings 2100',
  ]);
});

test('data_discarded fires when more captured readings are lost, and recovers when none have been for a while', () => {
  const lost = (second: number, discarded: number) => facts(second, { discarded });
  const inputs = [lost(0, 5), lost(10, 5), lost(20, 8), lost(30, 9), lost(600, 9), lost(631, 9), lost(700, 10)];
  expect(run({ type: 'data_discarded' }, inputs)).toEqual(['firing 20', 'recovered 631', 'firing 700']);
});

test('config_not_applied fires when an online part runs another revision for long or reports an error; not while it is held', () => {
  const runs = (second: number, more: Partial<PartFacts['configuration']>) =>
    facts(second, { configuration: { ...calm.configuration, ...more } });
  const old = { savedRevision: 'b' };
  expect(
    run({ type: 'config_not_applied' }, [runs(0, old), runs(599, old), runs(600, old), runs(700, old), runs(800, {})]),
  ).toEqual(['firing 600', 'recovered 800']);
  expect(
    run({ type: 'config_not_applied' }, [
      runs(0, { ...old, heldRevision: 'b' }),
      runs(900, { ...old, heldRevision: 'b' }),
    ]),
  ).toEqual([]);
  expect(run({ type: 'config_not_applied' }, [runs(5, { lastError: 'no such model' }), runs(9, {})])).toEqual([
    'firing 5',
    'recovered 9',
  ]);
});

test('triggers fire and recover in time even if the clock was set back by a day', () => {
  const late = 86_400;
  const old = { configuration: { ...calm.configuration, savedRevision: 'b' } };
  expect(run({ type: 'config_not_applied' }, [facts(late, old), facts(10, old), facts(610, old)])).toEqual([
    'firing 610',
  ]);
  const lost = (second: number, discarded: number) => facts(second, { discarded });
  expect(run({ type: 'data_discarded' }, [lost(late, 5), lost(late + 1, 6), lost(10, 6), lost(611, 6)])).toEqual([
    `firing ${late + 1}`,
    'recovered 611',
  ]);
});

test('credential_expiring fires once for each key, and recovers when the key is extended or deleted', () => {
  const day = 86_400;
  const keys = (second: number, ...expires: number[]) =>
    facts(second, {
      keys: expires.map((at, index) => ({ id: `k${index}`, name: 'line', expiresMs: at * day * 1_000 })),
    });
  const inputs = [keys(0, 20, 10), keys(7 * day, 20, 10), keys(8 * day, 90, 10), keys(9 * day, 90)];
  expect(run({ type: 'credential_expiring' }, inputs)).toEqual([
    'firing k1 0',
    `firing k0 ${7 * day}`,
    `recovered k0 ${8 * day}`,
    `recovered k1 ${9 * day}`,
  ]);
});

test.each([
  ['capture_stopped', 'after_secs'],
  ['sync_behind', 'after_secs'],
  ['data_discarded', 'clear_after_secs'],
  ['config_not_applied', 'after_secs'],
  ['credential_expiring', 'within_days'],
])('%s refuses a limit that is no positive number, with its path', (type, key) => {
  const { problems } = parseTriggers(
    [{ name: 't', event: { type, [key]: 0 }, notifications: { type: 'webhook', value: 'https://example.com' } }],
    [],
  );
  expect(problems).toMatchObject([{ path: `triggers[0].event.${key}`, level: 'error' }]);
});
