import { ConfigurationState as State } from '@platform/proto/platform/live/v1/live';
import { expect, test } from 'vitest';
import { configurationOf, worstConfiguration } from './configuration-state.ts';

const applied = { last_error: '', held_revision: '', applied_revision: 'b', fetched_revision: 'b' };

test.each([
  ['unknown', {}, { applied_revision: '' }, State.UNSPECIFIED],
  ['applied', {}, {}, State.APPLIED],
  ['applying', {}, { applied_revision: 'a' }, State.APPLYING],
  ['held', { held_revision: 'b' }, { applied_revision: 'a' }, State.HELD],
  ['failed', { last_error: 'no such port' }, { held_revision: 'c' }, State.FAILED],
])('the configuration of a part is "%s"', (_word, some, more, state) => {
  expect(configurationOf({ ...applied, ...some, ...more })).toBe(state);
});

test('a machine shows the worst of its parts', () => {
  expect(worstConfiguration([State.APPLIED, State.FAILED, State.HELD])).toBe(State.FAILED);
  expect(worstConfiguration([State.APPLIED, State.UNSPECIFIED])).toBe(State.APPLIED);
  expect(worstConfiguration([])).toBe(State.UNSPECIFIED);
});
