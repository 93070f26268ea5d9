import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { connect } from '../connect.ts';

const types = [
  'DATA',
  'HEADERS',
  'PRIORITY',
  'RST_STREAM',
  'SETTINGS',
  'PUSH_PROMISE',
  'PING',
  'GOAWAY',
  'WINDOW_UPDATE',
];
const prefaceBytes = 24;

interface FrameServer extends AsyncDisposable {
  readonly url: string;
  /** Types of the frames that a client sent; END_STREAM is marked. */
  readonly frames: string[];
}

/** A server that speaks just enough HTTP/2 for a client to send a request. */
async function startFrameServer(): Promise<FrameServer> {
  const frames: string[] = [];
  const server = createServer((socket) => {
    let unread = Buffer.alloc(0);
    let skip = prefaceBytes;
    socket.on('error', () => {});
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.on('data', (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      unread = unread.subarray(skip);
      skip = 0;
      while (unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
        const [type = 0, flags = 0] = unread.subarray(3, 5);
        frames.push(`${types[type]}${type === 0 && (flags & 1) === 1 ? ' END_STREAM' : ''}`);
        unread = unread.subarray(9 + unread.readUIntBE(0, 3));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    frames,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

test('I5 a request abandoned midway is reset without a preceding END_STREAM', async () => {
  for (const why of ['its messages fail', 'its caller aborts'] as const) {
    await using server = await startFrameServer();
    await using link = connect({ baseUrl: server.url });
    const caller = new AbortController();
    const messages = async function* (): AsyncGenerator<{ value: string }> {
      yield { value: 'first' };
      await expect.poll(() => server.frames).toContain('DATA');
      if (why === 'its messages fail') throw new Error('unreadable');
      caller.abort();
      await new Promise(() => {});
    };
    await expect(link.client(EchoService).join(messages(), { signal: caller.signal })).rejects.toThrow();
    await expect.poll(() => server.frames).toContain('RST_STREAM');
    expect(server.frames, why).not.toContain('DATA END_STREAM');
  }
});
