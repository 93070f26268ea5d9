import { expect, test } from 'vitest';
import { formatResourceName, parseResourceName } from './resource-name.ts';

test('a full resource name has a triplet and a name', () => {
  expect(parseResourceName('core:component:sensor/front:temp')).toEqual({
    api: 'core:component:sensor',
    name: 'front:temp',
  });
  for (const wrong of ['temp', 'core:sensor/temp', 'core:component:sensor/', '/temp', 'core:component:sensor']) {
    expect(parseResourceName(wrong)).toBeUndefined();
  }
  expect(formatResourceName({ api: 'core:component:sensor', name: 'temp' })).toBe('core:component:sensor/temp');
});
