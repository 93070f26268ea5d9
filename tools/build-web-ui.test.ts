import { expect, test } from 'vitest';
import { hashOf } from './build-web-ui.js';
import { root } from './repository.ts';

test('the web UI is not built again because the path of the checkout ends with a slash', () => {
  expect(hashOf(`${root}/`)).toBe(hashOf(root));
});
