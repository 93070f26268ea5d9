import { expect, test } from 'vitest';
import { nativeServers } from './ice-servers.ts';

const withUser = { username: 'u', credential: 'c' };

test('servers for STUN, and for TURN over UDP, are used', () => {
  const skipped: string[] = [];
  const servers = nativeServers(
    [
      { urls: ['stun:stun.example.com', 'stun:192.0.2.1:19302', 'STUN:[2001:db8::1]:3478'] },
      { urls: ['turn:turn.example.com:5349?transport=udp', 'turn:turn.example.com'], ...withUser },
    ],
    (url) => skipped.push(url),
  );
  const user = { username: 'u', password: 'c' };
  expect(servers).toEqual([
    { hostname: 'stun.example.com', port: 3478 },
    { hostname: '192.0.2.1', port: 19302 },
    { hostname: '2001:db8::1', port: 3478 },
    { hostname: 'turn.example.com', port: 5349, user },
    { hostname: 'turn.example.com', port: 3478, user },
  ]);
  expect(skipped).toEqual([]);
});

test('others are skipped with the reason', () => {
  const skipped: Record<string, string> = {};
  const urls = ['turn:a.example:3478?transport=tcp', 'turns:a.example', 'stuns:a.example', 'http://a.example', ''];
  const all = [{ urls: [...urls, 'stun:a:70000', 'stun:a b', 'turn:u@a.example'], ...withUser }, { urls: ['turn:a'] }];
  expect(
    nativeServers(all, (url, reason) => {
      skipped[url] = reason;
    }),
  ).toEqual([]);
  const [overUdp, form] = [
    'this engine reaches servers only over UDP',
    'expected stun:host:port or turn:host:port?transport=udp',
  ];
  expect(skipped).toEqual({
    ...Object.fromEntries(urls.slice(0, 3).map((url) => [url, overUdp])),
    ...Object.fromEntries(
      ['http://a.example', '', 'stun:a:70000', 'stun:a b', 'turn:u@a.example'].map((url) => [url, form]),
    ),
    'turn:a': 'a TURN server needs username and credential',
  });
});

test('at most 8 are used', () => {
  expect(nativeServers([{ urls: Array.from({ length: 100 }, (_, at) => `stun:s${at}`) }], () => {})).toHaveLength(8);
});
