import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AuthenticationType, FragmentHistoryEntrySchema } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { fragmentEntryOf } from './fragment-entries.ts';

const cam = { components: [{ name: 'cam', api: 'core:component:camera', model: 'fake' }] };
const entry = (more: object) =>
  create(FragmentHistoryEntrySchema, { revision: '2', editedOn: timestampFromMs(0), ...more });

test('a revision says who changed what, compared with the one before', () => {
  const editedBy = { type: AuthenticationType.WEB_OAUTH, value: 'ada@example.com' };
  const one = entry({ old: { fragment: {} }, config: cam, editedBy });
  expect(fragmentEntryOf(one)).toEqual({
    ...{ number: '2', at: new Date(0), who: 'ada@example.com', what: 'added component cam', restored: '' },
    ...{ before: {}, after: cam },
  });
  expect(fragmentEntryOf(entry({ revision: '1', old: { id: 'f' }, config: cam })).what).toBe('added component cam');
});

test('what may not be read is said; keys have their ids, and strangers learn no authors', () => {
  const editedBy = { type: AuthenticationType.API_KEY, value: '0123456789abcdef' };
  expect(fragmentEntryOf(entry({ old: { id: 'f' }, config: cam, editedBy }))).toMatchObject({
    ...{ who: 'Key 01234567', what: 'changed it; the revision before cannot be read' },
  });
  expect(fragmentEntryOf(entry({}))).toMatchObject({ who: '', what: 'saved it; what it had is no longer stored' });
});
