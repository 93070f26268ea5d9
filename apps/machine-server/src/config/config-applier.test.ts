import { create } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createServerLog } from '../logging/server-log.ts';
import { MachineAuth } from '../serve/authenticate.ts';
import { parseBindAddress } from '../serve/bind-address.ts';
import { ConfigApplier } from './config-applier.ts';
import { ConfigEnvironment } from './environment.ts';

test('once the machine-server stops, what is being applied builds nothing, and nothing more is applied', async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const first = create(RobotConfigSchema, {});
  const applier = new ConfigApplier({
    ...{
      first,
      firstResolved: first,
      environment: new ConfigEnvironment({}),
      auth: new MachineAuth(parseBindAddress('127.0.0.1:0')),
      tunnels: { configure: () => {} },
    },
    graph: { apply: async () => void asked.push('graph') } as never,
    modules: { apply: () => void asked.push('modules') },
    remotes: { apply: () => void asked.push('remotes') },
    packages: {
      apply(config) {
        asked.push('packages');
        return config;
      },
    },
    ...{
      serverLog: createServerLog({ file: undefined, alsoFile: undefined, clock }),
      debug: false,
      revealDiffs: false,
    },
    ...{ onChange: () => {}, observe: undefined, clock, log: silentLog },
  });
  await (await applier.apply(first)).settled;
  expect(asked.splice(0)).toEqual(['packages', 'graph', 'modules', 'remotes']);
  const running = applier.apply(create(RobotConfigSchema, { revision: 'second' }));
  const refused = expect(running).rejects.toThrow('the machine-server stops');
  applier.applyAgain();
  await applier[Symbol.asyncDispose]();
  await refused;
  applier.applyAgain();
  await expect(applier.apply(first)).rejects.toThrow('the machine-server stops');
  expect(asked.filter((each) => each !== 'packages')).toEqual([]);
});
