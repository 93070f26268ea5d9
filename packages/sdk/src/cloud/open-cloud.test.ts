import { PlatformError, silentLog } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { createRpcServer, serve } from '@platform/rpc/server';
import { deserialize, serialize } from 'bson';
import { expect, test } from 'vitest';
import { openCloud } from './open-cloud.ts';

/** A server that answers a pipeline with its stages, and a statement with its text. */
async function startServer() {
  const tokens: string[] = [];
  const server = createRpcServer({
    services: [
      serve(AuthService, {
        authenticate({ entity, credentials }) {
          if (entity !== 'key-id' || credentials?.payload !== 'secret') {
            throw new PlatformError('unauthenticated', 'expected a known key, found another');
          }
          tokens.push(`token-${tokens.length}`);
          return { accessToken: tokens.at(-1) ?? '' };
        },
      }),
      serve(DataService, {
        tabularDataByMQL: ({ mqlBinary, organizationId }) => ({
          rawData: mqlBinary.map((stage) => serialize({ organizationId, stage: deserialize(stage) })),
        }),
        tabularDataBySQL: ({ sqlQuery }) => ({ rawData: [serialize({ sqlQuery })] }),
      }),
    ],
    authenticate: async ({ metadata }) => {
      if (!tokens.includes((metadata.get('authorization') ?? '').slice('Bearer '.length))) {
        throw new PlatformError('unauthenticated', 'expected a token');
      }
    },
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback(request, response) {
      const known = tokens.includes(String(request.headers.authorization).slice('Bearer '.length));
      const status = request.url === '/broken' ? 500 : known ? 200 : 401;
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (known && request.url === '/binary-data/a%2Fb') {
        response.statusCode = from > 0 ? 206 : 200;
        if (from > 0) response.setHeader('content-range', `bytes ${from}-9/10`);
        response.setHeader('content-length', 10 - from);
        return void response.end('0123456789'.slice(from));
      }
      response.statusCode = status;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status, url: request.url }));
    },
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { url: `http://127.0.0.1:${port}`, tokens, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('queries send the organization and either the stages as BSON or the statement, and return rows', async () => {
  await using server = await startServer();
  await using cloud = openCloud({ url: server.url, keyId: 'key-id', key: 'secret' });
  const since = new Date(1_700_000_000_123);
  expect(await cloud.queryMql('org', [{ $match: { time_received: { $gte: since } } }, { $limit: 2 }])).toEqual([
    { organizationId: 'org', stage: { $match: { time_received: { $gte: since } } } },
    { organizationId: 'org', stage: { $limit: 2 } },
  ]);
  expect(await cloud.querySql('org', 'SELECT 1')).toEqual([{ sqlQuery: 'SELECT 1' }]);
});

test('D5 a non-RPC path is requested with the token; a refused token is replaced once', async () => {
  await using server = await startServer();
  await using cloud = openCloud({ url: server.url, keyId: 'key-id', key: 'secret' });
  expect(await cloud.getJson('/test-inbox/requests?after=0')).toEqual({
    status: 200,
    url: '/test-inbox/requests?after=0',
  });
  server.tokens.length = 0;
  server.tokens.push('another');
  expect(await cloud.getJson('/x')).toEqual({ status: 200, url: '/x' });
  await expect(cloud.getJson('/broken')).rejects.toThrow('GET /broken: expected 200, found 500');
});

test('a file is read from its beginning, or from a given byte; a refused token is replaced once', async () => {
  await using server = await startServer();
  await using cloud = openCloud({ url: server.url, keyId: 'key-id', key: 'secret' });
  const read = async (fromByte?: number): Promise<object> => {
    const { chunks, ...rest } = await cloud.openFile('a/b', fromByte);
    let text = '';
    for await (const chunk of chunks) text += Buffer.from(chunk).toString();
    return { ...rest, text };
  };
  expect(await read()).toEqual({ fromByte: 0, totalBytes: 10, text: '0123456789' });
  server.tokens.length = 0;
  expect(await read(7)).toEqual({ fromByte: 7, totalBytes: 10, text: '789' });
  await using other = openCloud({ url: server.url, keyId: 'key-id', key: 'other' });
  await expect(other.openFile('a/b')).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a wrong key and an unreachable cloud cause errors with a code', async () => {
  await using server = await startServer();
  await using wrong = openCloud({ url: server.url, keyId: 'key-id', key: 'other' });
  await expect(wrong.querySql('org', 'SELECT 1')).rejects.toMatchObject({ code: 'unauthenticated' });
  await using absent = openCloud({ url: 'http://127.0.0.1:9', keyId: 'key-id', key: 'secret' });
  await expect(absent.querySql('org', 'SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
});
