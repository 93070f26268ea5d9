import { expect, test } from 'vitest';
import { readMachineDomain } from './machine-domain.ts';
import { createMachineNames } from './machine-names.ts';

const part = '2ea1655e-0057-40dd-a8c3-723d3bab512d';
const names = createMachineNames('machines.example', ['cloud.example', 'cloud.machines.example']);

test('D39 the machine domain is below the host of the public address, and machines.internal where that is no name', () => {
  const read = (host: string): string => readMachineDomain(undefined, '--machine-domain', host);
  expect(read('Cloud.example.com')).toBe('machines.cloud.example.com');
  for (const host of ['127.0.0.1', '[::1]', 'fd00::1', 'localhost', 'press.local', 'vm.localdomain', 'under_score'])
    expect(read(host)).toBe('machines.internal');
  expect(readMachineDomain('Robots.Example.', '--machine-domain', 'localhost')).toBe('robots.example');
});

test('D39 a machine domain that clients call elsewhere is refused with the reason', () => {
  const refused = (domain: string): string => {
    try {
      return readMachineDomain(domain, '--machine-domain', 'cloud.example');
    } catch (caught) {
      return String(caught);
    }
  };
  for (const domain of ['machines.local', 'local.example', 'a.localdomain.example', 'machines.localhost'])
    expect(refused(domain)).toMatch(/--machine-domain: expected a domain .* names of the local network/);
  for (const domain of ['viam.cloud', 'machines.viam.cloud', 'app.viam.com', 'robot.viaminternal'])
    expect(refused(domain)).toMatch(/belongs to the public platform/);
  for (const domain of ['machines', 'a..b', '*.example', 'a b.example', `${'a'.repeat(64)}.b`, 'a.'.repeat(120)])
    expect(refused(domain)).toMatch(/it is no domain/);
  expect(refused('10.0.0.1')).toMatch(/it is an address/);
});

test('D39 the name of a part is one label below the domain', () => {
  expect(names.fqdn(part)).toBe(`${part}.machines.example`);
  expect(names.all(part)).toEqual([`${part}.machines.example`, `${part}.local`]);
  for (const host of [`${part}.machines.example`, `${part.toUpperCase()}.Machines.example.:8080`])
    expect(names.lead(host)).toEqual({ to: 'part', partId: part });
  // Whether there is such a part is not said.
  expect(names.lead('other.machines.example')).toEqual({ to: 'part', partId: 'other' });
  expect(names.lead(`x.${part}.machines.example`)).toEqual({ to: 'part', partId: `x.${part}` });
  expect(names.lead('.machines.example')).toEqual({ to: 'elsewhere', host: '.machines.example' });
});

test('D39 addresses, localhost and its own names lead to the cloud, also below the machine domain', () => {
  for (const host of [
    '',
    '127.0.0.1:8080',
    '[::1]:8080',
    '::1',
    'localhost:1',
    'CLOUD.example',
    'cloud.machines.example',
  ])
    expect(names.lead(host)).toEqual({ to: 'cloud' });
  expect(names.lead('elsewhere.example:8080')).toEqual({ to: 'elsewhere', host: 'elsewhere.example' });
});
