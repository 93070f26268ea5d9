import { expect, test } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { fleet, openMachines, robot } from '../testing/open-machines.ts';
import { createCompetingServers } from './competing-servers.ts';

const agent = (host: string, pid: number, id: string): string =>
  `platform-machine-server/0.1.0 (${host}; pid ${pid}; ${id})`;
const [one, two, three] = [agent('pi', 7, 'a1'), agent('laptop', 9, 'b2'), agent('pi', 8, 'c3')];

test('two servers that alternately call for one part are reported once and stay in the status; a restart is not competing', () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const competing = createCompetingServers(clock, (partId, servers) => told.push(`${partId}: ${servers.join(', ')}`));
  for (const by of [one, one, 'grpc-node', 'platform-machine-server/0.1.0', three, three])
    competing.saw('restarted', by);
  competing.saw('p', one);
  competing.saw('q', two);
  competing.saw('p', two);
  expect(told).toEqual([]);
  expect([competing.of('restarted'), competing.of('p')]).toEqual([[], []]);

  for (let call = 0; call < 5; call++) {
    competing.saw('p', one);
    competing.saw('p', two);
  }
  expect(told).toEqual(['p: laptop (pid 9), pi (pid 7)']);
  expect(competing.of('p')).toEqual(['laptop (pid 9)', 'pi (pid 7)']);
  expect(competing.of('q')).toEqual([]);

  // One of them has stopped.
  clock.pass(40_000);
  competing.saw('p', two);
  expect(competing.of('p')).toHaveLength(2);
  clock.pass(20_000);
  expect(competing.of('p')).toEqual([]);
  competing.saw('p', three);
  competing.saw('p', three);
  expect(told).toHaveLength(1);
  competing.saw('p', two);
  expect(told[1]).toBe('p: laptop (pid 9), pi (pid 8)');
});

test("two servers that use an API key instead of the part's secret are named, too", async () => {
  const { ask, owner, partId, machines } = await openMachines();
  for (const by of [one, two, one, two]) await ask(owner, robot.log, { id: partId, logs: [] }, { 'user-agent': by });
  expect((await ask(owner, fleet.getPartStatus, { partId })).competingServers).toEqual([
    'laptop (pid 9)',
    'pi (pid 7)',
  ]);
  const newest = async (): Promise<string | undefined> =>
    (await machines.logs.read({ partId, matches: () => true, limit: 1 })).entries[0]?.message;
  await expect.poll(newest).toMatch(/^two machine-servers use this part: laptop/);
});
