/**
 * One row for each option and variable of the specification, and for each field of the configuration that concerns the whole machine: the
 * real process is started with it, without it, and with a wrong value, and its observable effects are checked. The attributes of the data
 * manager: `data-attributes.long.test.ts`.
 */
import { errorText } from '@platform/base';
import { afterAll, describe, expect, test } from 'vitest';
import { flags } from './read-flags.ts';
import { readSettings } from './settings.ts';
import { partId, startFakeCloud } from './testing/fake-cloud.ts';
import { attributeRows } from './testing/options/attribute-rows.ts';
import { type Given, Machine, type Run } from './testing/options/machine-run.ts';
import { optionRows } from './testing/options/option-rows.ts';
import type { Row, Surroundings } from './testing/options/row.ts';
import { SharedRuns } from './testing/options/shared-runs.ts';
import { variableRows } from './testing/options/variable-rows.ts';
import { usage } from './usage.ts';

const shared = new SharedRuns();
const plain = async (): Promise<Run> => (await shared.plain()).run;
afterAll(() => shared[Symbol.asyncDispose]());

/** With a cloud for each row, because rows edit its configuration. */
async function surroundings(): Promise<Surroundings & AsyncDisposable> {
  const fake = await startFakeCloud({});
  const credentials = { cloud: { id: partId, secret: 'secret', app_address: fake.url, refresh_interval: '100ms' } };
  return { fake, credentials, plain, shared, [Symbol.asyncDispose]: () => fake.stop() };
}

async function checkWrong({ name, wrong }: Row, machine: Machine, around: Surroundings): Promise<void> {
  if (typeof wrong === 'function') return wrong(machine, around);
  if (wrong === undefined) return;
  const refusal = refusalOf(wrong.given);
  // The process ends the same way whichever value it refuses: one row shows how.
  if (refusal !== undefined && name !== '-debug') {
    expect(refusal).toMatch(wrong.says);
    expect(refusal.split('\n')).toHaveLength(1);
    return;
  }
  const { code, error } = await machine.end(wrong.given);
  expect([code, error]).toEqual([1, expect.stringMatching(wrong.says)]);
  expect(error.trim().split('\n')).toHaveLength(1);
}

/** What the first thing that the process does says of these options and variables; undefined if it accepts them. */
function refusalOf({ args = [], env = {} }: Given): string | undefined {
  try {
    readSettings(args, env);
    return undefined;
  } catch (caught) {
    return errorText(caught);
  }
}

test('D16 every option and variable has a row', () => {
  expect(optionRows.map(({ name }) => name)).toEqual(Object.keys(flags).map((name) => `-${name}`));
  const inHelp = [...usage().matchAll(/^ {2}(PLATFORM_\w+)$/gm)].map(([, name]) => name);
  expect(variableRows.map(({ name }) => name).toSorted()).toEqual(inHelp.toSorted());
});

// A start takes most of a second of CPU time, and then waits: more at a time would not be faster.
describe.concurrent('the real process', { concurrent: true }, () => {
  const rows = [...optionRows, ...variableRows, ...attributeRows];
  test.each(rows)('D16 $name: its effect, the default, a wrong value', async (row) => {
    await using around = await surroundings();
    for (const check of [row.effect, row.usual, checkWrong.bind(undefined, row)]) {
      await using machine = await Machine.create();
      await check(machine, around);
    }
  });
});
