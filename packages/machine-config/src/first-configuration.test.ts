import { expect, test } from 'vitest';
import { captureGap, firstConfiguration, needsFirstConfiguration } from './first-configuration.ts';
import { parse } from './parse.ts';

const [host] = firstConfiguration['components'] as [object];
const manager = { name: 'data_manager', api: 'core:service:data_manager' };

test('the first configuration is valid, and its readings arrive', () => {
  expect(parse(firstConfiguration).problems).toEqual([]);
  expect(captureGap(firstConfiguration)).toBeUndefined();
});

test('what keeps readings from arriving is named: nothing captured, no data manager, capture or sync off', () => {
  expect(captureGap({})).toBe('nothing captured');
  expect(captureGap({ components: [{ ...host, disabled: true }], services: [manager] })).toBe('nothing captured');
  expect(captureGap({ components: [host] })).toBe('no data manager');
  expect(captureGap({ components: [host], services: [{ ...manager, disabled: true }] })).toBe('no data manager');
  const withSetting = (key: string): unknown => ({
    components: [host],
    services: [{ ...manager, attributes: { [key]: true } }],
  });
  expect(captureGap(withSetting('capture_disabled'))).toBe('capture disabled');
  expect(captureGap(withSetting('sync_disabled'))).toBe('sync disabled');
});

test('older spellings count, and any shape of a document is judged', () => {
  const old = { name: 'dm', type: 'data_manager' };
  expect(captureGap({ components: [host], services: [old] })).toBeUndefined();
  for (const document of [null, undefined, 'x', [], { components: {} }, { components: [null, 1], services: [null] }])
    expect(captureGap(document)).toBe('nothing captured');
  expect(captureGap({ components: [host], services: [{ ...manager, attributes: null }] })).toBeUndefined();
});

test('only a part without a configuration of its own gets the first one, and only if its fragments capture nothing', () => {
  expect(needsFirstConfiguration(0n, {})).toBe(true);
  expect(needsFirstConfiguration(1n, {})).toBe(false);
  expect(needsFirstConfiguration(0n, firstConfiguration)).toBe(false);
});
