import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { helloBytes } from '../../test/echo-requests.ts';
import { envelope, rawCall } from '../../test/raw-call.ts';
import { type EchoServer, startEcho } from '../../test/start-echo.ts';

const service = '/platform.test.v1.EchoService';
const unread = 'invalid_argument';

/** Bytes that are not a valid StringValue. */
const malformed: Readonly<Record<string, Uint8Array>> = {
  'a varint without end': Buffer.alloc(12, 0xff),
  'a varint that is cut': Buffer.from([0x0a, 0x80]),
  'a length beyond the message': Buffer.from([0x0a, 0x7f, 0x61]),
  'field number 0': Buffer.from([0x02, 0x00]),
  'wire type 6': Buffer.from([0x0e, 0x00]),
  'wire type 7': Buffer.from([0x0f]),
  'a number as text': Buffer.from([0x08, 0x01]),
  'text that is not UTF-8': Buffer.from([0x0a, 0x02, 0xc3, 0x28]),
  'an end of a group that never began': Buffer.from([0x0c]),
  'a group without end': Buffer.from([0x1b]),
  'groups 100,000 deep': Buffer.concat([Buffer.alloc(100_000, 0x1b), Buffer.alloc(100_000, 0x1c)]),
};

/** Envelopes with a framing error; `encoding` is the compression that the request declares. */
const misframed: Readonly<Record<string, { readonly body: Uint8Array; readonly encoding?: string }>> = {
  'compressed without a word of how': { body: envelope(1, gzipSync(helloBytes)) },
  'said to be gzip, and is not': { body: envelope(1, helloBytes), encoding: 'gzip' },
  'gzip that is cut': { body: envelope(1, gzipSync(helloBytes).subarray(0, 15)), encoding: 'gzip' },
  'brotli that is cut': { body: envelope(1, Buffer.from([0x1b, 0xff, 0x0f])), encoding: 'br' },
  'flags that no protocol knows': { body: envelope(0x54, helloBytes) },
  'a prefix that is cut': { body: Buffer.from([0, 0, 0]) },
  'a message shorter than its prefix says': { body: envelope(0, helloBytes, 100) },
};

const enveloped = ['application/grpc', 'application/grpc-web+proto', 'application/connect+proto'];

/** The code with which a call ends, whatever its protocol. */
async function codeOf(
  server: EchoServer,
  method: string,
  contentType: string,
  body: Uint8Array,
  encoding?: string,
): Promise<string> {
  return (await rawCall(server, { path: `${service}/${method}`, contentType, body, encoding })).code;
}

test.each(['Say', 'Join', 'Split', 'Chat'])(
  'D4 malformed messages to %s are INVALID_ARGUMENT in every protocol, and are not logged as our fault',
  async (method) => {
    await using server = await startEcho();
    const unary = method === 'Say' ? ['application/grpc', 'application/grpc-web+proto'] : enveloped;
    const found: Record<string, string> = {};
    for (const contentType of unary) {
      for (const [what, bytes] of Object.entries(malformed)) {
        found[`${what}, ${contentType}`] = await codeOf(server, method, contentType, envelope(0, bytes));
      }
      for (const [what, { body, encoding }] of Object.entries(misframed)) {
        found[`${what}, ${contentType}`] = await codeOf(server, method, contentType, body, encoding);
      }
    }
    if (method === 'Say') {
      for (const [what, bytes] of Object.entries(malformed)) {
        found[`${what}, Connect`] = await codeOf(server, method, 'application/proto', bytes);
      }
      const cut = gzipSync(helloBytes).subarray(0, 15);
      found['gzip that is cut, Connect'] = await codeOf(server, method, 'application/proto', cut, 'gzip');
      found['invalid gzip, Connect'] = await codeOf(server, method, 'application/proto', helloBytes, 'gzip');
    }
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((what) => [what, unread])));
    expect(server.logged.filter((line) => line.startsWith('error'))).toEqual([]);
  },
);

test('D4 the refusal says which message was expected, and what is wrong with the bytes', async () => {
  await using server = await startEcho();
  const body = new Uint8Array([0x0a, 0x7f, 0x61]);
  const headers = { 'content-type': 'application/proto', authorization: 'Bearer token-1' };
  const answer = await fetch(`${server.url}${service}/Say`, { method: 'POST', headers, body });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    {
      code: unread,
      message: expect.stringMatching(
        /^expected a google\.protobuf\.StringValue as the request of \/platform\.test\.v1\.EchoService\/Say, found .+: premature EOF/,
      ),
    },
  ]);
});

test.each(['application/json', 'application/connect+json'])(
  'D4 malformed %s is INVALID_ARGUMENT, even when nested 100,000 deep',
  async (contentType) => {
    await using server = await startEcho();
    const isStream = contentType.includes('connect');
    for (const json of ['{', '7', '{"a":"b"}', '\xff', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, '"\\ud800"x']) {
      const bytes = Buffer.from(json, 'latin1');
      const body = isStream ? envelope(0, bytes) : bytes;
      expect([json.slice(0, 9), await codeOf(server, isStream ? 'Chat' : 'Say', contentType, body)]).toEqual([
        json.slice(0, 9),
        unread,
      ]);
    }
  },
);
