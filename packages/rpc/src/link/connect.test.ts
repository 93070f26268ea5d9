import { PlatformError } from '@platform/base';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { credentials, startEcho } from '../../test/start-echo.ts';
import { connect } from './connect.ts';

async function* words(...values: string[]): AsyncGenerator<{ value: string }> {
  for (const value of values) yield { value };
}

async function texts(messages: AsyncIterable<{ value: string }>): Promise<string[]> {
  return (await Array.fromAsync(messages)).map(({ value }) => value);
}

describe('a link over gRPC', () => {
  test('carries all four shapes of call', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const echo = link.client(EchoService);

    expect((await echo.say({ value: 'hello' })).value).toBe('you said hello');
    expect((await echo.join(words('a', 'b', 'c'))).value).toBe('a b c');
    expect(await texts(echo.split({ value: 'x y z' }))).toEqual(['x', 'y', 'z']);
    expect(await texts(echo.chat(words('up', 'and')))).toEqual(['UP', 'AND']);
    expect(server.signIns.count).toBe(1);
    expect(link.state).toBe('connected');
  });
});
