import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeGrpcMessage, fittingGrpcMessage } from './grpc-message.ts';

test('any text survives as a gRPC status message, and travels as printable ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = encodeGrpcMessage(text);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(encoded)).toBe(text);
    }),
  );
});

test('a status message is readable by clients that decode only mandatory escapes', () => {
  const text = 'expected a, b; found c: see /d?e=f & "g"';
  expect(encodeGrpcMessage(text)).toBe(text);
  expect(encodeGrpcMessage('100 % – two\nlines')).toBe('100 %25 %E2%80%93 two%0Alines');
});

test('a status message of any length is cut, between characters, to what clients accept', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 3_000 }),
      (text, times) => {
        const whole = text.repeat(times);
        const sent = fittingGrpcMessage(whole);
        expect(sent.length).toBeLessThan(6_100);
        const read = decodeURIComponent(sent);
        expect(read === whole || (read.endsWith('…') && whole.startsWith(read.slice(0, -1)))).toBe(true);
      },
    ),
  );
});
