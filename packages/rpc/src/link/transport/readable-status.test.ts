import { expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { startScriptedPeer } from '../../../test/scripted-peer.ts';
import { connect } from '../connect.ts';

test.each([
  ['100 % sure', '100 % sure'],
  ['half a character: %ed%a0', 'half a character: %ed%a0'],
  ['%C3%A9t%C3%A9', 'été'],
])('a text that a server sends as "%s" reaches the caller with its code', async (sent, text) => {
  let isTrailersOnly = false;
  const status = { 'grpc-status': '5', 'grpc-message': sent };
  const head = { ':status': 200, 'content-type': 'application/grpc+proto' };
  await using peer = await startScriptedPeer({
    answer(stream) {
      stream.resume();
      if (isTrailersOnly) return stream.respond({ ...head, ...status }, { endStream: true });
      stream.respond(head, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers(status));
      return stream.end();
    },
  });
  await using link = connect({ baseUrl: peer.url });
  const { say, split } = link.client(EchoService);
  for (const onlyTrailers of [false, true]) {
    isTrailersOnly = onlyTrailers;
    await expect(say({})).rejects.toMatchObject({ code: 'not_found', message: text });
    await expect(split({})[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'not_found', message: text });
  }
});
