import { standInResolver } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { credentials, startEcho } from '../../test/start-echo.ts';
import { connect, type Link } from './connect.ts';
import { loopbackOnly } from './loopback.ts';

/** Of nobody (RFC 5737). It stands last, so whoever does not refuse it reaches the server of the test at the first. */
const elsewhere = '192.0.2.1';
const refusal = {
  code: 'unavailable',
  message: expect.stringContaining(`cloud.localhost is ${elsewhere}, which is another computer`),
};

function found(name: string, addresses: readonly string[], all: boolean): Promise<unknown> {
  const resolver = loopbackOnly((_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    ),
  );
  return new Promise((resolve, reject) =>
    resolver(name, { all }, (error, answer) => (error === null ? resolve(answer) : reject(error))),
  );
}

test('D16 names of localhost count as loopback only if they resolve there', async () => {
  for (const name of ['localhost', 'cloud.localhost']) {
    expect(await found(name, ['127.0.0.1'], false)).toBe('127.0.0.1');
    expect(await found(name, ['127.0.0.1'], true)).toEqual([{ address: '127.0.0.1', family: 4 }]);
    for (const addresses of [['192.168.1.5'], ['127.0.0.1', '192.168.1.5']])
      await expect(found(name, addresses, true)).rejects.toThrow(`${name} is 192.168.1.5, which is another computer`);
  }
});

const say = (link: Link): Promise<unknown> => link.client(EchoService).say({ value: 'hello' });

test('D16 a link sends credentials in plaintext to a name of localhost only if it resolves there, and else connects to nobody', async () => {
  await using server = await startEcho();
  const baseUrl = `http://cloud.localhost:${server.port}`;
  {
    using _resolver = standInResolver('127.0.0.1', elsewhere);
    await using link = connect({ baseUrl, credentials });
    await expect(say(link)).rejects.toMatchObject(refusal);
    expect(server.signIns.count).toBe(0);
    await using allowed = connect({ baseUrl, credentials, allowInsecureCredentials: true });
    expect(await say(allowed)).toMatchObject({ value: 'you said hello' });
  }
  using _resolver = standInResolver('127.0.0.1');
  await using link = connect({ baseUrl, credentials });
  expect(await say(link)).toMatchObject({ value: 'you said hello' });
  expect(server.signIns.count).toBe(2);
});

test('D16 a body of plain HTTP takes the token of a link in plaintext only there, too', async () => {
  const tokens: unknown[] = [];
  await using server = await startEcho(
    {},
    {
      fallback(request, response) {
        tokens.push(request.headers.authorization);
        request.resume();
        // So that the next body needs another connection.
        response.setHeader('connection', 'close');
        response.setHeader('content-type', 'application/json');
        (response as import('node:http').ServerResponse).end('{}');
      },
    },
  );
  await using link = connect({ baseUrl: `http://cloud.localhost:${server.port}`, credentials });
  const body = {
    path: '/uploads/x',
    bytes: 1,
    write: (send: (bytes: Uint8Array) => Promise<void>) => send(Buffer.from('x')),
  };
  const put = () => link.put(body, { signal: new AbortController().signal, quietMs: 60_000 });
  {
    using _resolver = standInResolver('127.0.0.1');
    await put();
  }
  using _resolver = standInResolver('127.0.0.1', elsewhere);
  await expect(put()).rejects.toMatchObject(refusal);
  expect(tokens).toEqual(['Bearer token-1']);
});
