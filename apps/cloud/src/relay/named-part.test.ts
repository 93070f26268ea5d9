import { expect, test } from 'vitest';
import type { Grant, Principal } from '../access/principal.ts';
import { callOf } from '../access/testing/call-of.ts';
import { createMachineNames } from '../machines/machine-names.ts';
import { namedPart } from './named-part.ts';

const parts: Readonly<Record<string, readonly string[]>> = { press: ['press-main', 'press-arm'], mill: ['mill-main'] };
const machinesIn: Readonly<Record<string, readonly string[]>> = { hall: ['press'], office: ['mill'] };
const registry = {
  part: (id: string) =>
    Object.values(parts)
      .flat()
      .find((one) => one === id) as never,
  placeOf: () => ({ locationId: 'hall' }) as never,
  partsOf: (id: string) => (parts[id] ?? []).map((one) => ({ id: one })) as never,
  machinesOf: (id: string) => (machinesIn[id] ?? []).map((one) => ({ id: one })) as never,
};
const deps = {
  names: createMachineNames('machines.example', ['cloud.example']),
  tree: { locationsOf: () => [{ id: 'hall' }, { id: 'office' }] as never, descendants: (id: string) => [id] },
  registry,
};
const keyWith = (on: Partial<Grant>): Principal => ({
  kind: 'key',
  keyId: 'k',
  grants: [{ role: 'operator', organizationId: 'acme', locationId: null, robotId: null, ...on }],
});
const ofPress = keyWith({ robotId: 'press' });
const named = (headers: Readonly<Record<string, string>>, principal: Principal = ofPress): string => {
  try {
    return namedPart(deps, callOf(principal, headers));
  } catch (caught) {
    return String(caught);
  }
};

test('D39 a call goes to the part that its header platform-part, rpc-host or its address names, with or without a port', () => {
  const own = { host: 'cloud.example:8080' };
  expect(named({ 'platform-part': 'mill-main', ...own })).toBe('mill-main');
  expect(named({ 'rpc-host': 'mill-main.machines.example:8080', ...own })).toBe('mill-main');
  expect(named({ host: 'mill-main.machines.example' })).toBe('mill-main');
  expect(named({ 'platform-part': 'press-arm', host: 'press-arm.machines.example' })).toBe('press-arm');
});

test('R2 a name below the machine domain that is no part is treated like a hidden one, even if the key has only one machine; two parts are INVALID_ARGUMENT', () => {
  for (const headers of [
    { 'rpc-host': 'gone.machines.example', host: 'cloud.example' },
    { host: 'gone.machines.example' },
  ])
    expect(named(headers)).toBe('gone');
  for (const hidden of ['gone', 'mill-main'])
    expect(named({ 'platform-part': 'press-main', host: `${hidden}.machines.example` })).toMatch(
      /expected one machine/,
    );
  const both = named({ 'platform-part': 'press-main', 'rpc-host': 'mill-main.machines.example' });
  expect(both).toMatch(/expected one machine .* found "press-main" and "mill-main"/);
  expect(named({ 'rpc-host': 'press-main.machines.example, mill-main.machines.example' })).toMatch(/one machine/);
});

test('D39 only a call that names no machine goes to the main part of the only machine of its key', () => {
  for (const host of ['cloud.example:8080', '127.0.0.1:8080', 'localhost']) {
    expect(named({ host })).toBe('press-main');
    expect(named({ host, 'rpc-host': host })).toBe('press-main');
  }
  const host = 'cloud.example';
  expect(named({ host }, keyWith({ locationId: 'office' }))).toBe('mill-main');
  expect(named({ host }, keyWith({}))).toMatch(/header platform-part, or the address <part id>\.machines\.example/);
  expect(named({ host }, { ...ofPress, kind: 'person' } as never)).toMatch(/found none/);
  expect(named({ host, 'platform-part': '' })).toMatch(/found an empty id/);
  expect(named({ host: 'elsewhere.example' })).toMatch(/"elsewhere\.example", which is neither a machine's nor/);
  expect(named({ host, 'rpc-host': 'press.example' })).toMatch(/"press\.example"/);
});
