import { expect, test } from 'vitest';
import { addChoices } from './add-choices.ts';

const names = (text: string): string[] => addChoices(text, {}).map(({ kind, name }) => `${kind} ${name}`.trim());

test('what can be added is ordered by how well it fits: its own type and model before others that only mention the word', () => {
  const kinds = addChoices('sensor', {}).map(({ kind }) => kind);
  const firstOther = kinds.findIndex((kind) => kind !== 'sensor');
  expect(kinds[0]).toBe('sensor');
  expect(firstOther).toBeGreaterThan(0);
  expect(kinds.slice(firstOther)).not.toContain('sensor');
  expect(names('sensor fake')[0]).toBe('sensor fake');
  expect(names('fake sensor')[0]).toBe('sensor fake');
  expect(names('modul')[0]).toBe('module');
  expect(names('data manager')[0]).toBe('data manager builtin');
});

test('nothing without effect is offered: the machine-server does not use processes and jobs yet', () => {
  const sections = new Set(addChoices('', {}).map(({ section }) => section));
  expect([...sections].toSorted()).toEqual(['components', 'fragments', 'modules', 'packages', 'remotes', 'services']);
  expect(addChoices('', {}).some(({ about }) => /no effect/i.test(about))).toBe(false);
  expect(addChoices('no such thing', {})).toEqual([]);
});

test('a second data manager is not offered: the machine-server ignores it', () => {
  const kinds = (api: string) => addChoices('', { services: [{ name: 'data', api }] }).map(({ kind }) => kind);
  expect(kinds('core:service:shell')).toContain('data manager');
  expect(kinds('core:service:data_manager')).not.toContain('data manager');
  expect(kinds('rdk:service:data_manager')).not.toContain('data manager');
});
