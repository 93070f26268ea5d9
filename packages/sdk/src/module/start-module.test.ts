import type { Clock } from '@platform/base';
import { systemClock } from '@platform/base';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { sensor } from '@platform/resources';
import { connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { defineModel, type Model } from './define-model.ts';
import { readSettings } from './settings.ts';
import { type RunningModule, startModule } from './start-module.ts';
import { startTestParent } from './testing/test-parent.ts';

const one = defineModel(sensor, { model: 'acme:examples:one', build: () => ({ readings: () => ({ one: 1 }) }) });

interface Started {
  readonly module: RunningModule;
  readonly printed: string[];
  readonly isGone: () => boolean;
}

async function start(
  models: readonly Model[],
  clock: Clock = systemClock,
  options: readonly string[] = [],
): Promise<Started> {
  const printed: string[] = [];
  let gone = false;
  const module = await startModule({
    ...{ models, clock, settings: readSettings(['127.0.0.1:0', ...options], {}) },
    print: (text, level) => void printed.push(`${level}: ${text}`),
    onParentGone: () => {
      gone = true;
    },
  });
  onTestFinished(() => module[Symbol.asyncDispose]());
  return { module, printed, isGone: () => gone };
}

function protocolOf({ address }: RunningModule) {
  const link = connect({ baseUrl: `http://127.0.0.1:${address.kind === 'port' ? address.port : 0}` });
  onTestFinished(() => link[Symbol.asyncDispose]());
  return link.client(ModuleService);
}

test('a module listens on a port if its address is one', async () => {
  const { module } = await start([one]);
  expect(await protocolOf(module).ready({ parentAddress: 'unix:///nowhere.sock' })).toMatchObject({ ready: true });
});

test('a machine-server that does not answer three times in a row is considered gone', async () => {
  const clock = new FakeClock();
  await using parent = await startTestParent();
  const { module, isGone } = await start([one], clock);
  await protocolOf(module).ready({ parentAddress: parent.address });
  await clock.advance(100_000);
  expect(isGone()).toBe(false);
  await parent.vanish();
  await expect
    .poll(async () => {
      await clock.advance(10_000);
      return isGone();
    })
    .toBe(true);
});

test('lines are printed until the machine-server has sent its address; the stack of an error, which its caller tells, is one at debug', async () => {
  const talkative = defineModel(sensor, {
    model: 'acme:examples:talkative',
    validate() {
      throw new Error('it is not valid');
    },
    build: () => ({ readings: () => ({}) }),
  });
  const { module, printed } = await start([talkative], systemClock, ['--log-level=debug']);
  const config = { api: 'core:component:sensor', model: 'acme:examples:talkative', name: 'a' };
  await expect(protocolOf(module).validateConfig({ config })).rejects.toThrow('it is not valid');
  expect(printed).toEqual([
    expect.stringMatching(/^debug: DEBUG module\.core:component:sensor\/a it is not valid stack="Error: it is not/),
  ]);
  await expect(protocolOf(module).addResource({ config })).rejects.toMatchObject({ code: 'failed_precondition' });
});

test('models that cannot be distinguished are refused', async () => {
  await expect(start([])).rejects.toThrow('expected at least one model, found none');
  await expect(start([one, one])).rejects.toThrow('found acme:examples:one (core:component:sensor) twice');
  const other = defineModel({ ...sensor }, { model: 'acme:examples:two', build: () => ({ readings: () => ({}) }) });
  await expect(start([one, other])).rejects.toThrow('expected one type for core:component:sensor, found two');
  expect(() => defineModel(sensor, { model: 'one', build: () => ({ readings: () => ({}) }) })).toThrow(
    'model: expected <namespace>:<family>:<name>, such as acme:my-sensors:door, found "one"',
  );
});
