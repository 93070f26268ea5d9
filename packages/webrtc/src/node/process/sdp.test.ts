import { expect, test } from 'vitest';
import { beginsHere, checkedSdp, isUsable, letOffererBegin, loopbackCandidate, withoutCandidates } from './sdp.ts';

const sdp = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel'],
  ...['a=mid:data', 'a=ice-ufrag:u', 'a=ice-pwd:p', 'a=fingerprint:sha-256 00', 'a=setup:actpass', ''],
].join('\r\n');

test('candidates are used if they are addresses over UDP', () => {
  const usable = ['candidate:1 1 UDP 2 192.0.2.1 9 typ host', 'candidate:a 1 udp 2 2001:db8::1 65535 typ srflx'];
  const others = [
    ...['', 'candidate:1', 'a=candidate:1 1 UDP 2 192.0.2.1 9 typ host', 'candidate:1 1 TCP 2 192.0.2.1 9 typ host'],
    ...['candidate:1 1 UDP 2 printer.local 9 typ host', 'candidate:1 1 UDP 2 internal.example.com 9 typ host'],
    ...['candidate:1 1 UDP 2 192.0.2.1 0 typ host', 'candidate:1 1 UDP 2 192.0.2.1 65536 typ host'],
    `candidate:1 1 UDP 2 192.0.2.1 9 typ host ${'x'.repeat(500)}`,
  ];
  expect([...usable, ...others].filter(isUsable)).toEqual(usable);
});

test('a description keeps at most 64 candidates, and only those that can be used', () => {
  expect(checkedSdp(sdp)).toBe(sdp);
  expect(checkedSdp(sdp.replaceAll('\r\n', '\n'))).toBe(sdp);
  expect(checkedSdp(`${sdp}a=candidate:1 1 UDP 2 secret.example.com 9 typ host\r\n`)).toBe(sdp);
  const many = checkedSdp(sdp + 'a=candidate:1 1 UDP 2 192.0.2.1 9 typ host\r\n'.repeat(1_000));
  expect(many.match(/a=candidate/g)).toHaveLength(64);
});

test('a description without what a connection needs is refused with what is missing', () => {
  for (const line of ['v=0', 'm=application', 'a=ice-ufrag', 'a=ice-pwd', 'a=fingerprint'])
    expect(() => checkedSdp(sdp.replace(line, 'x=y'))).toThrow(line);
});

test('candidates in an answer are taken out of it', () => {
  const candidate = 'candidate:1 1 UDP 2 192.0.2.1 9 typ host';
  expect(withoutCandidates(`${sdp}a=${candidate}\r\n`)).toEqual({ sdp, candidates: [{ candidate, mid: 'data' }] });
});

test('who may begin the handshake begins it, if this side answers', () => {
  expect(letOffererBegin(sdp)).toBe(sdp.replace('actpass', 'active'));
  const passive = sdp.replace('actpass', 'passive');
  expect(letOffererBegin(passive)).toBe(passive);
  expect([passive, sdp, sdp.replace('actpass', 'active')].map(beginsHere)).toEqual([true, false, false]);
});

test('the candidate for the same computer belongs to the first media description, and is preferred least', () => {
  expect(loopbackCandidate(5000, sdp)).toEqual({
    candidate: 'candidate:loopback 1 UDP 2113929471 127.0.0.1 5000 typ host',
    mid: 'data',
  });
});
