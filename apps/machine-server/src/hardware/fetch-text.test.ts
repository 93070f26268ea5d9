import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { serveHttp } from '../testing/serve-http.ts';
import { fetchAnswer, fetchText } from './fetch-text.ts';

const headers = { accept: 'application/json', 'x-api-key': 'secret', authorization: 'Bearer secret' };
const { signal } = new AbortController();
const limits = { timeoutMs: 10_000, maxBytes: 1_000, clock: systemClock };

const answerWith = (text: string) => (_request: IncomingMessage, response: ServerResponse) => void response.end(text);
const redirectTo = (location: string, status: number) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { location }).end();

/** Keeps the headers of each request. */
function recording(
  seen: IncomingMessage['headers'][],
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(request.headers);
    answer(request, response);
  };
}

test('the configured headers of an http or mjpeg source go to no other origin after a redirect, and stay at their own', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const foreign: IncomingMessage['headers'][] = [];
    const own: IncomingMessage['headers'][] = [];
    const other = await serveHttp(recording(foreign, answerWith('there')));
    const source = await serveHttp(
      recording(own, (request, response) => {
        if (request.url === '/away') redirectTo(other, status)(request, response);
        else if (request.url === '/here') redirectTo('/text', status)(request, response);
        else answerWith('here')(request, response);
      }),
    );
    expect(await fetchText({ url: new URL('/away', source), headers, signal }, limits)).toBe('there');
    expect(await (await fetchAnswer({ url: new URL('/away', source), headers, signal })).text()).toBe('there');
    expect(JSON.stringify(foreign)).not.toContain('secret');
    expect(foreign[0]).toMatchObject({ accept: 'application/json' });
    expect(await fetchText({ url: new URL('/here', source), headers, signal }, limits)).toBe('here');
    expect(own.every((each) => each['x-api-key'] === 'secret')).toBe(true);
    expect(own).toHaveLength(4);
  }
});

test('a source that redirects for ever, or to something else than http, is an error that says so', async () => {
  const source = await serveHttp((request, response) =>
    redirectTo(request.url === '/file' ? 'file:///etc/passwd' : '/again', 302)(request, response),
  );
  await expect(fetchText({ url: new URL('/', source), headers, signal }, limits)).rejects.toThrow(
    'at most 10 redirects',
  );
  await expect(fetchText({ url: new URL('/file', source), headers, signal }, limits)).rejects.toThrow(
    'expected a redirect to an http or https address',
  );
});
