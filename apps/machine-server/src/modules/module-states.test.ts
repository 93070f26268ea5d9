/** The states of a module whose program is missing, cannot be started, and is removed. modules.test.ts starts real ones. */
import { silentLog } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readModules } from './module-config.ts';
import type { ModulesDeps, ParentPort } from './modules-deps.ts';
import { ModuleSupervisor } from './supervise-module.ts';
import { TypeTable } from './type-table.ts';

test('a module is pending while its program is missing, starting, unhealthy if it cannot be started, and closing at its removal', async () => {
  await using home = await temporaryDirectory();
  const clock = new FakeClock();
  const seen: string[] = [];
  const [module] = readModules([{ name: 'demo', executable_path: home.file('absent') }]).modules;
  let missing: string | undefined = 'its package is being downloaded';
  const changed = Promise.withResolvers<void>();
  const parent = { [Symbol.asyncDispose]: async () => {} } as unknown as ParentPort;
  const deps: ModulesDeps = {
    ...{ home: home.path, clock, log: silentLog, types: new TypeTable([]), untrusted: false, environment: {} },
    ...{ startupTimeoutMs: 1_000, configureTimeoutMs: 1_000, levelOf: () => 'info', packageWith: () => undefined },
    ...{ provide: () => {}, rebuild: () => {}, openParent: async () => parent, missing: () => missing },
    identity: () => ({
      ...{ machineId: '', partId: '', fqdn: '', locationId: '', primaryOrgId: '', apiKeyId: '', apiKey: '' },
    }),
    onChange() {
      const { state } = supervisor.status;
      if (state !== seen.at(-1)) seen.push(state);
      if (state === 'pending') queueMicrotask(looksAgain);
      if (state === 'unhealthy') changed.resolve();
    },
  };
  const supervisor = new ModuleSupervisor(module!, deps);
  const looksAgain = (): void => {
    missing = undefined;
    supervisor.look();
  };
  supervisor.start();
  await changed.promise;
  expect(supervisor.status.error).toContain('it could not be started');
  await supervisor[Symbol.asyncDispose]();
  expect(seen).toEqual(['pending', 'starting', 'unhealthy', 'closing']);
});
