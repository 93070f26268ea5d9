import { systemClock } from '@platform/base';
import { builtInModels } from '@platform/machine-config/built-in-models';
import { expect, test } from 'vitest';
import { builtIn } from './built-in.ts';

test('the built-in models that the cloud knows are those that the machine-server has', () => {
  const named = Object.entries(builtInModels).flatMap(([api, models]) => models.map((model) => `${api} ${model}`));
  expect(named.toSorted()).toEqual(
    builtIn(systemClock, () => expect.fail('nothing is built'))
      .map(({ api, model }) => `${api} ${model}`)
      .toSorted(),
  );
});
