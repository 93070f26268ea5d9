import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { noLoopback } from '../testing/no-loopback.ts';
import { createWebhookSender } from './send-webhook.ts';
import { checkTarget, type TargetPolicy } from './target-guard.ts';

const setting = 'PLATFORM_ALLOW_PRIVATE_WEBHOOKS';

/** Every spelling of an IPv4 address that URL parsers, C libraries or resolvers are known to accept. */
function spellings(address: string): string[] {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (n: number): string => n.toString(16);
  const octal = (n: number): string => `0${n.toString(8)}`;
  const pair = (high: number, low: number): string => hex(high * 256 + low);
  const four = `${pair(a, b)}:${pair(c, d)}`;
  const fullwidth = address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0X${hex(whole).toUpperCase()}`,
    `0${whole.toString(8)}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    [a, b, c, d].map((n) => `0x${hex(n)}`).join('.'),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((n) => `000${n.toString(8)}`).join('.'),
    `0x${hex(a)}.${b}.${octal(c)}.${d}`,
    `${octal(a)}.${(b * 256 + c) * 256 + d}`,
    `0x${hex(a)}.${pair(b, c) === '' ? 0 : (b * 256 + c) * 256 + d}`,
    fullwidth,
    address.replaceAll('.', '。'),
    address.replaceAll('.', '%2e'),
    address.replace(/^\d/, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${four}]`,
    `[::FFFF:${four.toUpperCase()}]`,
    `[0:0:0:0:0:ffff:${four}]`,
    `[0000:0000:0000:0000:0000:ffff:${four}]`,
    `[::${address}]`,
    `[::${four}]`,
    `[::ffff:0:${four}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b::${four}]`,
    `[64:ff9b:1::${four}]`,
    `[2002:${four}::]`,
    `[2002:${four}::1]`,
    `[2001:0:4136:e378:8000:63bf:${hex(0xffff - (a * 256 + b))}:${hex(0xffff - (c * 256 + d))}]`,
    `[2607:f8b0::5efe:${four}]`,
    `[2607:f8b0::200:5efe:${four}]`,
  ];
}

const alwaysRefused = [
  '127.0.0.1',
  '127.255.255.254',
  '127.0.1.1',
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.0.1',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '224.0.0.251',
  '255.255.255.255',
];

const hostileUrls: string[] = [
  ...alwaysRefused.flatMap((address) => spellings(address).map((host) => `http://${host}/hook`)),
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[fe80::1]',
    '[febf::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[ff02::1]',
    '[ff0e::1]',
    '[100::1]',
    '[3fff::1]',
    '[2001:db8::1]',
    '[5f00::1]',
    '[4000::1]',
  ].flatMap((host) => [`http://${host}/`, `https://${host}:8443/x`]),
];

const hostileNames: readonly (readonly [string, readonly string[]])[] = [
  ['localhost', ['127.0.0.1', '::1']],
  ['localhost.', ['127.0.0.1']],
  ['LOCALHOST', ['::1']],
  ['ip6-localhost', ['::1']],
  ['anything.localhost', ['127.0.0.1']],
  ['metadata.google.internal', ['169.254.169.254']],
  ['127.0.0.1.nip.example', ['127.0.0.1']],
  ['rebind.example', ['93.184.216.34', '127.0.0.1']],
  ['rebind6.example', ['2606:4700::1111', '::1']],
  ['mapped.example', ['::ffff:127.0.0.1']],
  ['nat64.example', ['64:ff9b::7f00:1']],
  ['sixtofour.example', ['2002:7f00:1::']],
  ['metadata.example', ['fd00:ec2::254']],
  ['zero.example', ['0.0.0.0']],
  ['linklocal.example', ['fe80::1']],
];

function policy(overrides: Partial<TargetPolicy> = {}): TargetPolicy {
  return {
    ownAddress: () => ({ host: '127.0.0.1', port: 8080 }),
    privateTargetsAllowed: true,
    privateTargetsSetting: setting,
    command: 'platform',
    loopback: noLoopback,
    resolve: async (hostname) => {
      const known = hostileNames.find(([name]) => name.toLowerCase() === hostname);
      return (known?.[1] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    ...overrides,
  };
}

async function attempt(url: string, with_: TargetPolicy = policy()) {
  using sender = createWebhookSender({ policy: with_, clock: systemClock, ownAuthority: () => undefined });
  return await sender.send(
    { url, organizationId: 'o1', method: 'POST', headers: {}, body: '{}' },
    new AbortController().signal,
  );
}

test(`D23 the table holds at least 460 literals`, () => {
  expect(new Set(hostileUrls).size).toBeGreaterThanOrEqual(460);
});

test.each(hostileUrls)('D23 %s is permanently refused, whether or not private targets are allowed', async (url) => {
  expect(await attempt(url)).toMatchObject({
    outcome: 'rejected',
    error: expect.stringMatching(/target refused|expected an absolute URL/),
  });
});

test.each(hostileNames)('D23 the name %s is refused because it resolves to %j', async (name) => {
  expect(await attempt(`http://${name}:9/`)).toMatchObject({
    outcome: 'rejected',
    error: expect.stringMatching(
      /target refused: .* is .*, which is .*(no setting changes that|platform admin webhooks allow|and also)/,
    ),
  });
});

test.each([
  'http://user:pass@93.184.216.34/',
  'http://user@93.184.216.34/',
  'http://93.184.216.34@127.0.0.1/',
  'http://127.0.0.1:8080@93.184.216.34/test-inbox/webhooks/demo',
  'file:///etc/passwd',
  'ftp://93.184.216.34/',
  'gopher://127.0.0.1:70/_x',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
  '//93.184.216.34/',
  '/test-inbox/webhooks/demo',
  'http://',
  'http://[fe80::1%25eth0]/',
  'http://999.1.1.1/',
  'not a url',
  '',
])('D23 %j is no webhook URL', async (url) => {
  expect(await attempt(url)).toMatchObject({ outcome: 'rejected', error: expect.stringMatching(/expected/) });
});

const privateAddresses = [
  '10.0.0.1',
  '172.16.5.4',
  '192.168.0.10',
  '100.64.0.1',
  '[fd12:3456:789a::1]',
  '[::ffff:10.0.0.1]',
  '[64:ff9b::c0a8:1]',
];

test.each(privateAddresses)(
  'D23 %s passes while private targets are allowed; otherwise the error names the setting',
  (host) => {
    expect(() => checkTarget(`http://${host}/`, policy(), 'o1')).not.toThrow();
    const strict = policy({ privateTargetsAllowed: false });
    expect(() => checkTarget(`http://${host}/`, strict, 'o1')).toThrow(
      `set ${setting}=1 in the environment of the cloud to allow them`,
    );
  },
);

test.each([
  'http://93.184.216.34/',
  'https://8.8.8.8:8443/a?b=c',
  'http://[2606:4700::1111]/',
  'https://example.com/hook',
])('D23 %s passes whatever the setting', (url) => {
  expect(() => checkTarget(url, policy({ privateTargetsAllowed: false }), 'o1')).not.toThrow();
});

test.each([
  'http://127.0.0.1:8080/test-inbox/webhooks/demo',
  'http://127.0.0.1:8080/test-inbox/webhooks/demo?x=1',
  'http://127.0.0.1:8080/x/../test-inbox/webhooks/demo',
])('D23 our own test inbox is reachable: %s', (url) => {
  expect(() => checkTarget(url, policy(), 'o1')).not.toThrow();
});

test.each([
  'http://127.0.0.1:8080/',
  'http://127.0.0.1:8080/test-inbox',
  'http://127.0.0.1:8080/test-inboxx/webhooks/demo',
  'http://127.0.0.1:8080/test-inbox/../api/json1/config',
  'http://127.0.0.1:8080/test-inbox/%2e%2e/api',
  'http://127.0.0.1:8080/test-inbox/..%2fapi',
  'http://127.0.0.1:8080/test-inbox/%2e%2e%2fapi',
  'http://127.0.0.1:8080/test-inbox/webhooks\\..\\..\\api',
  'http://127.0.0.1:8081/test-inbox/webhooks/demo',
  'http://127.0.0.2:8080/test-inbox/webhooks/demo',
  'http://[::1]:8080/test-inbox/webhooks/demo',
  'http://127.0.0.1/test-inbox/webhooks/demo',
])('D23 nothing else on our own host is reachable: %s', (url) => {
  expect(() => checkTarget(url, policy(), 'o1')).toThrow('target refused');
});
