import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packetFrame, requestFrame, responseFrame } from './frames.ts';

const packet = fc.record({ data: fc.uint8Array({ maxLength: 20_000 }), eom: fc.boolean() });

test('a packet is encoded as its schema says', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 40n), packet, fc.boolean(), (id, packetMessage, eos) => {
      const answer = responseFrame(id, { case: 'message', value: { packetMessage } });
      expect(packetFrame(id, packetMessage)).toEqual(answer);
      const request = requestFrame(id, { case: 'message', value: { hasMessage: true, packetMessage, eos } });
      expect(packetFrame(id, packetMessage, { eos })).toEqual(request);
    }),
  );
});
