import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluate, noState, type TriggerState } from './evaluate.ts';
import type { TriggerInput } from './input.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import { readUpload } from './read-upload.ts';
import { logged } from './testing/logged.ts';
import type { Trigger } from './trigger.ts';

const method = { data_capture_method: 'sensor:cpu:Readings' };
const above = (limit: number) => ({ ...method, conditions: { evals: [{ operator: 'gt', value: { load: limit } }] } });
const webhook = { type: 'webhook', value: 'https://example.com/hook' };

function triggerOf(conditional: object, notification: object = {}): Trigger {
  const { triggers, problems } = parseTriggers(
    [
      {
        name: 't',
        event: { type: 'conditional_data_ingested', conditional },
        notifications: { ...webhook, ...notification },
      },
    ],
    [{ name: 'cpu', api: 'core:component:sensor' }],
  );
  expect(problems).toEqual([]);
  if (triggers[0] === undefined) throw new Error('expected a trigger');
  return triggers[0];
}

/** A reading of `cpu` at a second; it arrives a second later, in a separate upload. */
function reading(second: number, load: number, position = second): TriggerInput {
  const batch = logged({
    readings: [{ readings: { load } }],
    receivedAtMs: second * 1_000,
    syncedAtMs: (second + 1) * 1_000,
  });
  return readUpload({ position, partId: 'part', batch });
}

const { place } = readUpload({ position: 1, partId: 'part', batch: logged() });
const time = (second: number, listeningSince = 0): TriggerInput => ({
  kind: 'time',
  atMs: second * 1_000,
  listeningSinceMs: listeningSince * 1_000,
  place,
});

/** `<outcome> <second>`, with `(not sent)`. Between inputs the state is passed through JSON, as across restarts. */
function run(trigger: Trigger, inputs: readonly TriggerInput[]): string[] {
  let state: TriggerState = noState;
  const ids = new Set<string>();
  return inputs.flatMap((input) => {
    const evaluated = evaluate(trigger, state, input);
    state = JSON.parse(JSON.stringify(evaluated.state)) as TriggerState;
    return evaluated.decisions.map(({ outcome, atMs, cause, notifications }) => {
      const id = JSON.stringify(cause);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      const isSent = notifications.some(({ suppressed }) => suppressed === undefined);
      return `${outcome} ${atMs / 1_000}${isSent ? '' : ' (not sent)'}`;
    });
  });
}

test('for_secs fires once after the condition has held that long by the times of the readings, and reports the recovery', () => {
  const trigger = triggerOf({ ...above(5), for_secs: 10 });
  const loads: [number, number][] = [
    [1, 9],
    [5, 9],
    [8, 1],
    [10, 9],
    [19, 9],
    [20, 9],
    [25, 9],
    [30, 2],
    [31, 2],
  ];
  expect(
    run(
      trigger,
      loads.map(([at, load]) => reading(at, load)),
    ),
  ).toEqual(['fired 21', 'recovered 31']);
});

test('clear keeps the trigger firing until its own condition is met', () => {
  const trigger = triggerOf({ ...above(80), clear: { evals: [{ operator: 'lt', value: { load: 60 } }] } });
  const loads = [70, 81, 79, 85, 61, 59, 79, 90];
  expect(
    run(
      trigger,
      loads.map((load, index) => reading(index + 1, load)),
    ),
  ).toEqual(['fired 3', 'recovered 7', 'fired 9']);
});

test('times_within fires when the condition was met that often in the window, and recovers when it is no longer', () => {
  const trigger = triggerOf({ ...above(5), times_within: { times: 3, secs: 10 } });
  const loads: [number, number][] = [
    [1, 9],
    [2, 1],
    [6, 9],
    [12, 9],
    [13, 9],
    [14, 9],
    [20, 1],
    [22, 9],
    [23, 1],
    [24, 1],
  ];
  expect(
    run(
      trigger,
      loads.map(([at, load]) => reading(at, load)),
    ),
  ).toEqual(['fired 14', 'recovered 24']);
});

test('absent_for_secs fires when nothing has arrived for that long, and ignores time in which the cloud was down', () => {
  const trigger = triggerOf({ ...method, absent_for_secs: 60 });
  const inputs = [
    time(0),
    reading(10, 1),
    time(70),
    time(71),
    time(200),
    reading(210, 1),
    time(250),
    time(400, 390),
    time(449, 390),
    time(451, 390),
  ];
  expect(run(trigger, inputs)).toEqual(['fired 71', 'recovered 211', 'fired 450']);
  expect(trigger.event.dueMs?.({})).toBe(0);
  expect(trigger.event.dueMs?.({ seenMs: 11_000 })).toBe(71_000);
  const withCondition = triggerOf({ ...above(5), absent_for_secs: 60 });
  expect(
    run(withCondition, [time(0), reading(10, 9), reading(40, 1), time(72), reading(80, 1), reading(81, 6)]),
  ).toEqual(['fired 71', 'recovered 82']);
});

test('a notification whose interval suppressed the firing is not sent for the recovery either', () => {
  const trigger = triggerOf(
    { ...above(5), clear: { evals: [{ operator: 'lte', value: { load: 5 } }] } },
    { seconds_between_notifications: 100 },
  );
  const loads: [number, number][] = [
    [1, 9],
    [2, 1],
    [3, 9],
    [4, 1],
    [150, 9],
    [151, 1],
  ];
  expect(
    run(
      trigger,
      loads.map(([at, load]) => reading(at, load)),
    ),
  ).toEqual([
    ...['fired 2', 'recovered 3', 'fired 4 (not sent)', 'recovered 5 (not sent)', 'fired 151', 'recovered 152'],
  ]);
});

test('a late reading counts, at the time of the newest one', () => {
  const trigger = triggerOf({ ...above(5), for_secs: 10 });
  expect(run(trigger, [reading(20, 9, 1), reading(5, 9, 2), reading(30, 9, 3)])).toEqual(['fired 31']);
  expect(run(trigger, [reading(20, 9, 1), reading(5, 1, 2), reading(30, 9, 3)])).toEqual([]);
});

test('any and all combine evals at every depth', () => {
  const isMet = (conditions: unknown, load: number): boolean =>
    run(triggerOf({ ...method, conditions }), [reading(1, load)]).length > 0;
  const gt = (limit: number) => ({ operator: 'gt', value: { load: limit } });
  const lt = (limit: number) => ({ operator: 'lt', value: { load: limit } });
  const outside = { any: [lt(2), gt(8)] };
  expect([1, 5, 9].map((load) => isMet(outside, load))).toEqual([true, false, true]);
  const both = { all: [outside, { any: [gt(100), { evals: [lt(20), gt(0)] }] }] };
  expect([-1, 1, 9, 50, 101].map((load) => isMet(both, load))).toEqual([false, true, true, false, true]);
});

test('the states of an alarm depend only on its readings: the model agrees for all uploads', () => {
  const readings = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 20 }), load: fc.integer({ min: 0, max: 9 }) }), {
    maxLength: 40,
  });
  const alarm = triggerOf({ ...above(5), for_secs: 15, clear: { evals: [{ operator: 'lt', value: { load: 3 } }] } });
  fc.assert(
    fc.property(readings, (list) => {
      let second = 0;
      let since: number | undefined;
      let firing = false;
      const expected: string[] = [];
      const inputs = list.map(({ gap, load }, index) => {
        second += gap;
        if (firing && load < 3) {
          firing = false;
          since = undefined;
          expected.push(`recovered ${second + 1}`);
        } else if (!firing) {
          since = load > 5 ? (since ?? second) : undefined;
          if (since !== undefined && second - since >= 15) {
            firing = true;
            expected.push(`fired ${second + 1}`);
          }
        }
        return reading(second, load, index + 1);
      });
      expect(run(alarm, inputs)).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
