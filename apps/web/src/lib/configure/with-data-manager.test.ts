import { dataManagerEntry } from '@platform/machine-config/first-configuration';
import type { JsonObject } from '@platform/machine-config/schema';
import { expect, test } from 'vitest';
import { effectsOf } from './effects.ts';
import { withDataManager } from './with-data-manager.ts';

const sensor = { name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake' };
const capture_methods = [{ method: 'Readings', capture_frequency_hz: 1 }];
const quiet: JsonObject = { components: [sensor] };
const capturing: JsonObject = {
  components: [{ ...sensor, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] }],
};

test('the first capture adds the data manager, and the review says that it starts', () => {
  const after = withDataManager(quiet, capturing, false);
  expect(after).toEqual({ ...capturing, services: [dataManagerEntry] });
  expect(effectsOf(quiet, after).starts).toEqual(['data_manager']);
});

test('a data manager that is there, disabled, provided by a fragment, or removed by hand is not added', () => {
  const off: JsonObject = { ...capturing, services: [{ ...dataManagerEntry, disabled: true }] };
  expect(withDataManager(quiet, off, false)).toBe(off);
  expect(withDataManager(quiet, capturing, true)).toBe(capturing);
  expect(withDataManager(capturing, capturing, false)).toBe(capturing);
  const without = withDataManager({ ...capturing, services: [dataManagerEntry] }, capturing, false);
  expect(without).toBe(capturing);
});
