import type { RequestListener } from 'node:http';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { buildReadable } from '../../../testing/build-model.ts';
import { serveHttp } from '../../../testing/serve-http.ts';
import { createHttpSensor } from './http.ts';

const model = createHttpSensor(systemClock);

test('a reading is the JSON at the address, requested with the headers', async () => {
  const url = await serveHttp((request, response) =>
    response.end(JSON.stringify({ key: request.headers['x-key'], list: [1, 2] })),
  );
  const whole = await buildReadable(model, { url, headers: { 'X-Key': 'secret' } });
  expect(await whole.readings({})).toEqual({ key: 'secret', list: [1, 2] });
  const picked = await buildReadable(model, { url, values: { second: '$.list[1]' } });
  expect(await picked.readings({})).toEqual({ second: 2 });
});

test.each<[string, RequestListener, object, string]>([
  [
    'a status other than 200',
    (_, response) => response.writeHead(403).end(),
    {},
    'expected status 200, found 403; check the headers',
  ],
  ['no JSON', (_, response) => response.end('<html>'), {}, 'expected JSON, found "<html>"'],
  [
    'a large answer',
    (_, response) => response.end('1'.repeat(100)),
    { max_bytes: 99 },
    'expected at most 99 bytes (max_bytes)',
  ],
  ['a slow answer', () => {}, { timeout_ms: 30 }, 'expected an answer within 30 ms (timeout_ms)'],
  [
    'a slow body',
    (_, response) => response.write('{'),
    { timeout_ms: 30 },
    'expected an answer within 30 ms (timeout_ms)',
  ],
  [
    'an answer that breaks off',
    (_, response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    {},
    'the answer was cut off',
  ],
])('%s is an error that names the address without its query', async (_what, listener, more, message) => {
  const url = await serveHttp(listener);
  const sensor = await buildReadable(model, { url: `${url}?token=secret`, ...more });
  await expect(sensor.readings({})).rejects.toThrow(`${url}: ${message}`);
});

test('an address without a server is an error; closing ends a request', async () => {
  const gone = await buildReadable(model, { url: 'http://127.0.0.1:9' });
  await expect(gone.readings({})).rejects.toThrow('http://127.0.0.1:9: no answer');
  const asked = Promise.withResolvers<void>();
  const sensor = await buildReadable(model, { url: await serveHttp(() => asked.resolve()) });
  const reading = expect(sensor.readings({})).rejects.toThrow('this sensor was closed');
  await asked.promise;
  await sensor.close();
  await reading;
});

test.each([
  [{}, 'attributes.url: expected an address, found none'],
  [{ url: 'ftp://host' }, 'attributes.url: expected an address such as http://… or https://…, found "ftp://host"'],
  [{ url: 'http://host', headers: { a: 1 } }, 'attributes.headers.a: expected a string, found 1'],
])('wrong attributes %j are reported', async (attributes, message) => {
  await expect(buildReadable(model, attributes)).rejects.toThrow(message);
});
