import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { evaluate, noState } from '../evaluate.ts';
import { readUpload } from '../read-upload.ts';
import { logged, type UploadShape } from '../testing/logged.ts';
import type { Trigger } from '../trigger.ts';
import { parseTriggers } from './parse-triggers.ts';

const webhook = { type: 'webhook', value: 'https://example.com/hook' };
const event = { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } };

const parse = (...triggers: unknown[]) =>
  parseTriggers(triggers, [{ name: 'my-sensor', api: 'core:component:sensor' }]);
const metadata = { componentName: 'my-sensor' };

const method = { data_capture_method: 'sensor:my-sensor:Readings' };
const evalOf = (operator: string, value: unknown) => ({ ...method, conditions: { evals: [{ operator, value }] } });

/** Whether an upload fires the trigger. */
function fires(trigger: Trigger | undefined, shape: UploadShape): boolean {
  if (trigger === undefined) return false;
  const upload = readUpload({ position: 1, partId: 'part', batch: logged(shape) });
  return evaluate(trigger, noState, upload).decisions.length > 0;
}

const problemsOf = (...triggers: unknown[]) =>
  parse(...triggers).problems.map(({ path, level, message }) => `${level} ${path}: ${message}`);

test('D18 data types are accepted inside data_ingested and at event level', () => {
  for (const one of [event, { type: 'part_data_ingested', data_types: ['tabular'] }]) {
    const { triggers, problems } = parse({ name: 'a', event: one, notifications: [webhook] });
    expect(problems).toEqual([]);
    expect(fires(triggers[0], {})).toBe(true);
    expect(fires(triggers[0], { type: DataType.FILE })).toBe(false);
  }
});

test('D18 notifications are accepted as an object and as an array', () => {
  const [array] = parse({ name: 'a', event, notifications: [webhook] }).triggers;
  const [object] = parse({ name: 'a', event, notifications: webhook }).triggers;
  expect(object?.notifications).toEqual(array?.notifications);
  expect(array?.notifications).toEqual([{ type: 'webhook', value: 'https://example.com/hook', intervalMs: 0 }]);
});

test('D18 conditions are accepted under condition and conditions', () => {
  const evals = { evals: [{ operator: 'gt', value: { cpu: 50 } }] };
  for (const key of ['condition', 'conditions']) {
    const conditional = { data_capture_method: 'sensor:my-sensor:Readings', [key]: evals };
    const { triggers, problems } = parse({
      name: 'a',
      event: { type: 'conditional_data_ingested', conditional },
      notifications: webhook,
    });
    expect(problems).toEqual([]);
    const cpu = (value: number) => ({ metadata, readings: [{ readings: { cpu: value } }] });
    expect(fires(triggers[0], cpu(51))).toBe(true);
    expect(fires(triggers[0], cpu(50))).toBe(false);
  }
});

test('D18 a capture method names a short type or a full triplet, and matches uploads with and without Get', () => {
  for (const method of [
    'sensor:my-sensor:Readings',
    'core:component:sensor:my-sensor:Readings',
    'rdk:component:sensor:my-sensor:Readings',
  ]) {
    const { triggers, problems } = parse({
      name: 'a',
      event: { type: 'conditional_data_ingested', conditional: { data_capture_method: method } },
      notifications: webhook,
    });
    expect([method, problems]).toEqual([method, []]);
    expect(fires(triggers[0], { metadata })).toBe(true);
    expect(fires(triggers[0], { metadata: { ...metadata, methodName: 'GetReadings' } })).toBe(true);
    for (const other of [
      { methodName: 'DoCommand' },
      { componentName: 'other' },
      { componentType: 'core:component:camera' },
    ])
      expect(fires(triggers[0], { metadata: { ...metadata, ...other } })).toBe(false);
  }
});

test('names and targets that a store cannot use as keys, or that people cannot distinguish, are refused with their paths', () => {
  const [long, url] = ['x'.repeat(256), `https://example.com/${'x'.repeat(2_048)}`];
  const found = problemsOf(
    { name: long, event, notifications: [webhook] },
    { name: 'a\u0000b', event, notifications: [webhook] },
    { name: 'a\u202eb', event, notifications: [webhook] },
    { name: 'c', event, notifications: [{ type: 'webhook', value: url }] },
    { name: 'd', event, notifications: [{ type: 'webhook', value: 'https://example.com/\na' }] },
    { name: 'e', event, notifications: [{ type: 'push', value: 'ada@example.com', application: long }] },
  );
  const unseen = 'expected no control characters or other invisible ones, found';
  expect(found).toEqual([
    'error triggers[0].name: expected at most 255 bytes, found 256',
    `error triggers[1].name: ${unseen} U+0000 in "a\\u0000b"`,
    `error triggers[2].name: ${unseen} U+202E in "a<U+202E>b"`,
    'error triggers[3].notifications[0].value: expected at most 2048 bytes, found 2068',
    `error triggers[4].notifications[0].value: ${unseen} U+000A in "https://example.com/\\na"`,
    'error triggers[5].notifications[0].application: expected at most 255 bytes, found 256',
  ]);
  const [longest] = parse({
    name: 'x'.repeat(255),
    event,
    notifications: { ...webhook, value: url.slice(0, 2_048) },
  }).triggers;
  expect(longest?.notifications[0]?.value).toHaveLength(2_048);
});

test('D18 a disabled trigger is parsed but does not run', () => {
  expect(parse({ name: 'a', event, notifications: webhook, disabled: true }).triggers[0]?.enabled).toBe(false);
});

test('D18 every notification type is accepted for every event type, and kinds that do not yet fire are reported', () => {
  const events = [
    event,
    { type: 'conditional_data_ingested', conditional: { data_capture_method: 'sensor:my-sensor:Readings' } },
    { type: 'part_online' },
    { type: 'part_offline' },
    { type: 'conditional_logs_ingested', log_levels: ['error'] },
  ];
  const notifications = [
    webhook,
    { type: 'email', value: 'a@example.com' },
    { type: 'email', value: 'all_machine_owners' },
    { type: 'push', value: 'a@example.com', application: 'com.platform.platformmobile' },
  ];
  for (const one of events) {
    const { triggers, problems } = parse({ name: 'a', event: one, notifications });
    expect(triggers[0]?.notifications).toHaveLength(4);
    expect(problems.filter(({ level }) => level === 'error')).toEqual([]);
    expect(problems.filter(({ message }) => message.includes('by this version'))).toEqual([]);
  }
});

test('D18 the interval applies to the data types and is reported as ignored for others', () => {
  const notifications = { ...webhook, seconds_between_notifications: 1.5 };
  expect(parse({ name: 'a', event, notifications }).triggers[0]?.notifications[0]?.intervalMs).toBe(1_500);
  expect(problemsOf({ name: 'a', event: { type: 'part_online' }, notifications })).toContain(
    'warning triggers[0].notifications.seconds_between_notifications: ignored for part_online: each change of the status notifies',
  );
});

test('basic authentication is read, and its password never appears in a problem', () => {
  const auth = { basic: { username: 'u', password: 'p:w' } };
  expect(
    parse({ name: 'a', event, notifications: { ...webhook, auth } }).triggers[0]?.notifications[0]?.basicAuth,
  ).toEqual(auth.basic);
  const broken = problemsOf({
    name: 'a',
    event,
    notifications: { ...webhook, auth: { basic: { password: 'geheim' } } },
  });
  expect(broken).toEqual([
    'error triggers[0].notifications.auth.basic: expected the strings username and password, found nothing and a string',
  ]);
});

test.each<[string, unknown[], RegExp]>([
  ['no array', [42], /^error triggers\[0\]: expected an object with name/],
  [
    'no name',
    [{ event, notifications: webhook }],
    /^error triggers\[0\]\.name: expected a non-empty string, found nothing/,
  ],
  ['no event', [{ name: 'a', notifications: webhook }], /^error triggers\[0\]\.event: expected an object/],
  [
    'another event type',
    [{ name: 'a', event: { type: 'x' }, notifications: webhook }],
    /^error triggers\[0\]\.event\.type: expected one of part_data_ingested, .* found "x"/,
  ],
  [
    'no data types',
    [{ name: 'a', event: { type: 'part_data_ingested' }, notifications: webhook }],
    /^error triggers\[0\]\.event\.data_types: /,
  ],
  [
    'another data type',
    [
      {
        name: 'a',
        event: { type: 'part_data_ingested', data_ingested: { data_types: ['video'] } },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.data_ingested\.data_types\[0\]: .* found "video"/,
  ],
  [
    'no conditional',
    [{ name: 'a', event: { type: 'conditional_data_ingested' }, notifications: webhook }],
    /^error triggers\[0\]\.event\.conditional: /,
  ],
  [
    'a capture method of two parts',
    [
      {
        name: 'a',
        event: { type: 'conditional_data_ingested', conditional: { data_capture_method: 'sensor:my-sensor' } },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.conditional\.data_capture_method: /,
  ],
  [
    'a capture method with an empty part',
    [
      {
        name: 'a',
        event: { type: 'conditional_data_ingested', conditional: { data_capture_method: 'sensor::Readings' } },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.conditional\.data_capture_method: /,
  ],
  [
    'several fields in one eval',
    [
      {
        name: 'a',
        event: {
          type: 'conditional_data_ingested',
          conditional: {
            data_capture_method: 'sensor:my-sensor:Readings',
            conditions: { evals: [{ operator: 'gt', value: { a: 1, b: 2 } }] },
          },
        },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.conditional\.conditions/,
  ],
  [
    'an unknown component',
    [
      {
        name: 'a',
        event: { type: 'conditional_data_ingested', conditional: { data_capture_method: 'sensor:ghost:Readings' } },
        notifications: webhook,
      },
    ],
    /^warning triggers\[0\]\.event\.conditional\.data_capture_method: .*"ghost"/,
  ],
  ...(
    [
      [
        'a type that the component does not have',
        { data_capture_method: 'arm:my-sensor:Readings' },
        'data_capture_method: expected sensor:my-sensor, .*found "arm"',
      ],
      [
        'a method that the component does not have',
        { data_capture_method: 'sensor:my-sensor:EndPosition' },
        'data_capture_method: expected one of the methods Readings, .*found "EndPosition"',
      ],
      ['an unknown operator', evalOf('above', { a: 1 }), 'conditions\\.evals\\[0\\]\\.operator: .*found "above"'],
      ['an empty value', evalOf('gt', {}), 'conditions\\.evals\\[0\\]\\.value: expected one field, found none'],
      [
        'an object compared with lt',
        evalOf('lt', { a: { x: 1, y: 2 } }),
        'conditions\\.evals\\[0\\]\\.value: .*found an object',
      ],
      [
        'a bad pattern',
        evalOf('regex', { a: '(' }),
        'conditions\\.evals\\[0\\]\\.value: expected a regular expression',
      ],
      ['an empty any', { ...method, conditions: { any: [] } }, 'conditions\\.any: expected at least one item'],
      [
        'for_secs below 0',
        { ...evalOf('gt', { a: 1 }), for_secs: -1 },
        'for_secs: expected a number of seconds above 0',
      ],
      ['for_secs without conditions', { ...method, for_secs: 5 }, 'for_secs: expected conditions'],
      [
        'times_within without secs',
        { ...evalOf('gt', { a: 1 }), times_within: { times: 3 } },
        'times_within\\.secs: expected',
      ],
      [
        'times_within once',
        { ...evalOf('gt', { a: 1 }), times_within: { times: 1, secs: 3 } },
        'times_within\\.times: expected a whole number from 2',
      ],
      [
        'absent_for_secs with clear',
        { ...method, absent_for_secs: 5, clear: evalOf('lt', { a: 1 }).conditions },
        'absent_for_secs: expected it without clear',
      ],
      ['an empty clear', { ...evalOf('gt', { a: 1 }), clear: {} }, 'clear: expected an object with evals'],
    ] as const
  ).map(([what, conditional, expected]): [string, unknown[], RegExp] => [
    what,
    [{ name: 'a', event: { type: 'conditional_data_ingested', conditional }, notifications: webhook }],
    new RegExp(`^error triggers\\[0\\]\\.event\\.conditional\\.${expected}`),
  ]),
  [
    'an interval of log checks that is too short',
    [
      {
        name: 'a',
        event: { type: 'conditional_logs_ingested', log_levels: ['error'], check_interval_secs: 1 },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.check_interval_secs: expected a number of seconds from 10/,
  ],
  [
    'a pattern of logs that cannot run in linear time',
    [
      {
        name: 'a',
        event: { type: 'conditional_logs_ingested', log_levels: ['error'], text: '(?=a)' },
        notifications: webhook,
      },
    ],
    /^error triggers\[0\]\.event\.text: expected a regular expression/,
  ],
  [
    'no log levels',
    [{ name: 'a', event: { type: 'conditional_logs_ingested' }, notifications: webhook }],
    /^error triggers\[0\]\.event\.log_levels: /,
  ],
  ['no notifications', [{ name: 'a', event }], /^error triggers\[0\]\.notifications: expected an array/],
  ['empty notifications', [{ name: 'a', event, notifications: [] }], /^error triggers\[0\]\.notifications: /],
  [
    'another notification type',
    [{ name: 'a', event, notifications: [{ type: 'sms', value: '1' }] }],
    /^error triggers\[0\]\.notifications\[0\]\.type: .* found "sms"/,
  ],
  [
    'a webhook to all owners',
    [{ name: 'a', event, notifications: [{ type: 'webhook', value: 'all_machine_owners' }] }],
    /^error triggers\[0\]\.notifications\[0\]\.value: expected a URL/,
  ],
  [
    'a webhook to an invalid URL',
    [{ name: 'a', event, notifications: [{ type: 'webhook', value: 'example.com/hook' }] }],
    /^error triggers\[0\]\.notifications\[0\]\.value: expected an absolute URL/,
  ],
  [
    'a webhook to a file',
    [{ name: 'a', event, notifications: [{ type: 'webhook', value: 'file:///etc/passwd' }] }],
    /^error triggers\[0\]\.notifications\[0\]\.value: expected an http or https URL/,
  ],
  [
    'push without application',
    [{ name: 'a', event, notifications: [{ type: 'push', value: 'a@example.com' }] }],
    /error triggers\[0\]\.notifications\[0\]\.application: /,
  ],
  [
    'a negative interval',
    [{ name: 'a', event, notifications: [{ ...webhook, seconds_between_notifications: -1 }] }],
    /^error triggers\[0\]\.notifications\[0\]\.seconds_between_notifications: /,
  ],
  [
    'an unknown key',
    [{ name: 'a', event, notifications: [webhook], nots: 'x' }],
    /^warning triggers\[0\]\.nots: expected one of name, .*, found "nots"/,
  ],
  [
    'the same notification twice',
    [{ name: 'a', event, notifications: [webhook, webhook] }],
    /^warning triggers\[0\]\.notifications\[1\]: /,
  ],
  [
    'the same name twice',
    [
      { name: 'a', event, notifications: webhook },
      { name: 'a', event, notifications: webhook },
    ],
    /^error triggers\[1\]\.name: expected a unique name, found "a", which is also the name of triggers\[0\]/,
  ],
])('D18 %s is a problem with its path', (_what, triggers, expected) => {
  const problems = problemsOf(...triggers);
  expect(problems.join('\n')).toMatch(new RegExp(expected.source, 'm'));
  const failed = problems.some((problem) => problem.startsWith('error'));
  expect(parse(...triggers).triggers).toHaveLength(failed ? triggers.length - 1 : triggers.length);
});

test('triggers that are not an array are a problem, and missing triggers are not', () => {
  expect(parseTriggers({}, []).problems[0]).toMatchObject({ path: 'triggers', level: 'error' });
  expect(parseTriggers(undefined, [])).toEqual({ triggers: [], problems: [] });
});

test('D19 all machine owners can be notified by e-mail and push, and a webhook to them is refused', () => {
  const to = (type: string) =>
    parse({
      name: 'a',
      event,
      notifications: { type, value: 'all_machine_owners', ...(type === 'push' && { application: 'app' }) },
    });
  expect(to('email').triggers[0]?.notifications[0]?.value).toBe('all_machine_owners');
  expect(to('push').triggers[0]?.notifications[0]).toMatchObject({ value: 'all_machine_owners', application: 'app' });
  expect(to('webhook').triggers).toEqual([]);
  expect(to('webhook').problems[0]?.message).toContain('is for email and push');
});
