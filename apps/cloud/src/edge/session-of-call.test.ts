import { expect, test } from 'vitest';
import { sessionOfCall } from './session-of-call.ts';

const own = { host: 'cloud.example:8080', origin: 'https://cloud.example:8080', cookie: 'a=b; platform_session=s.1-x' };

test('the session of a page of this cloud is the credential of its calls', () => {
  expect(sessionOfCall(new Headers(own))).toBe('s.1-x');
  expect(sessionOfCall(new Headers({ ...own, 'sec-fetch-site': 'same-origin' }))).toBe('s.1-x');
});

test.each([
  ['another host', { ...own, origin: 'https://evil.example' }],
  ['another port of the same host', { ...own, origin: 'https://cloud.example:9090' }],
  ['an opaque origin', { ...own, origin: 'null' }],
  ['no origin, as links and images send', { host: own.host, cookie: own.cookie }],
  ['a page of the same site', { ...own, 'sec-fetch-site': 'same-site' }],
  ['a page of another site', { ...own, 'sec-fetch-site': 'cross-site' }],
])('a cookie does not count for %s', (_, headers) => {
  expect(sessionOfCall(new Headers(headers))).toBeUndefined();
});
