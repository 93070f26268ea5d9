import type { NetworkInterfaceInfo } from 'node:os';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { NetworkWatch, systemAddresses } from './network-watch.ts';

/** What the system tells; undefined: nothing, as while no descriptor is free. */
function watched(clock: FakeClock, first: readonly string[] | undefined) {
  const system = { addresses: first };
  const read = () => {
    if (system.addresses === undefined) throw new Error('uv_interface_addresses returned EMFILE (too many open files)');
    return { eth0: system.addresses.map((address) => ({ address }) as NetworkInterfaceInfo) };
  };
  const seen: string[][] = [];
  const onChange = (found: ReadonlySet<string>): void => void seen.push([...found]);
  const watch = new NetworkWatch({ addresses: () => systemAddresses(read), onChange, clock });
  watch.start();
  return { system, seen, [Symbol.dispose]: () => watch[Symbol.dispose]() };
}

test('addresses that the system does not tell, for want of a descriptor, are no change of the network', async () => {
  const clock = new FakeClock();
  using computer = watched(clock, ['10.0.0.2']);
  computer.system.addresses = undefined;
  await clock.advance(3_000);
  computer.system.addresses = ['10.0.0.2'];
  await clock.advance(3_000);
  expect(computer.seen).toEqual([]);
  computer.system.addresses = undefined;
  await clock.advance(1_000);
  computer.system.addresses = ['192.168.7.3'];
  await clock.advance(1_000);
  expect(computer.seen).toEqual([['192.168.7.3']]);
});

test('addresses that were unknown at the start are no change of the network when they become known; to have none is one', async () => {
  const clock = new FakeClock();
  using computer = watched(clock, undefined);
  await clock.advance(2_000);
  computer.system.addresses = ['10.0.0.2'];
  await clock.advance(2_000);
  expect(computer.seen).toEqual([]);
  computer.system.addresses = [];
  await clock.advance(1_000);
  expect(computer.seen).toEqual([[]]);
});
