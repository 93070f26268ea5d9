import { expect, test } from 'vitest';
import { readDataPolicies, retentionDaysOf } from './data-policies.ts';
import { resolveFragments } from './fragments.ts';
import { parse } from './parse.ts';
import type { Json, JsonObject } from './schema.ts';

const sensor = (attributes: JsonObject, name = 'temp'): JsonObject => ({
  ...{ name, api: 'rdk:component:sensor', model: 'core:builtin:fake' },
  service_configs: [{ type: 'data_manager', attributes }],
});
const temp = { api: 'core:component:sensor', name: 'temp' };

test.each<[Json, Json, number | undefined]>([
  [30, 7, 7],
  [7, 30, 7],
  [30, undefined as never, 30],
  [undefined as never, 7, 7],
  [0, 7, 7],
  [7, -1, 7],
  [1.5, '7', undefined],
  [null, [], undefined],
])(
  'D24 of %j days of the part and %j of the resource the shorter wins; a value that is not a positive whole number is ignored with a warning',
  (part, resource, days) => {
    const document = {
      ...(part !== undefined && { data_retention_policy: { days: part } }),
      components: [
        sensor({ capture_methods: [], ...(resource !== undefined && { retention_policy: { days: resource } }) }),
      ],
    };
    expect(retentionDaysOf(readDataPolicies(document), temp)).toBe(days);
    const ignored = parse(document).problems.filter(({ message }) => message.includes('ignored'));
    const wrong = [part, resource].filter(
      (value) => value !== undefined && !(Number.isInteger(value) && Number(value) > 0),
    );
    expect(ignored).toHaveLength(wrong.length);
  },
);

test('D24 the part’s value takes precedence over a fragment’s, even a smaller one, unless the part’s is ignored', () => {
  const lookup = () => ({ config: { data_retention_policy: { days: 3 } }, revision: '1' });
  const daysOf = (document: JsonObject): number | undefined =>
    readDataPolicies(resolveFragments({ ...document, fragments: [{ id: 'f-1' }] }, lookup).document).days;
  expect(daysOf({ data_retention_policy: { days: 10 } })).toBe(10);
  expect(daysOf({})).toBe(3);
  for (const days of [0, -1, 1.5, '7', null]) expect(daysOf({ data_retention_policy: { days } })).toBe(3);
  const ignored = resolveFragments({ data_retention_policy: { days: 0 }, fragments: [{ id: 'f-1' }] }, lookup);
  expect(ignored.problems).toMatchObject([
    { level: 'warning', message: expect.stringContaining('found 0: it is ignored') },
  ]);
});

test('a policy applies to its resource and to others that its capture methods name; a hot store only to the method', () => {
  const arm = { name: 'core:component:arm/left', method: 'GetEndPosition', recent_data_store: { stored_hours: 2.5 } };
  const policies = readDataPolicies({
    components: [
      sensor({
        capture_methods: [arm, { method: 'Readings', recent_data_store: { stored_hours: 0 } }],
        retention_policy: { days: 2, binary_limit_gb: 5, tabular_limit_gb: 1 },
      }),
      sensor({ capture_methods: [], retention_policy: { days: 'x' } }, 'other'),
    ],
    services: [
      { name: 'dm', namespace: 'rdk', type: 'data_manager', attributes: { delete_data_on_part_deletion: true } },
    ],
  });
  const left = { api: 'core:component:arm', name: 'left' };
  const limits = { days: 2, binaryLimitGb: 5, tabularLimitGb: 1 };
  expect(policies).toEqual({
    resources: [
      { ...temp, ...limits },
      { ...left, ...limits },
    ],
    recent: [{ ...left, methods: ['EndPosition', 'GetEndPosition'], storedHours: 2.5 }],
    deleteOnPartDeletion: true,
  });
});

test.each([
  undefined,
  null,
  1,
  [],
  { components: 7 },
  { components: [null, { name: 1 }, { name: 'a', service_configs: [1] }] },
])('a document of any shape is read, such as %j', (document) => {
  expect(readDataPolicies(document)).toEqual({ resources: [], recent: [], deleteOnPartDeletion: false });
});
